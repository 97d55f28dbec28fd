/** What was published at a moment of an attack, and what was true: enough to judge it by. */

export type Look = {
  readonly token: string
  /** Null where there is no price. */
  readonly usd: number | null
  /** 0 where there is no price. */
  readonly score: number
  /** Caps of the published score, or the reason of no price. */
  readonly codes: readonly string[]
  /** The price before the attack. */
  readonly trueUsd: number
  /** Dollars a token that a seller of 1,000 USD gets in this block. */
  readonly sellerUsd: number
  /** Changes of the score while it was watched; null where it was not. */
  readonly changes: number | null
}
