import { expect, test } from 'vitest'
import type { SnapshotStore } from '../../store/port.ts'
import type { Hub } from '../../stream/hub.ts'
import { Feeds } from './feeds.ts'

test('S19: a damaged health record silences its chain, and no other', async () => {
  const nowMs = 1_000_000
  const sound = { status: 'HEALTHY', reasons: [], updated_at_ms: nowMs, endpoints: [] }
  const store: Pick<SnapshotStore, 'readHealth'> = {
    readHealth: async chainId => (chainId === 1 ? '{"status":"HEAL\ufffd' : JSON.stringify(sound)),
  }
  const hub = { head: 0, listen: () => () => undefined } as unknown as Hub
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const feeds = await Feeds.open(store, hub, clock, [1, 56])
  expect(feeds.health(1, nowMs)).toMatchObject({ status: 'UNAVAILABLE', reasons: ['WORKER_SILENT'] })
  expect(feeds.health(56, nowMs)).toMatchObject({ status: 'HEALTHY' })
})
