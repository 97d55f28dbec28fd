/**
 * The text of a stream record, written once when its sequence is known and never parsed again by the store.
 *
 * The keys of an envelope stand in one fixed order, so its routing is read back by position: `readEnvelope`
 * takes only what `unsealed` has made.
 */
import { type PointSaid, pointOf } from './history.ts'
import type { LogRecord, RecordDraft, Sequence } from './port.ts'
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

/**
 * `current` is the state the subject is in from now on, null when it has none; `quote` is the quote of the draft
 * with its sequence.
 */
export type Sealed = {
  readonly envelope: string
  readonly current: string | null
  readonly quote: string | null
}

/** A record as text but for what only its place in the log tells. */
export type Unsealed = {
  readonly subject: Subject
  /** The record a PRICE_RETRACT withdraws. */
  readonly retracted: string | null
  /** `withdrawn` is the sequence of the record a retraction names. */
  readonly seal: (sequence: Sequence, withdrawn: Sequence | null) => Sealed
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
  const named = { address: addressOf(id), recordId }
  return kind === 'pool' ? { kind, ...named } : { kind, ...named, point: pointOf(record) }
}

/** Everything slow about a record: whoever commits does it before the log is locked, and once. */
export function unsealed(record: RecordDraft): Unsealed {
  const { quote } = record
  const subject = subjectOf(record)
  const quoteAt = quote === null ? null : sequencedThroughout(quote)
  return {
    subject,
    retracted: retractedIdOf(record),
    seal: sealing(record, quoteAt ?? (() => null)),
  }
}

function sealing(record: RecordDraft, quoteAt: (sequence: Sequence) => string | null): Unsealed['seal'] {
  const beforePayload = `,"routing":${routingText(record)},"type":"${record.type}","payload":`
  const text = payloadText(record)
  if (typeof text === 'function')
    return (sequence, withdrawn) => {
      const { payload, current } = text(sequence, withdrawn)
      const envelope = `{"stream_sequence":${sequence}${beforePayload}${payload}}`
      return { envelope, current, quote: quoteAt(sequence) }
    }
  const afterSequence = flat(beforePayload, text.payload, '}')
  return sequence => ({
    envelope: `{"stream_sequence":${sequence}${afterSequence}`,
    current: text.current,
    quote: quoteAt(sequence),
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
type PayloadTextAt = (sequence: Sequence, withdrawn: Sequence | null) => PayloadText

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
      const text = JSON.stringify(payload)
      const stateFrom = headLength(text, payload)
      if (payload['scope'] === 'pool') return { payload: text, current: flat('{', text.slice(stateFrom)) }
      const textAt = sequenced(text, outermostAsOf(text))
      return sequence => {
        const whole = textAt(sequence)
        return { payload: whole, current: `{${whole.slice(stateFrom)}` }
      }
    }
    case 'PRICE_RETRACT': {
      const { current: state, ...rest } = payload
      const textAt = state === null ? () => null : stateText(rest['scope'], JSON.stringify(state))
      return (sequence, withdrawn) => {
        const retracted = { ...(rest['retracted'] as Payload), stream_sequence: withdrawn }
        const head = JSON.stringify({ ...rest, retracted })
        const current = textAt(sequence)
        return { payload: `${head.slice(0, -1)},"current":${current}}`, current }
      }
    }
    default:
      throw new StoreError('STORE_MISUSE', `a record of unknown type ${JSON.stringify(type satisfies never)}`)
  }
}

/** The state of an upsert is all that follows its head, so it is cut from the text and not written twice. */
function headLength(text: string, payload: Payload): number {
  const { scope, chain_id, token_id, pool_id, record_id } = payload as Readonly<Record<string, string>>
  const id = scope === 'token' ? token_id : pool_id
  const head = `{"scope":"${scope}","chain_id":${chain_id},"${scope}_id":"${id}","record_id":"${record_id}",`
  // A comparison is several times as quick as `startsWith` of a text that was only just put together.
  if (text.slice(0, head.length) !== head)
    throw new StoreError('STORE_MISUSE', `the upsert ${record_id} does not begin with its head`)
  return head.length
}

/** A pool's sequence stands beside its state; a token's price carries it along. */
function stateText(scope: unknown, text: string): (sequence: Sequence) => string {
  return scope === 'pool' ? () => text : sequenced(text, outermostAsOf(text))
}

/** JSON text with a sequence as the first field of its own `as_of`, whose fields begin at `at`. */
function sequenced(text: string, at: number): (sequence: Sequence) => string {
  const [before, after] = [text.slice(0, at), text.slice(at)]
  return sequence => `${before}"stream_sequence":${sequence},${after}`
}

/** As `sequenced`, and in the quotes of its routing assets too: all were evaluated in the step that the record ends. */
function sequencedThroughout(text: string): (sequence: Sequence) => string {
  const parts: string[] = []
  let from = 0
  for (const at of asOfsIn(text)) {
    parts.push(text.slice(from, at))
    from = at
  }
  parts.push(text.slice(from))
  return sequence => parts.join(`"stream_sequence":${sequence},`)
}

/** The 32-byte id of the wire is the address, left-padded. */
const addressOf = (id: string): string => `0x${id.slice(26)}`

const idsIn = (envelope: string, open: number, close: number): readonly string[] =>
  close === open + 1 ? [] : envelope.slice(open + 2, close - 1).split('","')

const AS_OF = '"as_of":{'
const ASSETS = '"routing_assets":['
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
  throw new StoreError('STORE_MISUSE', 'a quote or a price has no as_of')
}

/** Where the fields of every `as_of` begin: the quote's own, and those of quotes in `routing_assets`, at any level. */
function asOfsIn(text: string): readonly number[] {
  const own = outermostAsOf(text)
  const found: number[] = []
  let depth = 0
  /** The depth of the fields of the quote we are in. */
  let level = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      if (depth === level && text.startsWith(AS_OF, at)) found.push(at + AS_OF.length)
      else if (depth === level && text.startsWith(ASSETS, at)) level += 2
      at = stringEnd(text, at)
    } else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d) {
      depth--
      if (depth === level - 2) level -= 2
    }
  }
  return found.includes(own) ? found : [own, ...found]
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
