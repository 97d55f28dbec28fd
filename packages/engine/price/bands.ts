/**
 * From a measured quantity to a component of the score (R-edge-1, R-coverage-1).
 *
 * Every band is decided in whole numbers by multiplying across. For depth and coverage a value on a boundary
 * belongs to the higher band; "up to" for freshness, temporal and basis-point bands includes the boundary.
 */
import type { Fraction } from '../exact/ratio.ts'
import * as ratio from '../exact/ratio.ts'
import { type Ms, ms, type Near, type Score, score } from '../units.ts'
import type { BpsBands } from './policy.ts'
import { devBpsAtMost, devBpsAtMostNear, isAtMost } from './weightedMedian.ts'

export type Label = 'Unusable' | 'Low' | 'Medium' | 'High' | 'Very high'

const MICRO = 1_000_000n

/** Microdollars from which depth scores 2, 3, … 10; anything above nothing scores 1. */
export const DEPTH_FROM = [500n, 1_000n, 2_500n, 5_000n, 10_000n, 25_000n, 50_000n, 100_000n, 250_000n].map(
  usd => usd * MICRO,
)

/** Basis points of the external depth from which coverage scores 2, 3, … 10. */
const COVERAGE_FROM_BPS = [30n, 60n, 100n, 200n, 300n, 600n, 1_000n, 1_750n, 2_500n]

/** `[tenths of the TTL, inclusive, score]`; then 5 until the TTL is reached. */
const FRESHNESS_UP_TO = [
  [1, score(10)],
  [2, score(9)],
  [4, score(8)],
  [6, score(7)],
  [8, score(6)],
] as const

/** `[basis points, inclusive, score]`; 2 beyond. */
const TEMPORAL_UP_TO = [
  [100n, score(10)],
  [200n, score(8)],
  [500n, score(5)],
] as const

const FEED = { HEALTHY: score(10), DEGRADED: score(3), GAP: score(0), UNAVAILABLE: score(0) } as const
const STATE = { unverified: score(0), canonical: score(8), finalized: score(10) } as const

const INSUFFICIENT_HISTORY_SCORE = score(5)

export function depthScore(depthMicrousd: bigint): Score {
  if (depthMicrousd <= 0n) return score(0)
  let bands = 1
  for (const from of DEPTH_FROM) {
    if (depthMicrousd < from) break
    bands++
  }
  return score(bands)
}

/** The anchors' depth over the external depth, which is positive. */
export function coverageScore(anchorsMicrousd: bigint, externalMicrousd: bigint): Score {
  if (anchorsMicrousd <= 0n) return score(0)
  const scaled = 10_000n * anchorsMicrousd
  let bands = 1
  for (const from of COVERAGE_FROM_BPS) {
    if (scaled < from * externalMicrousd) break
    bands++
  }
  return score(bands)
}

/** `ageMs` is the worse of the price's and the liquidity's age. */
export function freshnessScore(ageMs: Ms, ttlMs: Ms): Score {
  if (freshnessExpired(ageMs, ttlMs)) return score(0)
  for (const [tenths, value] of FRESHNESS_UP_TO) if (10 * ageMs <= tenths * ttlMs) return value
  return score(5)
}

/** An age of the whole TTL has expired: the edge is disqualified. */
export function freshnessExpired(ageMs: Ms, ttlMs: Ms): boolean {
  return ageMs >= ttlMs
}

/** The age at which the next lower band starts; null once expired. */
export function nextFreshnessBoundary(ageMs: Ms, ttlMs: Ms): Ms | null {
  if (freshnessExpired(ageMs, ttlMs)) return null
  for (const [tenths] of FRESHNESS_UP_TO) {
    // The first whole millisecond past tenths × TTL / 10; for a tiny TTL that may be the TTL itself.
    const startMs = Math.floor((tenths * ttlMs) / 10) + 1
    if (ageMs < startMs) return startMs < ttlMs ? ms(startMs) : ttlMs
  }
  return ttlMs
}

/** A five-minute median, and about where it is if that is known; or that there is none. */
type Past = { readonly coveredMs: Ms } & (
  | { readonly median: Fraction; readonly near?: Near }
  | { readonly reason: string }
)

/** How far the block-final marginal is from it; `near` is about where that is, if it is known. */
export function temporalScore(marginal: Fraction, past: Past, near?: Near): Score {
  if ('reason' in past) return INSUFFICIENT_HISTORY_SCORE
  const { median } = past
  const left = near ?? ratio.near(marginal)
  const right = past.near ?? ratio.near(median)
  for (const [bps, value] of TEMPORAL_UP_TO)
    if (devBpsAtMostNear(left, right, bps) ?? devBpsAtMost(marginal, median, bps)) return value
  return score(2)
}

export function feedScore(status: keyof typeof FEED): Score {
  return FEED[status]
}

export function stateScore(finality: keyof typeof STATE): Score {
  return STATE[finality]
}

/** The policy's bands of basis points: the first whose bound the deviation does not pass. */
export function bpsScore(bands: BpsBands, deviationBps: Fraction): Score {
  for (const [bound, value] of bands.up_to) if (isAtMost(deviationBps, BigInt(bound))) return value
  return bands.beyond
}

export function label(value: Score): Label {
  if (value <= 0) return 'Unusable'
  if (value <= 3) return 'Low'
  if (value <= 6) return 'Medium'
  return value <= 8 ? 'High' : 'Very high'
}
