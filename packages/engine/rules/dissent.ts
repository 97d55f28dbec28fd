/**
 * DISSENT: a first-hop pool that was left out of the vote cannot move the price, but it caps the score if its price
 * is very different, now and over the last five minutes (R-dissent-1). Keeping a pool that far from the market costs
 * its owner liquidity.
 */
import { apart, bpsMore } from '../exact/apart.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Policy } from '../policy/policy.ts'
import type { Cap } from './reasons.ts'

/**
 * A pool none of whose routes is an observation. Prices are in dollars per whole token, without fee; null when
 * unknown.
 */
export type LeftOut = {
  readonly weight: bigint
  readonly marginal: Fraction | null
  readonly median: Fraction | null
}

/** `total` is the weight of all qualified routes. */
export function dissent(
  policy: Policy,
  leftOut: readonly LeftOut[],
  total: bigint,
  leastMicrousd: bigint,
  published: Fraction,
): Cap | null {
  if (policy.revision === 1) return null
  const isFar = (price: Fraction | null): boolean => price !== null && isBeyond(policy, price, published)
  const isShouting = leftOut.some(
    pool => isLoud(policy, pool.weight, total, leastMicrousd) && isFar(pool.marginal) && isFar(pool.median),
  )
  return isShouting ? { code: 'DISSENT', cap: policy.dissent.cap } : null
}

/** A pool below this weight is dust. */
export const isLoud = (policy: Policy, weight: bigint, total: bigint, leastMicrousd: bigint): boolean =>
  weight >= leastMicrousd && weight * 10_000n >= total * BigInt(policy.observation_share_bps)

export const isBeyond = (
  { dissent: { beyond_bps } }: Policy,
  price: Fraction,
  published: Fraction,
): boolean => apart(price, published, bpsMore(BigInt(beyond_bps))) > 0
