import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { depthScore } from './depthScore.ts'

const USD = 1_000_000n

it('R-depth-5: 0 gives 0, then 1, and one more at 500, 1k, 2.5k, 5k, 10k, 25k, 50k, 100k and 250k', () => {
  expect(depthScore(0n)).toBe(0)
  expect(depthScore(1n)).toBe(1)
  const bounds = [500n, 1_000n, 2_500n, 5_000n, 10_000n, 25_000n, 50_000n, 100_000n, 250_000n]
  expect(bounds.map(usd => depthScore(usd * USD))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
})

it('R-depth-5: a value on a band boundary belongs to the higher band', () => {
  expect(depthScore(500n * USD - 1n)).toBe(1)
  expect(depthScore(500n * USD)).toBe(2)
  expect(depthScore(250_000n * USD - 1n)).toBe(9)
})

it('R-depth-5: never falls as depth grows', () => {
  const amount = fc.oneof(fc.bigInt(0n, 10n ** 9n), fc.bigInt(0n, 10n ** 13n))
  fc.assert(
    fc.property(amount, amount, (depth, more) => {
      expect(depthScore(depth + more)).toBeGreaterThanOrEqual(depthScore(depth))
    }),
    { numRuns: cases(1000) },
  )
})
