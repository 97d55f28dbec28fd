/**
 * The engine speaks the wire: every record and quote of random lives of a market, with reorganisations, gaps
 * and retractions, conforms to the schemas and uses no code the wire does not know.
 */
import { expect, expectTypeOf, test } from 'vitest'
import type * as engine from '../../engine/record.ts'
import { cases } from '../../engine/testing/cases.ts'
import { conformance } from '../testing/conformance.ts'
import { tell, type Output } from '../testing/engineRecords.ts'
import type { SwapEvent } from './poolEvent.ts'
import type { CompactPriced, CompactUnpriced } from './price.ts'
import { EvaluatedQuote, PoolQuote } from './quote.ts'
import type { JsonSchema } from './schema.ts'
import { Envelope } from './stream.ts'

/**
 * Fields that the wire (R-wire-7) has and the engine does not emit. The check continues as if it did, and fails when the
 * engine has closed a gap: then its line, and what fills it in below, go.
 */
const GAPS: string[] = []

const lives: Output[] = Array.from({ length: cases(8) }, (_, seed) => tell(seed, 60))
const everything = (kind: keyof Output) => lives.flatMap(life => life[kind])

/** Fills the gaps, and notes each one met. */
function filled<Node>(node: Node, met: Set<string>): Node {
  if (Array.isArray(node)) return node.map(each => filled(each, met)) as Node
  if (typeof node !== 'object' || node === null) return node
  const fields = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, filled(value as unknown, met)]),
  )
  const { components } = fields as { components?: { depth?: { l_eff?: unknown } } }
  if (components?.depth !== undefined && !('l_eff' in components.depth)) {
    met.add('components.depth.l_eff')
    components.depth.l_eff = null
  }
  const isRoute = 'route_id' in fields && 'accepted' in fields
  if (isRoute && !('components' in fields)) {
    met.add('routes[].components')
    fields['components'] = {}
  }
  if (isRoute && !('caps' in fields)) {
    met.add('routes[].caps')
    fields['caps'] = []
  }
  return fields as Node
}

/** The first few that do not conform, with their faults. */
function misfits(schema: JsonSchema, instances: readonly object[]): string[] {
  const check = conformance(schema)
  const found: string[] = []
  for (const instance of instances) {
    const faults = check(filled(instance, new Set()))
    if (faults.length > 0) found.push(`${faults.join('; ')} in ${JSON.stringify(instance)}`)
    if (found.length === 3) break
  }
  return found
}

test('R-wire-7: every record of the engine is an envelope of the wire', () => {
  expect(misfits(Envelope, everything('envelopes'))).toEqual([])
})

test('every quote of the engine is a quote of the wire', () => {
  expect(misfits(EvaluatedQuote, everything('quotes'))).toEqual([])
})

test('every pool quote of the engine is one of the wire', () => {
  expect(misfits(PoolQuote, everything('poolQuotes'))).toEqual([])
})

test('R-wire-7: the differences between the engine and the wire are exactly the listed ones', () => {
  const met = new Set<string>()
  filled(lives, met)
  expect([...met].sort()).toEqual(GAPS)
})

test('the test lives contain everything: upserts and retractions of tokens and pools, swaps, health', () => {
  type Seen = { type: string; payload: { scope?: string; state?: string; current?: unknown } }
  const seen = new Set(
    (everything('envelopes') as Seen[]).map(({ type, payload }) => `${type} ${payload.scope ?? ''}`.trim()),
  )
  expect([...seen].sort()).toEqual([
    'FEED_HEALTH',
    'PRICE_RETRACT pool',
    'PRICE_RETRACT token',
    'PRICE_UPSERT pool',
    'PRICE_UPSERT token',
    'SWAP_OBSERVED',
  ])
  const states = new Set((everything('quotes') as { state: string }[]).map(({ state }) => state))
  expect([...states].sort()).toEqual(['PRICED', 'UNPRICED'])
})

test('the types agree, except for the sequence a store adds and the components the engine leaves open', () => {
  type Open<T> = Omit<T, 'as_of' | 'confidence'>
  expectTypeOf<Open<engine.CompactPriced>>().toExtend<Open<CompactPriced>>()
  expectTypeOf<Open<engine.CompactUnpriced>>().toExtend<Open<CompactUnpriced>>()
  expectTypeOf<engine.SwapObserved>().toExtend<SwapEvent>()
})
