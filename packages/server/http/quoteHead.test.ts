import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { headOf, type QuoteHead } from './quoteHead.ts'

/** Real answers, priced and not, with and without routing assets of their own. */
const { quoteToken } = JSON.parse(
  readFileSync(new URL('openapi/examples.json', import.meta.url), 'utf8'),
) as { quoteToken: Record<string, Record<string, unknown>> }
const PRICED = quoteToken['200'] ?? {}

/** What a parser says of the same text. */
function parsed(text: string): QuoteHead {
  const { state, reason, evaluated_at_ms, expires_at_ms, price_usd } = JSON.parse(text) as QuoteHead
  return {
    state,
    reason: reason ?? null,
    evaluated_at_ms,
    expires_at_ms: expires_at_ms ?? null,
    price_usd:
      price_usd == null ? null : { numerator: price_usd.numerator, denominator: price_usd.denominator },
  }
}

it('reads of a quote what a parser reads', () => {
  const digits = fc.bigInt(1n, 2n ** 300n).map(String)
  const time = fc.integer({ min: 0, max: 2 ** 45 })
  fc.assert(
    fc.property(digits, digits, time, fc.option(time), fc.boolean(), (a, b, at, end, isPriced) => {
      const { price_usd: _, routes: __, routing_assets: ___, ...rest } = PRICED
      const quote = isPriced
        ? {
            ...PRICED,
            price_usd: { numerator: a, denominator: b, display: '1' },
            evaluated_at_ms: at,
            expires_at_ms: end,
            routing_assets: [PRICED],
          }
        : {
            ...rest,
            state: 'UNPRICED',
            reason: 'NO_ROUTE',
            evaluated_at_ms: at,
            expires_at_ms: null,
            candidates: [],
          }
      const text = JSON.stringify(quote)
      expect(headOf(text)).toEqual(parsed(text))
    }),
  )
})

it('takes nothing from what comes after the head', () => {
  const { price_usd: _, expires_at_ms: _e, routing_assets: _a, routes, ...head } = PRICED
  const text = JSON.stringify({ ...head, routes, routing_assets: [PRICED] })
  expect(headOf(text)).toEqual(parsed(text))
  expect(headOf(text).price_usd).toBeNull()
})

it('a text that is no quote is refused', () => {
  expect(() => headOf('{"state":1}')).toThrow('a stored quote begins {"state":1}: it has no state or no time')
})
