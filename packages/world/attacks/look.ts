/** The published state at a moment of an attack, and the truth: everything needed to judge it. */

export type Look = {
  readonly token: string
  /** Null without a price. */
  readonly usd: number | null
  /** 0 without a price. */
  readonly score: number
  /** Caps of the published score, or the reason for the missing price. */
  readonly codes: readonly string[]
  /** The price before the attack. */
  readonly trueUsd: number
  /** Dollars per token for a seller of 1,000 USD in this block. */
  readonly sellerUsd: number
  /** Changes of the score while it was watched; null if it was not. */
  readonly changes: number | null
}
