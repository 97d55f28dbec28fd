/**
 * What was published about a token, record by record, for as long as the log keeps it. Only the values that readers of
 * history need are stored apart from the log: time, block and exact price. The whole state is read from the log itself.
 */
import type { RecordDraft, Sequence } from './rows.ts'

/** One record of a token: `price` is `numerator/denominator`, null when the record was UNPRICED. */
export type HistoryPoint = {
  readonly sequence: Sequence
  /** Time of evaluation. */
  readonly atMs: number
  readonly blockNumber: number
  readonly price: string | null
  /** The price is no longer valid from this time on; null without a price, or without an expiry. */
  readonly expiresAtMs: number | null
}

/** A point before its record has a sequence. */
export type PointSaid = Omit<HistoryPoint, 'sequence'>

/** A point with its compact state as wire JSON. */
export type HistoryRow = HistoryPoint & { readonly state: string }

/** Blocks that were not followed, both ends included: the chain was restarted at its head at `atMs`. */
export type GapRow = { readonly fromBlock: number; readonly toBlock: number; readonly atMs: number }

/** Key range of the engine's gap entities; `0` follows `/` in ASCII. */
export const GAP_KEYS = { from: 'gap/', below: 'gap0' } as const

export const gapsOf = (texts: readonly string[]): readonly GapRow[] =>
  texts
    .map(text => JSON.parse(text) as GapRow)
    .map(({ fromBlock, toBlock, atMs }) => ({ fromBlock, toBlock, atMs }))
    .sort((a, b) => a.toBlock - b.toBlock)

/** The price at a moment: the token's last record at or before it. */
export type PriceThen = Pick<HistoryPoint, 'atMs' | 'price' | 'expiresAtMs'>

/** Records of a token evaluated in `[fromMs, toMs)`, strictly after `after`, at most `limit`. */
export type TokenRange = {
  readonly chainId: number
  readonly tokenAddress: string
  readonly fromMs: number
  readonly toMs: number
  readonly after: { readonly atMs: number; readonly sequence: Sequence } | null
  readonly limit: number
}

export type HistoryStore = {
  /** The chain's newest gaps, oldest first. */
  readGaps(chainId: number): Promise<readonly GapRow[]>
  /**
   * In the order of (atMs, sequence). A record with a wrong clock does not hide others: sequence only breaks ties.
   */
  readTokenHistory(range: TokenRange): Promise<readonly HistoryRow[]>
  /** The same without states, for candles. */
  readTokenPoints(range: TokenRange): Promise<readonly HistoryPoint[]>
  /** The last record published at or before a moment; null when the log no longer has one, or does not have one yet. */
  readTokenAt(
    chainId: number,
    tokenAddress: string,
    moment: { readonly ms: number } | { readonly block: number } | { readonly sequence: Sequence },
  ): Promise<HistoryRow | null>
  /** Prices of many tokens at many moments, in the order of the request, from one read; null as in `readTokenAt`. */
  readPricesAt(
    chainId: number,
    moments: readonly { readonly tokenAddress: string; readonly ms: number }[],
  ): Promise<readonly (PriceThen | null)[]>
}

/** The parts of a compact state that history keeps. */
type Said = {
  readonly evaluated_at_ms: number
  readonly as_of: { readonly block_number: number }
  readonly price_usd?: { readonly numerator: string; readonly denominator: string }
  readonly expires_at_ms?: number | null
}

export function pointOf({ type, payload }: RecordDraft): PointSaid {
  const said = (type === 'PRICE_RETRACT' ? payload['current'] : payload) as Said
  const { price_usd: price } = said
  return {
    atMs: said.evaluated_at_ms,
    blockNumber: said.as_of.block_number,
    price: price === undefined ? null : `${price.numerator}/${price.denominator}`,
    expiresAtMs: said.expires_at_ms ?? null,
  }
}
