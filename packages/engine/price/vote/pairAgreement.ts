/**
 * How well the pools of one pair agree: their marginal ratios pass through the same one-pass rule as routes, weighted
 * by effective depth in Y.
 *
 * Dust does not vote here either: a pool below the floor of the pair's depth neither counts as a source nor splits
 * the others. A pool that is outvoted carries its own deviation.
 */
import * as fraction from '../../exact/fraction.ts'
import type { Pool } from '../../entities.ts'
import { count } from '../../units.ts'
import { type Ballot, ballotOf, isSameAgreement, lastAgreement, type Voter } from '../../memory/pairBallot.ts'
import { edgeAgreement, pairWeight } from '../../rules/agreement.ts'
import { consensus } from '../../rules/consensus.ts'
import { floorOf, leastHeard } from '../../rules/observationFloor.ts'
import { feeOf } from '../../rules/poolFee.ts'
import type { Agreement } from '../evaluation.ts'
import type { Moment } from '../moment.ts'
import type { Policy } from '../../policy/policy.ts'
import { devBps } from '../../rules/weightedMedian.ts'

const ZERO = { num: 0n, den: 1n }

type Agreed = { readonly byPool: ReadonlyMap<Pool, Agreement>; readonly ballot: Ballot | null }

/** An agreement for each pool with a vote; the others count as single pools. */
export function agreementsOf(moment: Moment, pools: readonly Pool[]): ReadonlyMap<Pool, Agreement> {
  const { policy, atMs, state } = moment
  const { agreements } = state.index
  const last = agreements.get(pools)
  if (last !== undefined && isSameAgreement(last, policy, pools, atMs)) return last.byPool
  const { byPool, ballot } = agree(moment, pools)
  // Results under another policy are not cached.
  if (policy === state.policyView.policy) agreements.set(pools, lastAgreement(policy, pools, byPool, ballot))
  return byPool
}

function agree(moment: Moment, pools: readonly Pool[]): Agreed {
  const byPool = new Map<Pool, Agreement>()
  const eligible = eligibleAmong(moment, pools)
  let total = 0n
  for (const { weight } of eligible) total += weight
  const weights = eligible.map(({ weight }) => weight)
  const least = leastHeard(total, floorOf(moment.policy, weights, total))
  const voters = eligible.filter(({ weight }) => weight >= least)
  const verdict = consensus(voters, moment.policy.revision === 1 ? null : total)
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

/** Verified pools with a price and depth. */
function eligibleAmong(moment: Moment, pools: readonly Pool[]): Voter[] {
  const eligible: Voter[] = []
  const ceilingPpm = BigInt(moment.policy.fee_ceiling_ppm)
  for (const pool of pools) {
    const { verified, marginal, depthY, history } = pool.state
    if (!verified || marginal === null || depthY === null || feeOf(pool) > ceilingPpm) continue
    const weight = pairWeight(pool, moment.atMs)
    const approx = history.open === null ? fraction.approx(marginal) : history.open.approx
    eligible.push({ id: pool.id, price: marginal, approx, weight, capacity: weight, source: pool })
  }
  return eligible
}

const ALONE = {
  sources: count(1),
  deployments: count(1),
  spreadBps: ZERO,
  keptWeight: 1n,
  totalWeight: 1n,
  unresolved: false,
}

/** The agreement of a pool without another of its pair to compare with: the same for all such pools. */
export const loneAgreement = (policy: Policy): Agreement => edgeAgreement(ALONE, policy)
