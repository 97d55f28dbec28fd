/** The ratio of two stables in their pools at one moment, and until when time alone leaves it unchanged. */
import type { Pool } from '../../entities.ts'
import { times, type Fraction } from '../../exact/fraction.ts'
import { nextFlip, reference } from '../../memory/tapeMedian.ts'
import type { Policy } from '../../policy/policy.ts'
import { crossesAt, medianHoldsUntil, type Weighed, weightAt } from '../../rules/averageCrossing.ts'
import { value as averageAt } from '../../rules/depthAverage.ts'
import { microusd } from '../../rules/hopCapacity.ts'
import {
  disputeAt,
  type DisputePool,
  type DisputeSide,
  type StableDispute,
  stableDispute,
} from '../../rules/stableDispute.ts'
import type { Reference } from '../../rules/temporalMedian.ts'
import { earlier, FOREVER, type Timed } from '../../rules/timed.ts'
import { ascending, weightedMedian } from '../../rules/weightedMedian.ts'
import { MICRO, count } from '../../units.ts'
import type { Moment } from '../moment.ts'
import { derivedAt } from './derived.ts'

/** A pool that takes part, and the inputs of its weight. */
export type HeardPool = DisputePool & Weighed

export type PairDispute = StableDispute & { readonly pools: readonly DisputePool[] }

/** The pools of the pair X→Y against the values of the two stables; null when they agree. */
export function pairDispute(
  moment: Moment,
  pair: readonly Pool[],
  x: DisputeSide,
  y: DisputeSide,
): Timed<PairDispute | null> {
  if (moment.policy.revision === 1 || !(x.isFresh || y.isFresh)) return { value: null, untilMs: FOREVER }
  const pools: HeardPool[] = []
  let untilMs = FOREVER
  for (const pool of pair) {
    const heard = heardPool(moment, pool, y.usd)
    untilMs = earlier(untilMs, heard.untilMs)
    if (heard.value !== null) pools.push(heard.value)
  }
  const { policy } = moment
  const dispute = stableDispute(x, y, pools, policy)
  return {
    value: dispute === null ? null : { ...dispute, pools },
    untilMs: earlier(untilMs, weightsUntil(moment, pools, x, y, policy)),
  }
}

/** A pool takes part if it is deep enough on average, has been followed for long enough, and has no fault. */
function heardPool(moment: Moment, pool: Pool, usdOfY: Fraction): Timed<HeardPool | null> {
  const { atMs, policy } = moment
  const { average, depthY } = pool.state
  const { flaw, scale } = derivedAt(moment, pool)
  if (flaw !== null || scale === null || average === null || depthY === null || depthY === 0n)
    return { value: null, untilMs: FOREVER }
  const unit = { num: usdOfY.num * MICRO, den: usdOfY.den * scale.to }
  const { min_average_usd, lone_average_usd } = policy.stable.dispute
  const least = unitsOf(min_average_usd, unit)
  const averageY = averageAt(average, atMs)
  const changesMs = crossesAt(average, least, atMs)
  if (averageY < least) return { value: null, untilMs: changesMs }
  const { value: past, untilMs: flipsMs } = pastAt(pool, atMs)
  const untilMs = earlier(
    earlier(changesMs, crossesAt(average, unitsOf(lone_average_usd, unit), atMs)),
    flipsMs,
  )
  if ('reason' in past) return { value: null, untilMs }
  const value = {
    id: pool.id,
    median: times(past.median, scale.whole),
    weight: weightAt({ depthY, average }, atMs),
    averageMicrousd: microusd(averageY, unit),
    depthY,
    average,
  }
  return { value, untilMs }
}

/** The five-minute median, and when it expires; valid until then as long as the pool's state does not change. */
function pastAt({ around, state }: Pool, atMs: Moment['atMs']): Timed<Reference> {
  const known = around.past.recall(atMs, state, null, null, null)
  if (known !== null) return known
  const value = reference(state.history, atMs)
  const untilMs = nextFlip(state.history, atMs, value)
  return around.past.keep(atMs, state, null, null, null, { value: { value, untilMs }, untilMs })
}

/** The fewest units of Y worth this many dollars; at least one, because a pool without depth never takes part. */
function unitsOf(usd: Policy['min_depth_usd'], unit: Fraction): bigint {
  const units = (BigInt(usd) * MICRO * unit.den + unit.num - 1n) / unit.num
  return units > 0n ? units : 1n
}

/** Climbing weights matter only when a different median would change the outcome. */
function weightsUntil(
  { atMs }: Moment,
  pools: readonly HeardPool[],
  x: DisputeSide,
  y: DisputeSide,
  policy: Policy,
) {
  if (pools.length < 2) return FOREVER
  const outcomes = new Set(
    pools.map(({ median }) => {
      const dispute = disputeAt(median, x, y, pools, policy)
      return dispute === null ? '' : `${dispute.disputed} ${dispute.cap}`
    }),
  )
  if (outcomes.size === 1) return FOREVER
  const order = ascending(pools.map(({ id, median }) => ({ id, price: median })))
  const sorted = order.map(at => pools[at] as HeardPool)
  const median = sorted.indexOf(weightedMedian(sorted, ({ weight }) => weight))
  return medianHoldsUntil(sorted, count(median), atMs)
}
