/** The policy's bands of basis points. A deviation exactly on a bound is within that bound. */
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import type { BpsBands } from '../policy/policy.ts'
import type { Score } from '../units.ts'

/** The score of the first band whose bound is at least the deviation. */
export function bpsScore(bands: BpsBands, deviationBps: Fraction): Score {
  for (const [bound, value] of bands.up_to) if (isAtMost(deviationBps, BigInt(bound))) return value
  return bands.beyond
}

/** Compares a deviation, which may be 0, with a whole number of basis points. */
export const isAtMost = (deviationBps: Fraction, bps: bigint): boolean =>
  deviationBps.num === 0n || fraction.compare(deviationBps, { num: bps, den: 1n }) <= 0
