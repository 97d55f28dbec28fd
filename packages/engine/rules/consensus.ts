/**
 * The price that independent observations agree on, and which of them disagree (R-consensus-1, R-agreement-3): one
 * rule for the routes of a token and for the pools of a pair.
 *
 * The rule makes one pass. Proposed outliers are rejected only when the remaining observations are heavy and
 * independent enough; otherwise all of them stay and the split is reported as unresolved. An index always refers to
 * the observations as given.
 */
import { assert } from '../assert.ts'
import { apart, apartApprox, bpsMore } from '../exact/apart.ts'
import { type Fraction, furtherFrom, furtherFromApprox } from '../exact/fraction.ts'
import type { Count, Approx } from '../units.ts'
import { ascending, devBps, halfOf, medianOf, approxOf, type Orderable } from './weightedMedian.ts'

/** Callers remove dust first: every observation given here has a vote. */
export type Observation = Orderable & {
  /** w_r: the weight used for m0, the kept share and the published median. */
  readonly weight: bigint
  /** L_i_eff = b_r: the weight used for MADw. */
  readonly capacity: bigint
  /** Origin of the observation, used to judge independence. */
  readonly source: { readonly id: string; readonly deploymentId: string }
}

export type Consensus = {
  /** The weighted median of all observations. */
  readonly m0: Count
  readonly madBps: Fraction
  readonly tauBps: bigint
  /** In the order of the observations; all false when the split is unresolved. */
  readonly rejected: readonly boolean[]
  /** NO_INDEPENDENT_CONSENSUS. */
  readonly unresolved: boolean
  /** By ascending price, ties by id. */
  readonly survivors: readonly Count[]
  /** The weighted median of the survivors, which is published. */
  readonly selected: Count
  readonly keptWeight: bigint
  readonly totalWeight: bigint
  /** The greatest dev_bps of a survivor from m0. */
  readonly spreadBps: Fraction
  /** The cheapest and the dearest survivor: the support envelope. */
  readonly low: Count
  readonly high: Count
}

/** MADw is scaled by 22239/5000, three of a normal distribution's deviations (3 × 1.4826). */
const TAU_NUM = 22_239n
const TAU_DEN = 5_000n
/** Nothing closer than this is ever an outlier. */
export const TAU_MIN_BPS = 200n
const TAU_MAX_BPS = 1_000n
/** Safely below the deviation at which the least threshold is reached. */
const SURELY_MIN = Number(TAU_MIN_BPS * TAU_DEN) * 0.999

const NO_DEVIATION: Fraction = { num: 0n, den: 1n }

/** Survivors must keep at least 67 of 100 parts of the weight. */
const KEPT_NUM = 67n
const KEPT_DEN = 100n

/**
 * Null when no observation has weight, so there is no price. `qualifiedWeight` is the total weight of which the
 * survivors must keep their share, including observations left out before the vote; null when it equals the weight of
 * the observations.
 */
export function consensus(
  observations: readonly Observation[],
  qualifiedWeight: bigint | null = null,
): Consensus | null {
  let totalWeight = 0n
  for (const observation of observations) totalWeight += observation.weight
  if (totalWeight === 0n) return null

  const at = (index: Count): Observation => observations[index] as Observation
  const approxes = observations.map(approxOf)
  const order = ascending(observations, approxes)
  const weightOf = (index: Count): bigint => at(index).weight
  const m0 = medianOf(order, weightOf, totalWeight)
  const centre = at(m0)
  const madBps = medianDeviation(observations, approxes, order, m0)
  const tauBps = tau(madBps)

  // Deviation grows away from m0 on both sides, so the outliers are the two ends of the order.
  const bound = bpsMore(tauBps)
  const isInlier = (index: Count): boolean =>
    index === m0 ||
    (apartApprox(approxes[index] as Approx, approxes[m0] as Approx, bound) ||
      apart(at(index).price, centre.price, bound)) <= 0
  let first = 0
  let last = order.length - 1
  while (!isInlier(order[first] as Count)) first++
  while (!isInlier(order[last] as Count)) last--

  const rejected = observations.map(() => false)
  let unresolved = false
  let survivors = order
  let keptWeight = totalWeight
  if (first > 0 || last < order.length - 1) {
    const inliers = order.slice(first, last + 1)
    let inlierWeight = 0n
    for (const index of inliers) inlierWeight += at(index).weight
    if (
      KEPT_DEN * inlierWeight >= KEPT_NUM * (qualifiedWeight ?? totalWeight) &&
      isIndependent(observations, inliers)
    ) {
      survivors = inliers
      keptWeight = inlierWeight
      for (let position = 0; position < order.length; position++)
        if (position < first || position > last) rejected[order[position] as Count] = true
    } else unresolved = true
  }

  const low = survivors[0] as Count
  const high = survivors[survivors.length - 1] as Count
  const furthest = low === m0 || isAboveFurther(observations, approxes, m0, low, high) ? high : low
  return {
    m0,
    madBps,
    tauBps,
    rejected,
    unresolved,
    survivors,
    selected: survivors === order ? m0 : medianOf(survivors, weightOf, keptWeight),
    keptWeight,
    totalWeight,
    spreadBps: furthest === m0 ? NO_DEVIATION : devBps(at(furthest).price, centre.price),
    low,
    high,
  }
}

/** clamp(ceil((22239/5000) × MADw), 200, 1000). Rounds up: a threshold must not reject the deviation it comes from. */
export function tau(madBps: Fraction): bigint {
  // A float usually decides: prices are much closer together than the least threshold.
  if ((Number(madBps.num) / Number(madBps.den)) * Number(TAU_NUM) < SURELY_MIN) return TAU_MIN_BPS
  const den = TAU_DEN * madBps.den
  const scaled = (TAU_NUM * madBps.num + den - 1n) / den
  if (scaled < TAU_MIN_BPS) return TAU_MIN_BPS
  return scaled > TAU_MAX_BPS ? TAU_MAX_BPS : scaled
}

/**
 * MADw: the median of dev_bps from m0, weighted by capacity. Below and above m0 the deviations are already sorted, so
 * the two sides are merged outwards from m0 until half of the capacity is passed.
 */
function medianDeviation(
  observations: readonly Observation[],
  approxes: readonly Approx[],
  order: readonly Count[],
  m0: Count,
): Fraction {
  const centre = observations[m0] as Observation
  let total = 0n
  for (const { capacity } of observations) total += capacity
  assert(total > 0n, 'an observation has weight but none has capacity')

  let above = order.indexOf(m0) + 1
  let below = above - 2
  let reached = centre
  let cumulative = reached.capacity
  const half = halfOf(total)
  while (cumulative < half) {
    const isBelowNext =
      above === order.length ||
      (below >= 0 && isAboveFurther(observations, approxes, m0, order[below] as Count, order[above] as Count))
    reached = observations[(isBelowNext ? order[below--] : order[above++]) as Count] as Observation
    cumulative += reached.capacity
  }
  return reached === centre ? NO_DEVIATION : devBps(reached.price, centre.price)
}

/** Whether the observation `above` the median deviates further from it than the one `below`. */
function isAboveFurther(
  observations: readonly Observation[],
  approxes: readonly Approx[],
  m0: Count,
  below: Count,
  above: Count,
): boolean {
  const sign = furtherFromApprox(approxes[m0] as Approx, approxes[below] as Approx, approxes[above] as Approx)
  if (sign !== 0) return sign > 0
  const priceAt = (index: Count) => (observations[index] as Observation).price
  return furtherFrom(priceAt(m0), priceAt(below), priceAt(above)) > 0
}

/** At least two pools and at least two deployments. */
function isIndependent(observations: readonly Observation[], indices: readonly Count[]): boolean {
  const { source } = observations[indices[0] as Count] as Observation
  let hasTwoPools = false
  let hasTwoDeployments = false
  for (const index of indices) {
    const other = (observations[index] as Observation).source
    if (other.id !== source.id) hasTwoPools = true
    if (other.deploymentId !== source.deploymentId) hasTwoDeployments = true
  }
  return hasTwoPools && hasTwoDeployments
}
