import { expect, expectTypeOf, test } from 'vitest'
import { conformance, tolerance } from '../testing/conformance.ts'
import * as sample from '../testing/sample.ts'
import * as wire from './index.ts'
import * as s from './schema.ts'

/** Everything the wire exports that is a schema. */
const schemas = Object.entries<unknown>(wire).filter(
  (each): each is [string, s.JsonSchema] => /^[A-Z][a-z]/.test(each[0]) && typeof each[1] === 'object',
)
/** A schema and every schema inside it. */
function nodes(node: unknown): s.JsonSchema[] {
  if (typeof node !== 'object' || node === null) return []
  const inner = Object.values(node).flatMap(nodes)
  return Array.isArray(node) ? inner : [node as s.JsonSchema, ...inner]
}

const requests = schemas.filter(([name]) => /(Query|Path|Request|Frame|Filter)$/.test(name))

test('the type of a schema is the type of its instances', () => {
  const Thing = s.object({
    id: s.pattern<`0x${string}`>('^0x'),
    kind: s.literal('thing'),
    role: s.enumeration(['A', 'B']),
    code: s.known(['X', 'Y']),
    size: s.optional(s.integer({ minimum: 0 })),
    parts: s.array(s.union(s.string(), s.boolean())),
    note: s.nullable(s.string()),
    scores: s.map(s.number()),
  })
  expectTypeOf<s.Static<typeof Thing>>().toEqualTypeOf<{
    readonly id: `0x${string}`
    readonly kind: 'thing'
    readonly role: 'A' | 'B'
    readonly code: s.Known<'X' | 'Y'>
    readonly size?: number
    readonly parts: readonly (string | boolean)[]
    readonly note: string | null
    readonly scores: Readonly<Record<string, number>>
  }>()
  const check = tolerance(Thing)
  const thing = { id: '0x1', kind: 'thing', role: 'A', code: 'Z', parts: ['a', true], note: null, scores: {} }
  expect(check(thing)).toEqual([])
  expect(check({ ...thing, size: 3, later: 'a field of tomorrow' })).toEqual([])
  for (const wrong of [
    { id: '1' },
    { kind: 'other' },
    { role: 'C' },
    { size: -1 },
    { size: 1.5 },
    { parts: [1] },
    { note: undefined },
    { scores: { a: 'b' } },
  ])
    expect(check(JSON.parse(JSON.stringify({ ...thing, ...wrong }))), JSON.stringify(wrong)).not.toEqual([])
})

test('a union narrows by its literal', () => {
  const state = sample.priced(1, 1) as wire.CompactState
  if (state.state === 'PRICED') expectTypeOf(state.price_usd.display).toEqualTypeOf<string>()
  else expectTypeOf(state).toEqualTypeOf<wire.CompactUnpriced>()
})

test('a schema that refers to itself has a type that does', () => {
  expectTypeOf<wire.PricedQuote['routing_assets'][number]>().toEqualTypeOf<wire.AssetQuote>()
  type Priced = Extract<wire.AssetQuote, { state: 'PRICED' }>
  expectTypeOf<Priced['routing_assets'][number]>().toEqualTypeOf<wire.AssetQuote>()
})

test('every schema is plain JSON', () => {
  expect(schemas.length).toBeGreaterThan(80)
  for (const [name, schema] of schemas) expect(JSON.parse(JSON.stringify(schema)), name).toEqual(schema)
})

test('every schema compiles in the strict mode of ajv', () => {
  // A schema inside another is compiled with it.
  const inner = new Set(schemas.flatMap(([, schema]) => Object.values(schema).flatMap(nodes)))
  const outermost = schemas.filter(([, schema]) => !inner.has(schema))
  expect(outermost.length).toBeGreaterThan(30)
  for (const [name, schema] of outermost) expect(() => tolerance(schema), name).not.toThrow()
})

test('R-wire-6: records may grow and requests may not', () => {
  const names = new Set(requests.map(([name]) => name))
  expect(names.size).toBeGreaterThan(12)
  for (const [name, schema] of schemas)
    for (const { properties, additionalProperties } of nodes(schema))
      if (properties !== undefined) expect(additionalProperties, name).toBe(!names.has(name))
})

test('a record without one of its fields does not conform', () => {
  const check = conformance(wire.Envelope)
  const optional = new Set(['reserves', 'depth_reason'])
  for (const envelope of sample.eachEnvelope())
    for (const field of Object.keys(envelope.payload).filter(name => !optional.has(name))) {
      const { [field as never]: _, ...payload } = envelope.payload
      expect(check({ ...envelope, payload }), `${envelope.type} without ${field}`).not.toEqual([])
    }
})

test('R-wire-1, R-wire-2: display is plain decimal, and amounts have one spelling', () => {
  const exact = conformance(wire.ExactValue)
  const shown = (display: string) => exact({ numerator: '1', denominator: '2', display }).length === 0
  for (const good of ['1', '0.5', '10', '1200000', '0.000000000000000001', '3.14'])
    expect(shown(good), good).toBe(true)
  for (const bad of ['0', '1e-7', '0.50', '.5', '01', '1.', '-1', '0.0', 'NaN'])
    expect(shown(bad), bad).toBe(false)
  const signed = conformance(wire.Signed)
  for (const good of ['0', '-5', '10']) expect(signed(good), good).toEqual([])
  for (const bad of ['-0', '05', '+1', '']) expect(signed(bad), bad).not.toEqual([])
})
