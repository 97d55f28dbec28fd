/**
 * How well the pools of one pair agree: their marginal ratios through the same one-pass rule that routes
 * go through, weighted by effective depth in Y. Worked out once per pair and moment.
 *
 * Dust does not vote here either: a pool with less than the observation share of the pair's depth neither
 * counts as a source nor splits the others. A pool the others outvote carries its own deviation.
 */
import * as ratio from '../exact/ratio.ts'
import type { Pool, PoolState } from '../state.ts'
import { count } from '../units.ts'
import { edgeAgreement } from './agreement.ts'
import { consensus, type Observation } from './consensus.ts'
import type { Agreement } from './evaluation.ts'
import { figuresOf } from './figures.ts'
import type { Moment } from './moment.ts'
import type { Policy } from './policy.ts'
import { devBps } from './weightedMedian.ts'

const ZERO = { num: 0n, den: 1n }

export function pairAgreement(moment: Moment, pool: Pool): Agreement {
  const pools = pool.around.pair
  if (pools.length === 1) return alone(moment)
  let byPool = moment.agreements.get(pools)
  if (byPool === undefined) {
    byPool = lasting(moment, pools) ?? agreementsOf(moment, pools)
    moment.agreements.set(pools, byPool)
  }
  return byPool.get(pool) ?? alone(moment)
}

/** What a pair agreed on last, with all that it follows from. */
export type LastingAgreement = {
  readonly policy: Policy
  readonly states: readonly PoolState[]
  readonly byPool: ReadonlyMap<Pool, Agreement>
}

/**
 * While no average is still climbing the weights stand still, and what a pair agrees on changes with its pools
 * alone. Null where time has a part in it.
 */
function lasting(moment: Moment, pools: readonly Pool[]): LastingAgreement['byPool'] | null {
  const { index, policyView } = moment.state
  const { policy } = moment
  const known = index.agreements.get(pools)
  if (
    known !== undefined &&
    known.policy === policy &&
    known.states.length === pools.length &&
    pools.every(({ state }, at) => state === known.states[at])
  )
    return known.byPool
  if (policy !== policyView.policy || !pools.every(pool => figuresOf(moment, pool).isFull)) return null
  const byPool = agreementsOf(moment, pools)
  index.agreements.set(pools, { policy, states: pools.map(({ state }) => state), byPool })
  return byPool
}


type Voter = Observation & { readonly source: Pool }

function agreementsOf(moment: Moment, pools: readonly Pool[]): Map<Pool, Agreement> {
  const byPool = new Map<Pool, Agreement>()
  const voters = votersAmong(moment, pools)
  const verdict = consensus(voters)
  if (verdict === null) return byPool

  const survivors = verdict.survivors.map(at => (voters[at] as Voter).source)
  const common = {
    sources: count(survivors.length),
    deployments: count(new Set(survivors.map(({ deploymentId }) => deploymentId)).size),
    keptWeight: verdict.keptWeight,
    totalWeight: verdict.totalWeight,
    unresolved: verdict.unresolved,
  }
  const shared = edgeAgreement({ ...common, spreadBps: verdict.spreadBps }, moment.policy)
  const reference = (voters[verdict.m0] as Voter).price
  for (const pool of survivors) byPool.set(pool, shared)
  for (const pool of pools) {
    if (byPool.has(pool) || !pool.state.verified || pool.state.marginal === null) continue
    const own = devBps(pool.state.marginal, reference)
    const agrees = own.num * verdict.spreadBps.den <= verdict.spreadBps.num * own.den
    byPool.set(pool, agrees ? shared : edgeAgreement({ ...common, spreadBps: own }, moment.policy))
  }
  return byPool
}

/** Verified pools with a price and depth, without the dust. */
function votersAmong(moment: Moment, pools: readonly Pool[]): Voter[] {
  const voters: Voter[] = []
  const ceilingPpm = BigInt(moment.policy.fee_ceiling_ppm)
  let total = 0n
  for (const pool of pools) {
    const { verified, marginal, depthY, history } = pool.state
    if (!verified || marginal === null || depthY === null || pool.feePpm > ceilingPpm) continue
    const weight = figuresOf(moment, pool).effectiveAt(moment.atMs)
    if (weight === null || weight === 0n) continue
    total += weight
    const near = history.open === null ? ratio.near(marginal) : history.open.near
    voters.push({ id: pool.id, price: marginal, near, weight, capacity: weight, source: pool })
  }
  const least = total * BigInt(moment.policy.observation_share_bps)
  return voters.filter(({ weight }) => weight * 10_000n >= least)
}

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
