import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cases } from '../../testing/cases.ts'
import { E18, E6, MINUTE, P1, T, USDC } from '../../testing/cast.ts'
import { scenario } from '../../testing/scenario.ts'
import { ms } from '../../units.ts'
import { Figures } from './figures.ts'
import { DEFAULT_POLICY } from '../../policy/policy.ts'

const Y = 2_000_000n * E6

it('R-temporal-5, R-timer-1: what is remembered of the temporal score and of the next change is what is found when looked for anew', () => {
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
      const { from, to } = pool.around
      const figures = () => new Figures(pool, DEFAULT_POLICY, from.decimals, to.decimals)
      const kept = figures()
      let atMs: number = s.nowMs
      for (const passedMs of waited) {
        atMs += passedMs
        expect(kept.temporalScoreAt(ms(atMs))).toBe(figures().temporalScoreAt(ms(atMs)))
        expect(kept.nextChange(ms(atMs))).toBe(figures().nextChange(ms(atMs)))
        expect(kept.pastAt(ms(atMs))).toEqual(figures().pastAt(ms(atMs)))
      }
    }),
    { numRuns: cases(1_000) },
  )
})
