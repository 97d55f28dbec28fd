/**
 * Real records and quotes: a random life of a market folded by the engine, with what a store and a server
 * add before anything reaches the wire, and nothing else.
 */
import { createState } from '../../engine/createState.ts'
import { step } from '../../engine/engine.ts'
import type { Input } from '../../engine/input.ts'
import { computePoolQuote } from '../../engine/onDemand.ts'
import { evaluate, valueAssets } from '../../engine/price/evaluate.ts'
import { momentOf } from '../../engine/price/momentOf.ts'
import type { QuoteText } from '../../engine/price/publish/quote.ts'
import { quoteText } from '../../engine/price/publish/quoteJson.ts'
import type { EngineRecord } from '../../engine/record.ts'
import type { State } from '../../engine/state.ts'
import { randomLife } from '../../engine/testing/randomLife.ts'
import { SETUP } from '../../engine/testing/randomMarket.ts'
import type { Ms } from '../../engine/units.ts'
import { feedHealth } from './sample.ts'

export type Output = {
  readonly envelopes: object[]
  readonly quotes: object[]
  readonly poolQuotes: object[]
}

/** Everything said over one life: each record once, and every quote after every twentieth input. */
export function tell(seed: number, rounds: number): Output {
  const state = createState(SETUP)
  const output: Output = { envelopes: [], quotes: [], poolQuotes: [] }
  const sequences = new Map<string, number>()
  randomLife(seed, { rounds, maxDepth: 6 }).life.forEach((input, at) => {
    for (const record of step(state, withHealth(input)).records)
      output.envelopes.push(sealed(record, output.envelopes.length, sequences))
    if (at % 20 === 19) quoteAll(state, input.atMs, output)
  })
  return output
}

/** The worker writes the health record; the engine carries it through. */
function withHealth(input: Input): Input {
  if (input.kind !== 'health') return input
  const { payload } = feedHealth(0)
  return { ...input, health: { status: input.health.status, record: { ...payload, ...input.health } } }
}

/** As a store seals it: the sequence in the envelope, in a token's `as_of`, and of what is withdrawn. */
function sealed(record: EngineRecord, sequence: number, sequences: Map<string, number>): object {
  const { type, routing } = record
  const envelope = { stream_sequence: sequence, routing, type }
  if (type === 'SWAP_OBSERVED' || type === 'FEED_HEALTH') return { ...envelope, payload: record.payload }
  sequences.set(record.payload.record_id, sequence)
  if (type === 'PRICE_UPSERT') return { ...envelope, payload: sequenced(record.payload, sequence) }
  const { retracted, current } = record.payload
  return {
    ...envelope,
    payload: {
      ...record.payload,
      retracted: { ...retracted, stream_sequence: sequences.get(retracted.record_id) ?? null },
      current: current === null ? null : sequenced(current, sequence),
    },
  }
}

/** Pools have no `as_of` in their state. */
const sequenced = (state: object, sequence: number): object =>
  'as_of' in state ? { ...state, as_of: { ...(state.as_of as object), stream_sequence: sequence } } : state

function quoteAll(state: State, atMs: Ms, output: Output): void {
  const moment = momentOf(state, atMs)
  if (moment.state.chain.tip === null) return
  valueAssets(moment)
  for (const token of state.tokens.keys()) {
    const quote = quoteText(SETUP.chainId, evaluate(moment, token), state.policyView.version, 'COMPUTED')
    output.quotes.push(served(quote))
  }
  for (const pool of state.pools.values()) {
    const answer = computePoolQuote(state, pool, atMs)
    if (answer.outcome === 'quote') output.poolQuotes.push(sequenced(answer.quote, 0))
  }
}

/** A server knows the sequence and our own price of an hour and a day ago. */
function served(quote: QuoteText): object {
  const whole = sequenced(quote, 0)
  return quote.state === 'PRICED' ? { ...whole, change: null } : whole
}
