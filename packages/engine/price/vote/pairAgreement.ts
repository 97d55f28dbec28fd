/**
 * How well the pools of one pair agree: their marginal ratios through the same one-pass rule that routes
 * go through, weighted by effective depth in Y. Worked out once per pair and moment.
 *
 * Dust does not vote here either: a pool with less than the observation share of the pair's depth neither
 * counts as a source nor splits the others. A pool the others outvote carries its own deviation.
 */
import { apart, bpsMore } from '../../exact/apart.ts'
import * as fraction from '../../exact/fraction.ts'
import type { Pool, PoolState } from '../../state.ts'
import { type Count, count } from '../../units.ts'
import { edgeAgreement } from '../../rules/agreement.ts'
import { type Consensus, consensus, type Observation, TAU_MIN_BPS } from '../../rules/consensus.ts'
import type { Agreement } from '../evaluation.ts'
import { memory } from '../../memory/switch.ts'
import { effective, isFull } from '../../rules/depthAverage.ts'
import type { Moment } from '../moment.ts'
import type { Policy } from '../../policy/policy.ts'
import { ascending, devBps, halfOf } from '../../rules/weightedMedian.ts'

const ZERO = { num: 0n, den: 1n }

export function pairAgreement(moment: Moment, pool: Pool): Agreement {
  const pools = pool.around.pair
  if (pools.length === 1) return alone(moment)
  let byPool = moment.agreements.get(pools)
  if (byPool === undefined) {
    byPool = agreed(moment, pools)
    moment.agreements.set(pools, byPool)
  }
  return byPool.get(pool) ?? alone(moment)
}

type ByPool = ReadonlyMap<Pool, Agreement>

/** What a pair agreed on last, with all that it follows from. */
export type LastAgreement = {
  readonly policy: Policy
  readonly states: readonly PoolState[]
  readonly byPool: ByPool
  /** No average is still climbing: the weights stand still until a pool changes. */
  readonly isSettled: boolean
  readonly ballot: Ballot | null
}

/**
 * A vote of pools so close to each other that none is rejected whatever its weight: what they agree on follows from who
 * is heard and which of them is the median. Climbing weights seldom change either.
 */
type Ballot = {
  /** By ascending price. */
  readonly pools: readonly Pool[]
  readonly isHeard: readonly boolean[]
  readonly median: Pool
}

function agreed(moment: Moment, pools: readonly Pool[]): ByPool {
  const { index, policyView } = moment.state
  const { policy } = moment
  const known = index.agreements.get(pools)
  if (
    memory.isOn &&
    known !== undefined &&
    known.policy === policy &&
    pools.every(({ state }, at) => state === known.states[at]) &&
    (known.isSettled || (known.ballot !== null && isSameVote(moment, known.ballot)))
  )
    return known.byPool
  const { byPool, ballot } = agreementsOf(moment, pools)
  if (policy === policyView.policy) {
    const isSettled = pools.every(({ state: { average } }) => average === null || isFull(average))
    index.agreements.set(pools, {
      policy,
      states: pools.map(({ state }) => state),
      byPool,
      isSettled,
      ballot,
    })
  }
  return byPool
}

function isSameVote(moment: Moment, { pools, isHeard, median }: Ballot): boolean {
  const weights: bigint[] = []
  let total = 0n
  for (const pool of pools) {
    const weight = weightOf(moment, pool)
    weights.push(weight)
    total += weight
  }
  const least = leastHeard(moment, total)
  let heard = total
  for (let at = 0; at < pools.length; at++) {
    const weight = weights[at] as bigint
    if (weight * 10_000n >= least !== isHeard[at]) return false
    if (isHeard[at] === false) heard -= weight
  }
  const half = halfOf(heard)
  let cumulative = 0n
  for (let at = 0; at < pools.length; at++) {
    if (isHeard[at] === false) continue
    cumulative += weights[at] as bigint
    if (cumulative >= half) return pools[at] === median
  }
  return false
}

type Voter = Observation & { readonly source: Pool }

function agreementsOf(moment: Moment, pools: readonly Pool[]): Pick<LastAgreement, 'byPool' | 'ballot'> {
  const byPool = new Map<Pool, Agreement>()
  const eligible = eligibleAmong(moment, pools)
  const voters = heardAmong(moment, eligible)
  const verdict = consensus(voters)
  if (verdict === null) return { byPool, ballot: null }

  const survivors = verdict.survivors.map(at => (voters[at] as Voter).source)
  const common = {
    sources: count(survivors.length),
    deployments: count(new Set(survivors.map(({ deploymentId }) => deploymentId)).size),
    keptWeight: verdict.keptWeight,
    totalWeight: verdict.totalWeight,
    unresolved: verdict.unresolved,
  }
  const shared = edgeAgreement({ ...common, spreadBps: verdict.spreadBps }, moment.policy)
  const median = voters[verdict.m0] as Voter
  for (const pool of survivors) byPool.set(pool, shared)
  for (const pool of pools) {
    if (byPool.has(pool) || !pool.state.verified || pool.state.marginal === null) continue
    const own = devBps(pool.state.marginal, median.price)
    const agrees = own.num * verdict.spreadBps.den <= verdict.spreadBps.num * own.den
    byPool.set(pool, agrees ? shared : edgeAgreement({ ...common, spreadBps: own }, moment.policy))
  }
  return { byPool, ballot: ballotOf(eligible, voters, verdict) }
}

/** Null where another weight could change more than who is heard and who is the median. */
function ballotOf(
  eligible: readonly Voter[],
  voters: readonly Voter[],
  { m0, rejected, survivors }: Consensus,
): Ballot | null {
  if (rejected.includes(true) || eligible.some(({ weight }) => weight === 0n)) return null
  const voterAt = (at: Count | undefined) => voters[at as Count] as Voter
  if (apart(voterAt(survivors[0]).price, voterAt(survivors.at(-1)).price, bpsMore(TAU_MIN_BPS)) > 0)
    return null
  const isAll = voters.length === eligible.length
  const order = isAll ? survivors.map(voterAt) : ascending(eligible).map(at => eligible[at] as Voter)
  return {
    pools: order.map(({ source }) => source),
    isHeard: order.map(voter => isAll || voters.includes(voter)),
    median: voterAt(m0).source,
  }
}

/** Verified pools with a price and depth. */
function eligibleAmong(moment: Moment, pools: readonly Pool[]): Voter[] {
  const eligible: Voter[] = []
  const ceilingPpm = BigInt(moment.policy.fee_ceiling_ppm)
  for (const pool of pools) {
    const { verified, marginal, depthY, history } = pool.state
    if (!verified || marginal === null || depthY === null || pool.feePpm > ceilingPpm) continue
    const weight = weightOf(moment, pool)
    const near = history.open === null ? fraction.near(marginal) : history.open.near
    eligible.push({ id: pool.id, price: marginal, near, weight, capacity: weight, source: pool })
  }
  return eligible
}

/** Those that are not dust. */
function heardAmong(moment: Moment, eligible: readonly Voter[]): Voter[] {
  let total = 0n
  for (const { weight } of eligible) total += weight
  const least = leastHeard(moment, total)
  return eligible.filter(({ weight }) => weight > 0n && weight * 10_000n >= least)
}

const weightOf = ({ atMs }: Moment, { state: { average } }: Pool): bigint =>
  average === null ? 0n : effective(average, atMs)

/** Ten thousand times a weight must reach this to be heard. */
const leastHeard = ({ policy }: Moment, total: bigint): bigint => total * BigInt(policy.observation_share_bps)

const ALONE = {
  sources: count(1),
  deployments: count(1),
  spreadBps: ZERO,
  keptWeight: 1n,
  totalWeight: 1n,
  unresolved: false,
}

/** A pool with no other of its pair to compare with: the same for all of them. */
function alone(moment: Moment): Agreement {
  moment.lone.agreement ??= edgeAgreement(ALONE, moment.policy)
  return moment.lone.agreement
}
