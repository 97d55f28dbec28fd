/**
 * What was published about a token, record by record, for as long as the log keeps it.
 *
 * Only what readers of history ask for stands apart from the log: when, at which block, and the exact price.
 * The whole state is read from the log itself.
 */
import type { RecordDraft, Sequence } from './rows.ts'

/** One record of a token: `price` is `numerator/denominator`, null where it said UNPRICED. */
export type HistoryPoint = {
  readonly sequence: Sequence
  /** When it was evaluated. */
  readonly atMs: number
  readonly blockNumber: number
  readonly price: string | null
  /** From this time on the price no longer counted; null without one, or without an end. */
  readonly expiresAtMs: number | null
}

/** A point before its record has a sequence. */
export type PointSaid = Omit<HistoryPoint, 'sequence'>

/** A point with its compact state as wire JSON. */
export type HistoryRow = HistoryPoint & { readonly state: string }

/** Blocks that were not followed, both included: the chain was started again at its head at `atMs`. */
export type GapRow = { readonly fromBlock: number; readonly toBlock: number; readonly atMs: number }

/** Gaps are entities of the engine under keys that begin so; `0` comes after `/`. */
export const GAP_KEYS = { from: 'gap/', below: 'gap0' } as const

export const gapsOf = (texts: readonly string[]): readonly GapRow[] =>
  texts
    .map(text => JSON.parse(text) as GapRow)
    .map(({ fromBlock, toBlock, atMs }) => ({ fromBlock, toBlock, atMs }))
    .sort((a, b) => a.toBlock - b.toBlock)

/** A price as it stood at a moment: the last record of the token at or before it. */
export type PriceThen = Pick<HistoryPoint, 'atMs' | 'price' | 'expiresAtMs'>

export type HistoryStore = {
  /** The chain's newest gaps, oldest first. */
  readGaps(chainId: number): Promise<readonly GapRow[]>
  /**
   * Records of a token evaluated in `[fromMs, toMs)`, in the order of (atMs, sequence), strictly after `after`,
   * at most `limit`. One record of a wrong clock does not hide others: sequence breaks ties only.
   */
  readTokenHistory(query: {
    readonly chainId: number
    readonly tokenAddress: string
    readonly fromMs: number
    readonly toMs: number
    readonly after: { readonly atMs: number; readonly sequence: Sequence } | null
    readonly limit: number
  }): Promise<readonly HistoryRow[]>
  /** The same without states: what candles are made of. */
  readTokenPoints(query: {
    readonly chainId: number
    readonly tokenAddress: string
    readonly fromMs: number
    readonly toMs: number
    readonly after: { readonly atMs: number; readonly sequence: Sequence } | null
    readonly limit: number
  }): Promise<readonly HistoryPoint[]>
  /** The last record published at or before a moment; null when the log no longer, or not yet, has one. */
  readTokenAt(
    chainId: number,
    tokenAddress: string,
    moment: { readonly ms: number } | { readonly block: number } | { readonly sequence: Sequence },
  ): Promise<HistoryRow | null>
  /** Prices of many tokens at many moments, in the order asked, in one reading; null as in `readTokenAt`. */
  readPricesAt(
    chainId: number,
    moments: readonly { readonly tokenAddress: string; readonly ms: number }[],
  ): Promise<readonly (PriceThen | null)[]>
}

/** What history keeps of a compact state. */
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
