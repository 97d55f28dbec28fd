/** Whatever the engine evaluates, a quote is read from its book as it would have been sent when it was written. */
import { count, createState, QuoteWriter, step } from '@assay/engine'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../engine/testing/cases.ts'
import { randomLife } from '../../engine/testing/randomLife.ts'
import { SETUP } from '../../engine/testing/randomMarket.ts'
import { packQuotes, quoteIn } from './quoteBook.ts'

test('R-record-5: every quote of a step is read from its book as it was published', () => {
  let routes = 0
  fc.assert(
    fc.property(fc.nat(2 ** 31), fc.nat(), (seed, sequence) => {
      const state = createState(SETUP)
      for (const input of randomLife(seed, { rounds: 25, maxDepth: 6 }).life) {
        step(state, input)
        const writer = new QuoteWriter(SETUP.chainId, state.policyView.version)
        const quotes = [...state.index.evaluations.values()].map(each => writer.of(each))
        const book = packQuotes(quotes)
        for (const quote of quotes) {
          const line = book?.lineOf.get(quote) as number
          const read = quoteIn(book?.packed as Uint8Array, { line, sequence, lastPriced: null })
          expect(read).toBe(quote.at(count(sequence)))
          routes += read.split('"weight_microusd"').length - 1
        }
      }
    }),
    { numRuns: cases(15) },
  )
  expect(routes).toBeGreaterThan(1_000)
})
