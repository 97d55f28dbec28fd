/**
 * Evaluates a condition over the log, record by record: a fold, so that the same records from the same state
 * always give the same messages. Prices are compared as exact fractions. The first record of a subject is stored
 * without a message, because nothing has changed yet.
 */
import { exact } from '@assay/sdk'
import { type CompactState, type Envelope, toId, type WebhookCondition } from '@assay/sdk/wire'

/** What is kept between two records, as JSON; which fields exist depends on the condition. */
export type Memory = {
  readonly side?: 'above' | 'below'
  /** The last reported price. */
  readonly price?: { readonly numerator: string; readonly denominator: string }
  readonly isBelow?: boolean
  readonly status?: string
}

export type Said = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }
type Judged = { readonly memory: Memory | null; readonly said: Said | null }

/** The condition with its constant parts precomputed. */
export type Judge = {
  readonly chainId: number
  /** Null for a condition on a whole chain. */
  readonly tokenId: string | null
  readonly types: ReadonlySet<string>
  judge(memory: Memory | null, record: Envelope): Judged
  /** The initial memory, from the state of the token or chain where the webhook begins. */
  seed(state: unknown): Memory | null
}

const PRICES: ReadonlySet<string> = new Set(['PRICE_UPSERT', 'PRICE_RETRACT'])
const RETRACTIONS: ReadonlySet<string> = new Set(['PRICE_RETRACT'])
const HEALTH: ReadonlySet<string> = new Set(['FEED_HEALTH'])
const BPS = 10_000n

export function judgeOf(condition: WebhookCondition): Judge {
  switch (condition.kind) {
    case 'price_crosses':
      return ofToken(condition, crossing(condition))
    case 'price_moves':
      return ofToken(condition, moving(BigInt(condition.bps)))
    case 'score_below':
      return ofToken(condition, scoring(condition.score))
    case 'sellability':
      return ofToken(condition, selling)
    case 'retracted':
      return retraction(condition)
    case 'health':
      return health(condition.chain_id)
  }
}

type Token = { readonly chain_id: number; readonly token_address: string }
type OfState = (memory: Memory | null, state: CompactState) => Judged

const SAME = (memory: Memory | null): Judged => ({ memory, said: null })

/**
 * A retraction puts another state in force. That state is evaluated, so a crossing that was undone is reported as
 * a crossing back.
 */
function ofToken({ chain_id: chainId, token_address: address }: Token, judgeState: OfState): Judge {
  const tokenId = toId(address)
  return {
    chainId,
    tokenId,
    types: PRICES,
    judge(memory, record) {
      const state = stateIn(record, tokenId)
      return state === null ? SAME(memory) : judgeState(memory, state)
    },
    seed: state => judgeState(null, state as CompactState).memory,
  }
}

function stateIn({ type, payload }: Envelope, tokenId: string): CompactState | null {
  if (type !== 'PRICE_UPSERT' && type !== 'PRICE_RETRACT') return null
  if (payload.scope !== 'token' || payload.token_id !== tokenId) return null
  return 'current' in payload ? payload.current : payload
}

type Crossing = Extract<WebhookCondition, { readonly kind: 'price_crosses' }>

function crossing({ price_usd: text, direction }: Crossing): OfState {
  const threshold = decimalIn(text)
  return (memory, state) => {
    // Without a price the condition is on neither side.
    if (state.state !== 'PRICED') return SAME(memory)
    const side = exact.compare(exact.from(state.price_usd), threshold) >= 0 ? 'above' : 'below'
    if (memory?.side === side) return SAME(memory)
    const crossed = side === 'above' ? 'up' : 'down'
    const isTold = memory?.side !== undefined && (direction ?? crossed) === crossed
    const data = { direction: crossed, threshold_usd: text, price_usd: state.price_usd }
    return { memory: { side }, said: isTold ? { type: 'price.crossed', data } : null }
  }
}

const moving =
  (bps: bigint): OfState =>
  (memory, state) => {
    if (state.state !== 'PRICED') return SAME(memory)
    const { numerator, denominator } = state.price_usd
    const price = { numerator, denominator }
    if (memory?.price === undefined) return { memory: { price }, said: null }
    const [now, before] = [exact.from(price), exact.from(memory.price)]
    const change = now.num * before.den - before.num * now.den
    if ((change < 0n ? -change : change) * BPS < bps * before.num * now.den) return SAME(memory)
    const from = { ...memory.price, display: exact.format(before) }
    return {
      memory: { price },
      said: { type: 'price.moved', data: { from_usd: from, price_usd: state.price_usd } },
    }
  }

const scoring =
  (least: number): OfState =>
  (memory, state) => {
    const score = state.state === 'PRICED' ? state.confidence.score : null
    const isBelow = score === null || score < least
    if (memory?.isBelow === isBelow) return SAME(memory)
    const isTold = isBelow && memory !== null
    const reason = state.state === 'PRICED' ? null : state.reason
    const data = { score, threshold: least, unpriced_reason: reason }
    return { memory: { isBelow }, said: isTold ? { type: 'score.below', data } : null }
  }

/** A state without this field changes nothing. */
const selling: OfState = (memory, state) => {
  const { status } = (state as { readonly sellability?: { readonly status?: unknown } }).sellability ?? {}
  if (typeof status !== 'string' || memory?.status === status) return SAME(memory)
  const data = { from: memory?.status, to: status }
  return {
    memory: { status },
    said: memory?.status === undefined ? null : { type: 'sellability.changed', data },
  }
}

type Retraction = Extract<WebhookCondition, { readonly kind: 'retracted' }>

function retraction({ chain_id: chainId, token_address: address }: Retraction): Judge {
  const tokenId = address === undefined ? null : toId(address)
  return {
    chainId,
    tokenId,
    types: RETRACTIONS,
    judge(memory, { type, payload }) {
      if (type !== 'PRICE_RETRACT' || payload.scope !== 'token') return SAME(memory)
      if (tokenId !== null && payload.token_id !== tokenId) return SAME(memory)
      const { reason, retracted } = payload
      return { memory, said: { type: 'price.retracted', data: { reason, retracted } } }
    },
    seed: () => null,
  }
}

function health(chainId: number): Judge {
  const judgeStatus = (memory: Memory | null, { status, reasons }: { status: string; reasons: unknown }) => {
    if (memory?.status === status) return SAME(memory)
    const data = { from: memory?.status, to: status, reasons }
    return {
      memory: { status },
      said: memory?.status === undefined ? null : { type: 'feed.health', data },
    }
  }
  return {
    chainId,
    tokenId: null,
    types: HEALTH,
    judge: (memory, { type, payload }) =>
      type === 'FEED_HEALTH' ? judgeStatus(memory, payload) : SAME(memory),
    seed: state => judgeStatus(null, state as { status: string; reasons: unknown }).memory,
  }
}

/** Parses plain decimal text, which the schema of the condition has checked. */
function decimalIn(text: string): exact.Exact {
  const [whole = '0', part = ''] = text.split('.')
  return { num: BigInt(whole + part), den: 10n ** BigInt(part.length) }
}
