/** A published price of the calibration, beside what it was worth. */

/** dev_bps of the rules, in floating point. */
export const apartBps = (p: number, q: number): number => 1e4 * (Math.max(p / q, q / p) - 1)

export type Sample = {
  readonly seed: number
  /** Its index in the plan of the market. */
  readonly token: number
  /** `honest`, or the name of the attack on the token. */
  readonly kind: string
  /** 0 if the token had no price. */
  readonly score: number
  /** Distance of the published price from what a seller of 1,000 USD got, and from the fair value, in basis points. */
  readonly exitBps: number
  readonly fairBps: number
  /** The reason for the score, or for the missing price. */
  readonly decider: string
  /** The token has two or more pools that are deep, not new, and agree. */
  readonly isAgreeing: boolean
}
