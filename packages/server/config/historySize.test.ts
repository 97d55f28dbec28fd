import { expect, it } from 'vitest'
import { historyBytes, historySentence } from './historySize.ts'

it('the size is given for one price a minute over the configured days', () => {
  expect(historySentence(365)).toBe(
    'history of 365 days: about 371 MiB for each token that changes once a minute',
  )
})

it('the prices of an hour are extrapolated to all days; an empty log gives no estimate', () => {
  expect(historyBytes(10, { prices: 60, ms: 3_600_000 })).toBe(10 * 24 * 60 * 740)
  expect(historyBytes(10, { prices: 0, ms: 0 })).toBe(0)
})
