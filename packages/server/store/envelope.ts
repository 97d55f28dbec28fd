/**
 * The text of a stream record, written once when its sequence is known and never parsed again by the store.
 *
 * The keys of an envelope stand in one fixed order, so its routing is read back by position: `readEnvelope`
 * takes only what `unsealed` has made.
 */
import { count, membersOf, Written } from '@assay/engine'
import { fromId } from '@assay/sdk/wire'
import { type PointSaid, pointOf } from './history.ts'
import { isUnpriced, withLastPriced } from './lastPriced.ts'
import type { LogRecord, RecordDraft, Sequence } from './rows.ts'
import { StoreError } from './storeError.ts'

/** Whose current state a record replaces; of a token, with what history keeps of it. */
export type Subject =
  | {
      readonly kind: 'token'
      readonly address: string
      readonly recordId: string
      readonly point: PointSaid
    }
  | { readonly kind: 'pool'; readonly address: string; readonly recordId: string }
  | { readonly kind: 'health' }
  | { readonly kind: 'none' }

/** `current` is the state the subject is in from now on, null when it has none. */
export type Sealed = { readonly envelope: string; readonly current: string | null }

/** A record as text but for what only its place in the log tells. */
export type Unsealed = {
  readonly subject: Subject
  /** The record a PRICE_RETRACT withdraws. */
  readonly retracted: string | null
  /** Its token has no price from here on: sealing needs the last one. */
  readonly isUnpriced: boolean
  /** The full quote of a token record. */
  readonly quote: Written | null
  /** `withdrawn` is the sequence of the record a retraction names; `lastPriced` the text of that field. */
  readonly seal: (sequence: Sequence, withdrawn: Sequence | null, lastPriced: string | null) => Sealed
}

type Payload = RecordDraft['payload']

function subjectOf(record: RecordDraft): Subject {
  const { type, payload } = record
  if (type === 'SWAP_OBSERVED') return { kind: 'none' }
  if (type === 'FEED_HEALTH') return { kind: 'health' }
  const kind = payload['scope']
  const id = kind === 'token' ? payload['token_id'] : kind === 'pool' ? payload['pool_id'] : undefined
  const recordId = payload['record_id']
  if ((kind !== 'token' && kind !== 'pool') || typeof id !== 'string' || typeof recordId !== 'string')
    throw new StoreError('STORE_MISUSE', `a ${type} names no token or pool, or has no record_id`)
  const named = { address: fromId(id), recordId }
  return kind === 'pool' ? { kind, ...named } : { kind, ...named, point: pointOf(record) }
}

/** The slow part of writing a record: done once, before the log is locked. */
export function unsealed(record: RecordDraft): Unsealed {
  return {
    subject: subjectOf(record),
    retracted: retractedIdOf(record),
    isUnpriced: isUnpriced(record),
    quote: record.quote,
    seal: sealing(record),
  }
}

function sealing(record: RecordDraft): Unsealed['seal'] {
  const beforePayload = `,"routing":${routingText(record)},"type":"${record.type}","payload":`
  const text = payloadText(record)
  if (typeof text === 'function')
    return (sequence, withdrawn, lastPriced) => {
      const { payload, current } = text(sequence, withdrawn, lastPriced)
      const envelope = `{"stream_sequence":${sequence}${beforePayload}${payload}}`
      return { envelope, current }
    }
  const afterSequence = flat(beforePayload, text.payload, '}')
  return sequence => ({
    envelope: `{"stream_sequence":${sequence}${afterSequence}`,
    current: text.current,
  })
}

/** One text in one piece: put together by `+`, it would be copied when the log is locked. */
const flat = (...pieces: readonly string[]): string => pieces.join('')

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

/** Whether a record is about a token, and not about a pool or a feed. */
export const isOfToken = ({ type, envelope }: LogRecord): boolean =>
  (type === 'PRICE_UPSERT' || type === 'PRICE_RETRACT') && envelope.includes('"payload":{"scope":"token"')

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

function retractedIdOf({ type, payload }: RecordDraft): string | null {
  if (type !== 'PRICE_RETRACT') return null
  const retracted = payload['retracted'] as { readonly record_id: string }
  return retracted.record_id
}

/** Ids are hexadecimal: nothing in them is to be escaped. */
const routingText = ({ routing: { chain_id, pool_ids, token_ids } }: RecordDraft): string =>
  `{"chain_id":${chain_id},"pool_ids":${idsText(pool_ids)},"token_ids":${idsText(token_ids)}}`

/** By hand: most records name one pool and two tokens, too few for a join to pay. */
function idsText(ids: readonly string[]): string {
  if (ids.length === 0) return '[]'
  let text = `["${ids[0]}`
  for (let at = 1; at < ids.length; at++) text += `","${ids[at]}`
  return `${text}"]`
}

type PayloadText = { readonly payload: string; readonly current: string | null }
type PayloadTextAt = (
  sequence: Sequence,
  withdrawn: Sequence | null,
  lastPriced: string | null,
) => PayloadText

/** Most payloads are known before their sequence is: swaps, and pools, whose sequence stands beside their state. */
function payloadText({ type, payload }: RecordDraft): PayloadText | PayloadTextAt {
  switch (type) {
    case 'SWAP_OBSERVED':
      return { payload: JSON.stringify(payload), current: null }
    case 'FEED_HEALTH': {
      const text = JSON.stringify(payload)
      return { payload: text, current: text }
    }
    case 'PRICE_UPSERT': {
      if (payload['scope'] === 'pool') return poolUpsert(payload)
      const { scope, chain_id, token_id, record_id, ...state } = payload
      const head = membersOf({ scope, chain_id, token_id, record_id })
      const stateAt = tokenStateAt(state)
      return (sequence, _, lastPriced) => ({
        payload: stateAt(sequence, lastPriced, head),
        current: stateAt(sequence, lastPriced),
      })
    }
    case 'PRICE_RETRACT': {
      const { current: state, ...rest } = payload
      const stateAt = rest['scope'] === 'token' ? tokenStateAt(state) : poolStateAt(state)
      return (sequence, withdrawn, lastPriced) => {
        const retracted = { ...(rest['retracted'] as Payload), stream_sequence: withdrawn }
        const current = stateAt(sequence, lastPriced)
        return { payload: `{${membersOf({ ...rest, retracted })},"current":${current}}`, current }
      }
    }
    default:
      throw new StoreError('STORE_MISUSE', `a record of unknown type ${JSON.stringify(type satisfies never)}`)
  }
}

/** A token's state carries the sequence of its record. */
function tokenStateAt(
  state: unknown,
): (sequence: Sequence, lastPriced: string | null, head?: string) => string {
  const written = new Written(state as Payload & { readonly as_of: object })
  return (sequence, lastPriced, head) => {
    const text = written.at(count(sequence), head)
    return lastPriced === null ? text : withLastPriced(text, lastPriced)
  }
}

/** A pool's sequence stands beside its state, which is null when its block took the pool away. */
function poolStateAt(state: unknown): () => string | null {
  const text = state === null ? null : JSON.stringify(state)
  return () => text
}

/** The state of a pool is all that follows the head of its upsert, so it is cut from the text and not written twice. */
function poolUpsert(payload: Payload): PayloadText {
  const text = JSON.stringify(payload)
  const { chain_id, pool_id, record_id } = payload as Readonly<Record<string, string>>
  const head = `{"scope":"pool","chain_id":${chain_id},"pool_id":"${pool_id}","record_id":"${record_id}",`
  // A comparison is several times as quick as `startsWith` of a text that was only just put together.
  if (text.slice(0, head.length) !== head)
    throw new StoreError('STORE_MISUSE', `the upsert ${record_id} does not begin with its head`)
  return { payload: text, current: flat('{', text.slice(head.length)) }
}

const idsIn = (envelope: string, open: number, close: number): readonly string[] =>
  close === open + 1 ? [] : envelope.slice(open + 2, close - 1).split('","')
