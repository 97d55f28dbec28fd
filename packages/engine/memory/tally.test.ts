import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as fraction from '../exact/fraction.ts'
import { cases } from '../testing/cases.ts'
import { count, ms } from '../units.ts'
import { NOWHERE, Tally } from './tally.ts'

/** How long a ratio held, and what it was: few values, so that many are the same, each written in several ways. */
const held = fc.record({
  forMs: fc.integer({ min: 1, max: 1000 }),
  num: fc.bigInt({ min: 1n, max: 6n }),
  times: fc.bigInt({ min: 1n, max: 3n }),
})

const share = fc.double({ min: 0, max: 1, noNaN: true })

describe('R-temporal-2: a tally', () => {
  it('that follows a window forwards, backwards and in leaps counts what one made anew counts', () => {
    fc.assert(
      fc.property(
        fc.array(held, { minLength: 2, maxLength: 40 }),
        fc.array(fc.tuple(share, share), { minLength: 1, maxLength: 12 }),
        fc.nat(),
        (list, windows, chosen) => {
          let beganMs = 1_700_000_000_000
          const fromMs = list.map(({ forMs }) => {
            beganMs += forMs
            return ms(beganMs)
          })
          const ratios = list.map(({ num, times }) => ({ num: num * times, den: 3n * times }))
          const changes = { fromMs, ratios, nears: ratios.map(fraction.near) }
          const at = chosen % list.length
          const own = ratios[at] as fraction.Fraction
          const place = { ratio: own, near: fraction.near(own) }
          const kept = new Tally(place)
          for (const [a, b] of windows) {
            const [start, end] = [Math.min(a, b), Math.max(a, b)].map(x => Math.floor(x * (list.length - 1)))
            kept.moveTo(changes, count(start as number), count(end as number))
            let [belowMs, sameMs, first] = [0, 0, NOWHERE as number]
            for (let index = start as number; index < (end as number); index++) {
              const forMs = (fromMs[index + 1] as number) - (fromMs[index] as number)
              const sign = fraction.compare(ratios[index] as fraction.Fraction, own)
              if (sign < 0) belowMs += forMs
              if (sign !== 0) continue
              sameMs += forMs
              if (first === NOWHERE) first = index
            }
            expect({ belowMs: kept.belowMs, sameMs: kept.sameMs, first: kept.first }).toEqual({
              belowMs,
              sameMs,
              first,
            })
          }
        },
      ),
      { numRuns: cases(2000) },
    )
  })
})
