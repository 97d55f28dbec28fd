/** R-stream-6 with a socket of the system: a replay to a reader with a small receive buffer that stops reading. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { RecordDraft } from '../../store/port.ts'
import { health } from '../../store/testing/drafts.ts'
import { StoppedClock } from '../testing/testClock.ts'
import { openTestGate } from '../testing/testGate.ts'
import { until } from '../testing/until.ts'

const SMALL_WINDOW = join(import.meta.dirname, '../testing/smallWindow.py')
/** Node cannot set a receive buffer. */
const PYTHON =
  ['/usr/bin/python3', 'python3'].find(each => spawnSync(each, ['--version']).status === 0) ?? null
const SLOW_MS = 10_000
/** Pings would find that it does not answer, a minute later. */
const NEVER_MS = 2 ** 30
/** More than the system takes over for a small window, in writes far smaller than what may wait in a socket. */
const STEPS = 40
const EACH = 100

const padded = (): RecordDraft => ({
  ...health(1, 'HEALTHY'),
  payload: { chain_id: 1, status: 'HEALTHY', pad: 'x'.repeat(900) },
})

it.skipIf(PYTHON === null).each([2048, 65_536])(
  'one with a receive buffer of %i bytes is ended once nothing drains',
  async bytes => {
    const clock = new StoppedClock()
    const gate = await openTestGate({ clock, pingMs: NEVER_MS })
    for (let step = 0; step < STEPS; step++)
      await gate.commit(
        1,
        Array.from({ length: EACH }, () => padded()),
      )
    await until('all of it seen', () => gate.seen >= STEPS * EACH)
    const { authorization } = await gate.headers()
    const filter = { chain_ids: [1], pool_ids: [], token_ids: [] }
    const frame = JSON.stringify({ filter, resume_cursor: gate.seal() })
    const { port } = new URL(gate.url)
    const reader = spawn(PYTHON ?? '', [SMALL_WINDOW, port, authorization, frame, `${bytes}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    try {
      await once(reader.stdout, 'data')
      await until('subscribed', () => gate.gate.connections === 1)
      // Whatever the system still takes over meanwhile, nothing drains in the end.
      await until('the stalled reader gone', () => {
        clock.advance(SLOW_MS / 100)
        return gate.gate.connections === 0
      })
      expect(gate.gate.connections).toBe(0)
    } finally {
      reader.kill()
      await gate.close()
    }
  },
)
