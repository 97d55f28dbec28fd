import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../testing/cases.ts'
import { count } from '../units.ts'
import { Winners } from './winners.ts'

/** By a scan: the highest but one, in ties the first. */
function scanned(values: readonly bigint[], but: number | null): number | null {
  let best: number | null = null
  for (const [at, value] of values.entries())
    if (at !== but && (best === null || value > (values[best] as bigint))) best = at
  return best
}

test('R-exit-3: the highest value and the next equal those of a full scan, after any changes', () => {
  const value = fc.bigInt({ min: -1n, max: 5n })
  fc.assert(
    fc.property(
      fc.array(value, { maxLength: 70 }),
      fc.array(fc.tuple(fc.nat(), value), { maxLength: 40 }),
      (initial, changes) => {
        const values = [...initial]
        const winners = new Winners(values)
        const agree = () => {
          const best = scanned(values, null)
          expect([winners.highest, winners.next]).toEqual([
            best,
            best === null ? null : scanned(values, best),
          ])
        }
        agree()
        for (const [place, changed] of values.length === 0 ? [] : changes) {
          const at = place % values.length
          values[at] = changed
          winners.set(count(at), changed)
          expect(winners.value(count(at))).toBe(changed)
          agree()
        }
      },
    ),
    { numRuns: cases(200) },
  )
})
