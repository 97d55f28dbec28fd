import { expect, test } from 'vitest'
import { lastPricedText } from './lastPriced.ts'

test('R-unpriced-4: a token without a record has no last price, nor has a state stored before the field existed', () => {
  expect(lastPricedText(null)).toBe('null')
  expect(lastPricedText('{"state":"UNPRICED","reason":"NO_ROUTE"}')).toBe('null')
  expect(lastPricedText('{"state":"UNPRICED","last_priced":{"score":4}}')).toBe('{"score":4}')
})
