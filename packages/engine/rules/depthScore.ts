/**
 * Absolute depth: the dollars that move a price by 2%, as a component of the score. A value on a bound is in the
 * higher band.
 */
import { MICRO, type Score, score } from '../units.ts'

/** Microdollars from which depth scores 2, 3, … 10; any depth above zero scores 1. */
export const DEPTH_FROM = [500n, 1_000n, 2_500n, 5_000n, 10_000n, 25_000n, 50_000n, 100_000n, 250_000n].map(
  usd => usd * MICRO,
)

export function depthScore(depthMicrousd: bigint): Score {
  if (depthMicrousd <= 0n) return score(0)
  let bands = 1
  for (const from of DEPTH_FROM) {
    if (depthMicrousd < from) break
    bands++
  }
  return score(bands)
}
