import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createState } from '../../createState.ts'
import { step } from '../../engine.ts'
import { cases } from '../../testing/cases.ts'
import { randomLife, SETUP } from '../../testing/randomMarket.ts'
import { quoteText } from './quote.ts'
import { QuoteTexts } from './quoteTexts.ts'

it('R-record-5: the text of a quote is that of its parts, whatever it shares with others of its step', () => {
  let priced = 0
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), seed => {
      const { life } = randomLife(seed, { rounds: 25, maxDepth: 6 })
      const state = createState(SETUP)
      for (const input of life) {
        step(state, input)
        const { version } = state.policyView
        const texts = new QuoteTexts(SETUP.chainId, version)
        for (const evaluation of state.index.evaluations.values()) {
          const whole = JSON.stringify(quoteText(SETUP.chainId, evaluation, version, 'RETRIEVED'))
          expect(texts.of(evaluation)).toBe(whole)
          if (evaluation.kind === 'PRICED' && evaluation.routes.some(({ via }) => via !== null)) priced++
        }
      }
    }),
    { numRuns: cases(60) },
  )
  expect(priced).toBeGreaterThan(1_000)
})
