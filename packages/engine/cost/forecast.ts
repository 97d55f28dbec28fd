/**
 * Guesses the vote on a plan from the present weights, to choose the plans worth trying first. It decides nothing
 * (the live rules do), and when in doubt it favours trying.
 */
import { bpsMore, apart } from '../exact/apart.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Pool } from '../entities.ts'
import type { Policy } from '../policy/policy.ts'
import { consensus } from '../rules/consensus.ts'
import { floorOf, leastHeard } from '../rules/observationFloor.ts'
import type { Lever, Short } from './lever.ts'

/** The change of a pool's weight through a push, up or down, in hundredths. */
const DRIFTS = [100n, 108n, 92n] as const

/** The widest spread that leaves a score of 4, plus a small margin. */
const SPREAD = bpsMore(510n)

/** How far from the wanted price a guess may be. */
const NEARLY = bpsMore(5n)

const ONE: Fraction = { num: 1n, den: 1n }

/**
 * `standing` are pools that take part without a push. If an asset is pushed as a whole, the vote of that asset decides.
 */
export function isLikely(
  policy: Policy,
  plan: ReadonlyMap<Lever, Short>,
  standing: readonly Lever[],
  isUp: boolean,
): boolean {
  const all = [...standing.map(lever => [lever, null] as const), ...plan]
  const voting = all.some(([lever]) => lever.role === 'asset') ? 'asset' : 'own'
  const voters = all.filter(([lever]) => lever.role === voting)
  const factors = new Map<Pool, Fraction>()
  for (const [lever, short] of plan)
    if (lever.role === 'next' && short !== null) factors.set(lever.pool, lever.factorAt(short, isUp))
  return DRIFTS.some(drift => isCarried(policy, voters, factors, isUp, drift))
}

function isCarried(
  policy: Policy,
  voters: readonly (readonly [Lever, Short])[],
  factors: ReadonlyMap<Pool, Fraction>,
  isUp: boolean,
  drift: bigint,
): boolean {
  const pools = voters.map(([lever, short]) => {
    const drifted = short === null ? 100n : drift
    return { lever, short, drifted, weight: lever.weight * drifted }
  })
  const total = pools.reduce((sum, { weight }) => sum + weight, 0n)
  const weights = pools.map(({ weight }) => weight)
  const least = leastHeard(total, floorOf(policy, weights, total))
  const heard = pools
    .filter(({ weight }) => weight >= least)
    .flatMap(({ lever, short, drifted }) =>
      lever.voicesAt(short, isUp).map(({ price, next, weight, capacity }) => ({
        id: lever.pool.id,
        price: times(price, next === null ? undefined : factors.get(next)),
        weight: weight * drifted,
        capacity: capacity * drifted,
        source: lever.pool,
      })),
    )
  const verdict = consensus(heard, policy.revision === 1 ? null : total)
  if (verdict === null || verdict.unresolved) return false
  const priceOf = (at: typeof verdict.selected) => (heard[at] as (typeof heard)[0]).price
  const said = priceOf(verdict.selected)
  const isThere = isUp ? said.num >= said.den : said.num <= said.den
  const centre = priceOf(verdict.m0)
  const isTight = [verdict.low, verdict.high].every(at => apart(priceOf(at), centre, SPREAD) <= 0)
  return isTight && (isThere || apart(said, ONE, NEARLY) <= 0)
}

const times = (price: Fraction, factor: Fraction | undefined): Fraction =>
  factor === undefined ? price : { num: price.num * factor.num, den: price.den * factor.den }
