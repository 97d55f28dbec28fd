/**
 * The last agreement of the pools of a pair, and whether it still holds. Law: a recalled agreement equals a new vote.
 * Gain: the market of `npm run bench:against` is re-priced 4 % faster.
 */
import type { Pool, PoolState } from '../entities.ts'
import { apart, bpsMore } from '../exact/apart.ts'
import type { Policy } from '../policy/policy.ts'
import type { Agreement } from '../price/evaluation.ts'
import { type Consensus, type Observation, TAU_MIN_BPS } from '../rules/consensus.ts'
import { pairWeight } from '../rules/agreement.ts'
import { isFull } from '../rules/depthAverage.ts'
import { floorOf, leastHeard } from '../rules/observationFloor.ts'
import { ascending, halfOf } from '../rules/weightedMedian.ts'
import type { Count, Ms } from '../units.ts'
import { memory } from './switch.ts'

export type Voter = Observation & { readonly source: Pool }

/** The agreement of a pair, with all of its inputs. */
export type LastAgreement = {
  readonly policy: Policy
  readonly states: readonly PoolState[]
  readonly byPool: ReadonlyMap<Pool, Agreement>
  /** No average is still rising: the weights are constant until a pool changes. */
  readonly isSettled: boolean
  readonly ballot: Ballot | null
}

/**
 * A vote of pools so close to each other that none is rejected whatever its weight: the result follows from which
 * pools vote and which one is the median. Rising weights seldom change either.
 */
export type Ballot = {
  /** By ascending price. */
  readonly pools: readonly Pool[]
  readonly isHeard: readonly boolean[]
  readonly median: Pool
}

export const lastAgreement = (
  policy: Policy,
  pools: readonly Pool[],
  byPool: ReadonlyMap<Pool, Agreement>,
  ballot: Ballot | null,
): LastAgreement => ({
  policy,
  states: pools.map(({ state }) => state),
  byPool,
  isSettled: pools.every(({ state: { average } }) => average === null || isFull(average)),
  ballot,
})

/** Whether the pools would reach the same agreement at `atMs`. */
export const isSameAgreement = (
  { policy, states, isSettled, ballot }: LastAgreement,
  now: Policy,
  pools: readonly Pool[],
  atMs: Ms,
): boolean =>
  memory.isOn &&
  policy === now &&
  pools.every(({ state }, at) => state === states[at]) &&
  (isSettled || (ballot !== null && isSameVote(ballot, now, atMs)))

function isSameVote({ pools, isHeard, median }: Ballot, policy: Policy, atMs: Ms): boolean {
  const weights: bigint[] = []
  let total = 0n
  for (const pool of pools) {
    const weight = pairWeight(pool, atMs)
    weights.push(weight)
    total += weight
  }
  const least = leastHeard(total, floorOf(policy, weights, total))
  let heard = total
  for (let at = 0; at < pools.length; at++) {
    const weight = weights[at] as bigint
    if (weight >= least !== isHeard[at]) return false
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

/** Null if another weight could change more than the voters and the median. */
export function ballotOf(
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
