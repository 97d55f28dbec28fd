/** The policy's bands of basis points. A deviation on a bound is within it. */
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import type { BpsBands } from '../policy/policy.ts'
import type { Score } from '../units.ts'

/** The first band whose bound the deviation does not pass. */
export function bpsScore(bands: BpsBands, deviationBps: Fraction): Score {
  for (const [bound, value] of bands.up_to) if (isAtMost(deviationBps, BigInt(bound))) return value
  return bands.beyond
}

/** A deviation, which may be 0, against a whole bound. */
export const isAtMost = (deviationBps: Fraction, bps: bigint): boolean =>
  deviationBps.num === 0n || fraction.compare(deviationBps, { num: bps, den: 1n }) <= 0
