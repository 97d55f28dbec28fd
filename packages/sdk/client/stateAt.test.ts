import { expect, test } from 'vitest'
import { conformance } from '../testing/conformance.ts'
import * as sample from '../testing/sample.ts'
import { CompactState } from '../wire/price.ts'
import { stateAt } from './stateAt.ts'

const price = sample.priced(150, 7, sample.NOW_MS + 1000)

test('a price is shown until the millisecond it expires', () => {
  expect(stateAt(price, sample.NOW_MS + 999)).toBe(price)
  const expired = stateAt(price, sample.NOW_MS + 1000)
  expect(expired).toMatchObject({ state: 'UNPRICED', reason: 'ROUTE_EXPIRED', as_of: price.as_of })
  expect(conformance(CompactState)(expired)).toEqual([])
})

test('a state without expiry is unchanged', () => {
  for (const state of [sample.priced(150, 7, null), sample.unpriced(7)])
    expect(stateAt(state, Number.MAX_SAFE_INTEGER)).toBe(state)
})
