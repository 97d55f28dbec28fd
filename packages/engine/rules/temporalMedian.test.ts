import { expect, it } from 'vitest'
import { ms } from '../units.ts'
import { temporalScore } from './temporalMedian.ts'

const against = (num: bigint, den: bigint) =>
  temporalScore({ num, den }, { median: { num: 7n, den: 7n }, approx: 1 as never, coveredMs: ms(300_000) })

it('R-temporal-4: up to 1% gives 10, 2% gives 8, 5% gives 5, above gives 2', () => {
  const prices = [10_000n, 10_100n, 10_101n, 10_200n, 10_201n, 10_500n, 10_501n, 90_000n]
  const expected = [10, 10, 8, 8, 5, 5, 2, 2]
  expect(prices.map(price => against(price, 10_000n))).toEqual(expected)
  expect(prices.map(price => against(10_000n, price))).toEqual(expected)
})

it('R-temporal-3: insufficient history gives 5', () => {
  const reference = { reason: 'INSUFFICIENT_HISTORY', coveredMs: ms(1) } as const
  expect(temporalScore({ num: 1n, den: 1n }, reference)).toBe(5)
})
