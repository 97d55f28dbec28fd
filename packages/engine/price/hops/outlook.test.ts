import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cases } from '../../testing/cases.ts'
import { E18, E6, MINUTE, P1, T, USDC } from '../../testing/cast.ts'
import { scenario } from '../../testing/scenario.ts'
import { ms } from '../../units.ts'
import { scalingOf } from '../../rules/decimals.ts'
import { outlookOf } from './outlook.ts'
import { DEFAULT_POLICY } from '../../policy/policy.ts'

const Y = 2_000_000n * E6

it('R-temporal-5, R-timer-1: the time-dependent part of a pool is valid until the time it names, and equals a fresh evaluation then', () => {
  const moves = fc.array(
    fc.record({ bps: fc.integer({ min: -600, max: 600 }), afterMs: fc.integer({ min: 1, max: 2 * MINUTE }) }),
    { minLength: 1, maxLength: 8 },
  )
  // Back as well, as after a reorganisation, and long enough for a pool to count as quiet.
  const wait = fc.oneof(
    fc.integer({ min: -MINUTE, max: 2 * MINUTE }),
    fc.integer({ min: 0, max: 2 * 24 * 60 * MINUTE }),
  )
  const waits = fc.array(wait, { minLength: 2, maxLength: 8 })
  fc.assert(
    fc.property(moves, waits, (steps, waited) => {
      const s = scenario()
      s.decimals(T, 18)
      s.v2(P1, [T, 1_000_000n * E18], [USDC, Y])
      for (const { bps, afterMs } of steps) {
        s.reserves(P1, 1_000_000n * E18, (Y * BigInt(10_000 + bps)) / 10_000n)
        s.mine({ afterMs })
      }
      const pool = s.pool(P1)
      const { outlook } = pool.around
      let atMs: number = s.nowMs
      for (const passedMs of waited) {
        atMs += passedMs
        const fresh = outlookOf(pool.state, scalingOf(null, null), DEFAULT_POLICY, ms(atMs))
        const known = outlook.recall(ms(atMs), pool.state, DEFAULT_POLICY, null, null)
        if (known !== null) expect(known).toEqual(fresh.value)
        else outlook.keep(ms(atMs), pool.state, DEFAULT_POLICY, null, null, fresh)
      }
    }),
    { numRuns: cases(1_000) },
  )
})
