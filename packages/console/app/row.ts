/** A token in the console: its price according to the last record, and the part of it that holds at a moment. */
import { type CompactState, type FeedGone, stateAt, type Token } from '@assay/sdk'

/** Additional columns of the list; read again periodically, not with every record. */
export type Beside = {
  readonly h1Bps: number | null
  /** One price per hour, oldest first; null where there was none. */
  readonly spark: readonly (number | null)[]
  readonly depthMicrousd: string | null
}

export type Retraction = { readonly atMs: number; readonly reason: string }

/**
 * A token with its price as last published; `priceAt` gives the part that still holds. Replaced whole, never changed:
 * equal rows are the same object.
 */
export type Row = {
  readonly key: string
  readonly token: Omit<Token, 'price' | 'state' | 'change' | 'spark' | 'depth_microusd'>
  readonly price: CompactState | null
  /** Null until it was read. */
  readonly beside: Beside | null
  /** When this browser saw it change, and in which direction. */
  readonly changedAtMs: number
  readonly direction: -1 | 0 | 1
  readonly retraction: Retraction | null
}

export const keyOf = (chainId: number, address: string): string => `${chainId}/${address}`
/** The stream names tokens by id, which is the address padded to 32 bytes. */
export const addressOf = (tokenId: string): string => `0x${tokenId.slice(26)}`

/** A price that has expired, or whose feed is gone, is no price, whether or not the service has reported that yet. */
export const priceAt = (row: Row, nowMs: number, feedGone: FeedGone | null): CompactState | null =>
  row.price === null ? null : stateAt(row.price, nowMs, feedGone)

/** True for a later record, and for the stored record itself when the held state was only presented over it. */
export const isNews = (next: CompactState | null, held: CompactState | null): boolean =>
  next !== null && (held === null || rankOf(next) > rankOf(held))

const rankOf = (state: CompactState): number =>
  2 * state.as_of.stream_sequence + ('presented' in state ? 0 : 1)

export const besideIn = ({ change, spark, depth_microusd }: Token): Beside => ({
  h1Bps: change?.h1_bps ?? null,
  spark: (spark ?? []).map(price => (price === null ? null : Number(price))),
  depthMicrousd: depth_microusd ?? null,
})
