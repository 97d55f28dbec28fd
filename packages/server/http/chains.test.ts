import { expect, test } from 'vitest'
import type { HttpContext } from './context.ts'
import { healthOf } from './chains.ts'

const MINUTE_MS = 60_000

test.each([
  ['just now', 0, ['HEAD_OLD']],
  ['a minute ago', -MINUTE_MS, ['HEAD_OLD', 'WORKER_SILENT']],
  ['before the clock was set back', 60 * MINUTE_MS, ['HEAD_OLD', 'WORKER_SILENT']],
])('contract §7: health that a worker told %s counts while it speaks', async (_, atMs, reasons) => {
  const nowMs = 1_800_000_000_000
  const told = JSON.stringify({ status: 'DEGRADED', reasons: ['HEAD_OLD'], updated_at_ms: nowMs + atMs })
  const context = {
    clock: { nowMs: () => nowMs, monotonicMs: () => 0 },
    store: { readHealth: async () => told } as unknown as HttpContext['store'],
  }
  const status = reasons.length > 1 ? 'UNAVAILABLE' : 'DEGRADED'
  expect(await healthOf(context, 1)).toMatchObject({ status, reasons })
})
