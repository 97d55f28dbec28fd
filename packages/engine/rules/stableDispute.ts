/**
 * Two stables compared with each other (R-dispute-3 to R-dispute-6): the ratio in the pools of the pair, against the
 * ratio of their feeds' answers. A dispute caps one of the two; it never replaces or removes a value.
 */
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import type { Policy } from '../policy/policy.ts'
import { MICRO, score, type Score, weaker } from '../units.ts'
import { bpsScore } from './bpsBands.ts'
import { ascending, devBps, weightedMedian } from './weightedMedian.ts'

/** A stable with the findings of its guard. */
export type DisputeSide = {
  readonly usd: Fraction
  /** The value is the feed's current answer, not the last one and not the nominal 1. */
  readonly isFresh: boolean
}

/** A pool of the pair that is deep enough to take part. */
export type DisputePool = {
  readonly id: string
  /** The five-minute median of its marginal ratio, Y per X in whole tokens. */
  readonly median: Fraction
  /** L_Y,eff, above 0. */
  readonly weight: bigint
  readonly averageMicrousd: bigint
}

export type StableDispute = {
  /** The stable that is capped. */
  readonly disputed: 'X' | 'Y'
  readonly cap: Score
  /** The weighted median of the pools, Y per X, and its deviation from the ratio of the answers. */
  readonly market: Fraction
  readonly deviationBps: Fraction
}

/** Null when the pools agree with the feeds, or when no pool may take part. */
export function stableDispute(
  x: DisputeSide,
  y: DisputeSide,
  pools: readonly DisputePool[],
  policy: Policy,
): StableDispute | null {
  if (pools.length === 0 || !(x.isFresh || y.isFresh)) return null
  const items = pools.map(({ id, median }) => ({ id, price: median }))
  const sorted = ascending(items).map(at => pools[at] as DisputePool)
  const market = weightedMedian(sorted, ({ weight }) => weight).median
  return disputeAt(market, x, y, pools, policy)
}

/** The same for a given `market`, the combined ratio of the pools. */
export function disputeAt(
  market: Fraction,
  x: DisputeSide,
  y: DisputeSide,
  pools: readonly DisputePool[],
  policy: Policy,
): StableDispute | null {
  const { bands, thin_cap, lone_average_usd } = policy.stable.dispute
  const feeds = { num: x.usd.num * y.usd.den, den: x.usd.den * y.usd.num }
  const deviationBps = devBps(market, feeds)
  const band = bpsScore(bands, deviationBps)
  if (band >= 10) return null
  const side = fraction.compare(market, feeds)
  const lone = BigInt(lone_average_usd) * MICRO
  let [first, second] = [score(10), score(10)]
  let alone = score(10)
  for (const { median, averageMicrousd } of pools) {
    if (fraction.compare(median, feeds) !== side) continue
    const own = bpsScore(bands, devBps(median, feeds))
    // A pool further away than the median counts in the band of the median.
    const voice = own > band ? own : band
    if (voice < first) [first, second] = [voice, first]
    else second = weaker(second, voice)
    if (averageMicrousd >= lone) alone = weaker(alone, voice)
  }
  const heard = weaker(second, alone)
  const cheaper = side < 0 ? 'X' : 'Y'
  return {
    disputed: x.isFresh && y.isFresh ? cheaper : x.isFresh ? 'Y' : 'X',
    cap: heard < 10 ? heard : thin_cap,
    market,
    deviationBps,
  }
}
