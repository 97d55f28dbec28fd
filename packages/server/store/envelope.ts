/**
 * The text of a stream record, written once when its sequence is known and never parsed again by the store.
 *
 * The keys of an envelope stand in one fixed order, so its routing is read back by position: `readEnvelope`
 * takes only what `seal` has written.
 */
import type { LogRecord, RecordDraft, Sequence } from './port.ts'
import { StoreError } from './storeError.ts'

/** Whose current state a record replaces. */
export type Subject =
  | { readonly kind: 'token' | 'pool'; readonly address: string; readonly recordId: string }
  | { readonly kind: 'health' }
  | { readonly kind: 'none' }

/** `current` is the state the subject is in from now on; null when it has none. */
export type Sealed = { readonly envelope: string; readonly current: string | null }

type Payload = RecordDraft['payload']

export function subjectOf({ type, payload }: RecordDraft): Subject {
  if (type === 'SWAP_OBSERVED') return { kind: 'none' }
  if (type === 'FEED_HEALTH') return { kind: 'health' }
  const kind = payload['scope']
  const id = kind === 'token' ? payload['token_id'] : kind === 'pool' ? payload['pool_id'] : undefined
  const recordId = payload['record_id']
  if ((kind !== 'token' && kind !== 'pool') || typeof id !== 'string' || typeof recordId !== 'string')
    throw new StoreError('STORE_MISUSE', `a ${type} names no token or pool, or has no record_id`)
  return { kind, address: addressOf(id), recordId }
}

/** The record a PRICE_RETRACT withdraws. */
export function retractedIdOf({ type, payload }: RecordDraft): string | null {
  if (type !== 'PRICE_RETRACT') return null
  const retracted = payload['retracted'] as { readonly record_id: string }
  return retracted.record_id
}

/** The envelope of a record at `sequence`; `withdrawn` is the sequence of the record a retraction names. */
export function seal(record: RecordDraft, sequence: Sequence, withdrawn: Sequence | null): Sealed {
  const { type, routing } = record
  const { payload, current } = payloadText(record, sequence, withdrawn)
  const route = JSON.stringify({
    chain_id: routing.chain_id,
    pool_ids: routing.pool_ids,
    token_ids: routing.token_ids,
  })
  return {
    envelope: `{"stream_sequence":${sequence},"routing":${route},"type":"${type}","payload":${payload}}`,
    current,
  }
}

/** What of a log record stands in its envelope. */
export function readEnvelope(envelope: string): Pick<LogRecord, 'type' | 'poolIds' | 'tokenIds'> {
  const pools = envelope.indexOf('[')
  const poolsEnd = envelope.indexOf(']', pools)
  const tokens = envelope.indexOf('[', poolsEnd)
  const tokensEnd = envelope.indexOf(']', tokens)
  const type = tokensEnd + ']},"type":"'.length
  return {
    type: envelope.slice(type, envelope.indexOf('"', type)) as LogRecord['type'],
    poolIds: idsIn(envelope, pools, poolsEnd),
    tokenIds: idsIn(envelope, tokens, tokensEnd),
  }
}

/**
 * The compact state in a token's envelope: all of an upsert but its head; the `current` of a retraction, which also
 * says what it takes back.
 */
export function envelopeState(envelope: string): string {
  const { type, payload } = JSON.parse(envelope) as {
    readonly type: RecordDraft['type']
    readonly payload: Payload
  }
  if (type === 'PRICE_RETRACT') {
    const { current, reason, retracted } = payload as { current: Payload; reason: string; retracted: Payload }
    return JSON.stringify({ ...current, retracts: { reason, ...retracted } })
  }
  const { scope, chain_id: _chain, token_id: _token, record_id: _record, ...state } = payload
  if (type !== 'PRICE_UPSERT' || scope !== 'token')
    throw new StoreError('STORE_MISUSE', `a ${type} of ${String(scope)} is no record of a token`)
  return JSON.stringify(state)
}

/** A quote, which is JSON text, with the sequence in the `as_of` of its outermost object. */
export function sequenceQuote(quote: string, sequence: Sequence): string {
  const at = outermostAsOf(quote)
  return `${quote.slice(0, at)}"stream_sequence":${sequence},${quote.slice(at)}`
}

function payloadText(
  { type, payload }: RecordDraft,
  sequence: Sequence,
  withdrawn: Sequence | null,
): { readonly payload: string; readonly current: string | null } {
  switch (type) {
    case 'SWAP_OBSERVED':
      return { payload: JSON.stringify(payload), current: null }
    case 'FEED_HEALTH': {
      const text = JSON.stringify(payload)
      return { payload: text, current: text }
    }
    case 'PRICE_UPSERT': {
      const { scope, chain_id, token_id, pool_id, record_id, ...state } = payload
      const head = JSON.stringify({ scope, chain_id, token_id, pool_id, record_id })
      const current = stateText(scope, state, sequence)
      return { payload: `${head.slice(0, -1)},${current.slice(1)}`, current }
    }
    case 'PRICE_RETRACT': {
      const { current: state, ...rest } = payload
      const retracted = { ...(rest['retracted'] as Payload), stream_sequence: withdrawn }
      const head = JSON.stringify({ ...rest, retracted })
      const current = state === null ? null : stateText(rest['scope'], state as Payload, sequence)
      return { payload: `${head.slice(0, -1)},"current":${current}}`, current }
    }
    default:
      throw new StoreError('STORE_MISUSE', `a record of unknown type ${JSON.stringify(type satisfies never)}`)
  }
}

/** A pool's sequence stands beside its state; a token's price carries it along. */
function stateText(scope: unknown, state: Payload, sequence: Sequence): string {
  if (scope === 'pool') return JSON.stringify(state)
  const asOf = { stream_sequence: sequence, ...(state['as_of'] as Payload) }
  return JSON.stringify({ ...state, as_of: asOf })
}

/** The 32-byte id of the wire is the address, left-padded. */
const addressOf = (id: string): string => `0x${id.slice(26)}`

const idsIn = (envelope: string, open: number, close: number): readonly string[] =>
  close === open + 1 ? [] : envelope.slice(open + 2, close - 1).split('","')

const AS_OF = '"as_of":{'
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Where the fields of `as_of` begin. Quotes nest, so the first match in the text may be another's. */
function outermostAsOf(text: string): number {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      if (depth === 1 && text.startsWith(AS_OF, at)) return at + AS_OF.length
      at = stringEnd(text, at)
    } else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d) depth--
  }
  throw new StoreError('STORE_MISUSE', 'a quote has no as_of')
}

/** The closing quote of the string that opens at `open`. */
function stringEnd(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at
  }
  throw new StoreError('STORE_MISUSE', 'a quote is not JSON: a string does not end')
}
