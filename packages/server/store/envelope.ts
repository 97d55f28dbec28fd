/**
 * The text of a stream record, written once its sequence is known and never parsed by the store again. The keys of an
 * envelope have a fixed order, so its routing is read back by position: `readEnvelope` accepts only texts made by
 * `unsealed`.
 */
import { count, membersOf, Written } from '@assay/engine'
import { fromId } from '@assay/sdk/wire'
import { type PointSaid, pointOf } from './history.ts'
import { isUnpriced, withLastPriced } from './lastPriced.ts'
import type { LogRecord, RecordDraft, Sequence } from './rows.ts'
import { StoreError } from './storeError.ts'
import { type Gone, goneBy } from './withdrawals.ts'

/** The subject whose current state a record replaces; for a token, with the values that history keeps. */
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

/** `current` is the new state of the subject, null when it has none any more. */
export type Sealed = { readonly envelope: string; readonly current: string | null }

/** The text of a record without the values that depend on its position in the log. */
export type Unsealed = {
  readonly subject: Subject
  /** The record that a PRICE_RETRACT withdraws. */
  readonly retracted: string | null
  /** What the record says is gone with a reorganisation. */
  readonly gone: Gone | null
  /** The token has no price after this record, so sealing needs the last one. */
  readonly isUnpriced: boolean
  /** The full quote of a token record. */
  readonly quote: Written | null
  /** `withdrawn` is the sequence of the record that a retraction names; `lastPriced` the text of that field. */
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

/** Does the slow part of writing a record once, before the log is locked. */
export function unsealed(record: RecordDraft): Unsealed {
  return {
    subject: subjectOf(record),
    retracted: retractedIdOf(record),
    gone: goneBy(record),
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

/** Joins into one flat string: with `+`, the text would be copied while the log is locked. */
const flat = (...pieces: readonly string[]): string => pieces.join('')

/** The fields of a log record that its envelope contains. */
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

/** Whether a record is about a token rather than a pool or a feed. */
export const isOfToken = ({ type, envelope }: LogRecord): boolean =>
  (type === 'PRICE_UPSERT' || type === 'PRICE_RETRACT') && envelope.includes('"payload":{"scope":"token"')

/**
 * The compact state in a token's envelope: all of an upsert but its head, or the `current` of a retraction, which also
 * names the record it withdraws.
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

/** Ids are hexadecimal and need no escaping. */
const routingText = ({ routing: { chain_id, pool_ids, token_ids } }: RecordDraft): string =>
  `{"chain_id":${chain_id},"pool_ids":${idsText(pool_ids)},"token_ids":${idsText(token_ids)}}`

/** Built by hand: most records name one pool and two tokens, too few for `join` to be worth it. */
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

/** Most payloads are known before their sequence: swaps, and pools, whose sequence is stored beside their state. */
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

/** The state of a token contains the sequence of its record. */
function tokenStateAt(
  state: unknown,
): (sequence: Sequence, lastPriced: string | null, head?: string) => string {
  const written = new Written(state as Payload & { readonly as_of: object })
  return (sequence, lastPriced, head) => {
    const text = written.at(count(sequence), head)
    return lastPriced === null ? text : withLastPriced(text, lastPriced)
  }
}

/** A pool's sequence is stored beside its state, which is null when its block removed the pool. */
function poolStateAt(state: unknown): () => string | null {
  const text = state === null ? null : JSON.stringify(state)
  return () => text
}

/**
 * The state of a pool is everything after the head of its upsert, so it is cut from the text rather than written twice.
 */
function poolUpsert(payload: Payload): PayloadText {
  const text = JSON.stringify(payload)
  const { chain_id, pool_id, record_id } = payload as Readonly<Record<string, string>>
  const head = `{"scope":"pool","chain_id":${chain_id},"pool_id":"${pool_id}","record_id":"${record_id}",`
  // This comparison is several times as fast as `startsWith` on a freshly concatenated text.
  if (text.slice(0, head.length) !== head)
    throw new StoreError('STORE_MISUSE', `the upsert ${record_id} does not begin with its head`)
  return { payload: text, current: flat('{', text.slice(head.length)) }
}

const idsIn = (envelope: string, open: number, close: number): readonly string[] =>
  close === open + 1 ? [] : envelope.slice(open + 2, close - 1).split('","')
