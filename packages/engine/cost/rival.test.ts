import { expect, test } from 'vitest'
import { cases } from '../testing/cases.ts'
import { contest } from '../testing/rival.ts'

/** Of ten thousand markets `npm run test:cost` shows the worst. */
test('R-cost-6: another search finds no plan cheaper than 0.8 of the stated one', () => {
  const outcomes = Array.from({ length: cases(12) }, (_, at) => contest(40_000 + at)).filter(
    each => each !== null,
  )
  expect(outcomes.length).toBeGreaterThan(3)
  for (const { seed, share } of outcomes) expect([seed, share]).toEqual([seed, expect.toSatisfy(isDear)])
})

test.each([
  [1500, 'a pool speaks by three routes, of which one is enough'],
  [4451, 'all have to go beyond the wanted price, so that a pool left alone is an outlier'],
  [7350, 'two pools of the token and the thinner pool of its asset carry the price together'],
])('R-cost-6: nor in market %i, where %s', seed => {
  expect(contest(seed)?.share).toSatisfy(isDear)
})

/** Null: the rival found none. */
const isDear = (share: unknown): boolean => share === null || (typeof share === 'number' && share >= 0.8)
