/**
 * A guess at what the vote would make of a plan, from the weights of now: which plans are worth trying first. It decides nothing,
 * the live rules do, and it errs towards trying.
 */
import { bpsMore, apart } from '../exact/apart.ts'
import { consensus } from '../rules/consensus.ts'
import type { Lever, Short } from './lever.ts'

/** What a push does to a pool's weight, up or down, in hundredths of it. */
const DRIFTS = [100n, 108n, 92n] as const

/** The widest spread that leaves a score of 4, and a little. */
const SPREAD = bpsMore(510n)

/** How far from the wanted price a guess may be. */
const NEARLY = bpsMore(5n)

export function isLikely(
  plan: ReadonlyMap<Lever, Short>,
  standing: readonly Lever[],
  isUp: boolean,
): boolean {
  return DRIFTS.some(drift => isCarried(plan, standing, isUp, drift))
}

function isCarried(
  plan: ReadonlyMap<Lever, Short>,
  standing: readonly Lever[],
  isUp: boolean,
  drift: bigint,
): boolean {
  const all = [...standing.map(lever => [lever, null] as const), ...plan]
  const observations = all.map(([lever, short]) => {
    const weight = short === null ? lever.weight * 100n : lever.weight * drift
    return {
      id: lever.pool.id,
      price: lever.priceAt(short, isUp),
      weight,
      capacity: weight,
      source: lever.pool,
    }
  })
  const verdict = consensus(observations)
  if (verdict === null || verdict.unresolved) return false
  const priceOf = (at: typeof verdict.selected) => (observations[at] as (typeof observations)[0]).price
  const said = priceOf(verdict.selected)
  const isThere = isUp ? said.num >= said.den : said.num <= said.den
  const centre = priceOf(verdict.m0)
  const isTight = [verdict.low, verdict.high].every(at => apart(priceOf(at), centre, SPREAD) <= 0)
  return isTight && (isThere || apart(said, ONE, NEARLY) <= 0)
}

const ONE = { num: 1n, den: 1n }
