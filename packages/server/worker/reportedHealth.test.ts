import { count, ms } from '@assay/engine'
import { describe, expect, it } from 'vitest'
import type { HealthRecord } from '../feed/feed.ts'
import { healthAtHead, reportedHealth, type WorkerView } from './reportedHealth.ts'

const MINUTE_MS = 60_000
const NOW = ms(1_700_000_000_000)
const block = { number: 900, hash: '0x01', timeMs: NOW } as const
const record: HealthRecord = { ...healthAtHead(1, block, null, null, NOW), status: 'HEALTHY', reasons: [] }
const view: WorkerView = { isPaused: false, isRebasing: false, gap: undefined, nowMs: NOW }
const gap = { fromBlock: count(10), toBlock: count(900), atMs: NOW }

describe('the health a worker reports', () => {
  it('is that of the feed', () => {
    expect(reportedHealth(record, view)).toEqual({ status: 'HEALTHY', record })
  })

  it('is GAP, REBASED while pools are loaded after a start at the head, and no better than the feed', () => {
    expect(reportedHealth(record, { ...view, isRebasing: true })).toMatchObject({
      status: 'GAP',
      record: { status: 'GAP', reasons: ['REBASED'] },
    })
    const gone = { ...record, status: 'UNAVAILABLE', reasons: ['NO_VERIFIED_HEAD'] } as const
    expect(reportedHealth(gone, { ...view, isRebasing: true })).toMatchObject({
      status: 'UNAVAILABLE',
      record: { reasons: ['REBASED', 'NO_VERIFIED_HEAD'] },
    })
  })

  it('R-health-4: is UNAVAILABLE, PAUSED whatever the feed reports', () => {
    expect(reportedHealth(record, { ...view, isPaused: true })).toMatchObject({
      status: 'UNAVAILABLE',
      record: { status: 'UNAVAILABLE', reasons: ['PAUSED'] },
    })
  })

  it('names a gap for 35 minutes', () => {
    const at = (minutes: number) =>
      reportedHealth(record, { ...view, gap, nowMs: ms(NOW + minutes * MINUTE_MS) }).record['gap']
    expect(at(34.9)).toEqual({ from_block: 10, to_block: 900, at_ms: NOW })
    expect(at(35)).toBeUndefined()
  })
})

it('R-health-4: at a start at the head health names the new block, with what is known of the endpoints', () => {
  expect(
    healthAtHead(1, block, { number: 7, hash: '0x02' }, { ...record, endpoints: [] }, NOW),
  ).toMatchObject({
    head: { block_number: 900 },
    processed: { block_number: 900 },
    finalized: { block_number: 7 },
    lag_blocks: 0,
  })
})
