import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createState } from '../../createState.ts'
import { step } from '../../engine.ts'
import { cases } from '../../testing/cases.ts'
import { randomLife } from '../../testing/randomLife.ts'
import { SETUP } from '../../testing/randomMarket.ts'
import { TICK_FAMILIES } from '../../testing/tickFamilies.ts'
import { type Count, count } from '../../units.ts'
import { membersOf } from './hopJson.ts'
import { type QuoteJson, quoteText, QuoteWriter, withChange, Written } from './quoteJson.ts'

const sequences = fc.nat().map(count)

/** A quote, and those nested in it, as of the commit of its record. */
function sequenced(quote: object, stream_sequence: Count): object {
  const { as_of, routing_assets } = quote as { as_of: object; routing_assets?: readonly object[] }
  const assets = routing_assets?.map(asset => sequenced(asset, stream_sequence))
  return {
    ...quote,
    as_of: { stream_sequence, ...as_of },
    ...(assets === undefined ? {} : { routing_assets: assets }),
  }
}

it('R-record-5: written alone or with reuse, sequence and price change included, a quote is the same text, and such as JSON.stringify writes', () => {
  const change = fc.record({ h1_bps: fc.option(fc.integer()), h24_bps: fc.option(fc.integer()) })
  let viaAssets = 0
  let unpriced = 0
  fc.assert(
    fc.property(fc.nat(2 ** 31), sequences, change, (seed, sequence, change) => {
      const { life } = randomLife(seed, { families: TICK_FAMILIES, rounds: 25, maxDepth: 6 })
      const state = createState(SETUP)
      for (const input of life) {
        step(state, input)
        const { version } = state.policyView
        const quotes = new QuoteWriter(SETUP.chainId, version)
        for (const evaluation of state.index.evaluations.values()) {
          const data = quoteText(SETUP.chainId, evaluation, version, 'RETRIEVED')
          const sealed = sequenced(data, sequence)
          const isPriced = evaluation.kind === 'PRICED'
          const written = quotes.of(evaluation)
          const stored = written.at(sequence) as QuoteJson
          expect(written.text).toBe(JSON.stringify(data))
          expect(stored).toBe(JSON.stringify(sealed))
          expect(withChange(stored, null)).toBe(stored)
          if (isPriced) expect(withChange(stored, change)).toBe(JSON.stringify({ ...sealed, change }))
          else unpriced++
          if (isPriced && evaluation.routes.some(({ via }) => via !== null)) viaAssets++
        }
      }
    }),
    { numRuns: cases(60) },
  )
  expect(viaAssets).toBeGreaterThan(1_000)
  expect(unpriced).toBeGreaterThan(100)
})

const json = fc.jsonValue({ maxDepth: 4 })
/** Strings that look like the text around them. */
const tricky = fc.constantFrom('"as_of":{', '\\', '\\"', '{', '}]', '\\\\"as_of":{', '"')
const value = fc.oneof(json, tricky, fc.record({ as_of: fc.record({ block_number: fc.nat() }) }))
const fields = (prefix = '') =>
  fc.dictionary(
    fc.stringMatching(/^[a-z_:{}"\\]{0,6}$/).map(name => prefix + name),
    value,
  )

it('the sequence goes into the quote’s own as_of, whatever surrounds it', () => {
  const own = { as_of: { block_number: 7 } }
  fc.assert(
    fc.property(fields(), fields(), sequences, (before, after, sequence) => {
      const state = { ...before, ...own, ...after, ...own }
      expect(new Written(state).text).toBe(JSON.stringify(state))
      const as_of = { stream_sequence: sequence, block_number: 7 }
      expect(new Written(state).at(sequence)).toBe(JSON.stringify({ ...state, as_of }))
    }),
    { numRuns: 1_000 },
  )
})

it('members are inserted before and after those of the data, or none at all', () => {
  const own = { as_of: { block_number: 7 } }
  fc.assert(
    fc.property(fields('head'), fields('body'), sequences, (head, body, sequence) => {
      const as_of = { stream_sequence: sequence, block_number: 7 }
      const text = new Written(own, [membersOf(body)]).at(sequence, membersOf(head))
      expect(text).toBe(JSON.stringify({ ...head, as_of, ...body }))
    }),
  )
})
