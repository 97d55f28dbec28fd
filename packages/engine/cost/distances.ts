/**
 * The plans to compare: for each pool the distances at which its vote may change, and all combinations of them.
 * Nothing here decides anything; the live rules decide whether a plan works.
 */
import { compareExactly, type Fraction } from '../exact/fraction.ts'
import { type Count, count } from '../units.ts'
import type { Lever, Short } from './lever.ts'
import type { Plan } from './plan.ts'

/**
 * Distances within the least and the greatest tolerance for outliers (R-consensus-2), and within the widest spread
 * that leaves a score of 4 (R-agreement-5): this far from the wanted price a pool supports it, or at least does not
 * contradict it.
 */
export const SHORTS: readonly Short[] = [null, 95_000n, 49_500n, 19_500n, 0n]

/** Up to this many pools all plans are compared, with more than `FEWER` of them coarser ones: 6^4 and 3^6. */
export const FEW = 6
const FEWER = 4
const OPTIONS = { few: 6, many: 3 } as const

/**
 * Pools that are not pushed must not contradict: beyond the tolerance for outliers they are out of the vote. If the
 * wanted price is closer to them than the least or the greatest tolerance, all pushes may go that much further.
 */
const OUTLYING: readonly Fraction[] = [
  { num: 10_202n, den: 10_000n },
  { num: 11_002n, den: 10_000n },
]
const MOST_BEYOND = 150_000n
/** The most unpushed pools considered, heaviest first. */
const MAX_OUTLYING = 3

/** Distances that differ by no more than this count as one. */
const SAME = 50n

const MILLION = 1_000_000n

/** Not pushed at all, and the distances that need a push, the furthest short first; fewer when there are many pools. */
export function distancesOf(lever: Lever, isUp: boolean, levers: Count): readonly Short[] {
  const most = levers > FEWER ? OPTIONS.many : OPTIONS.few
  const distances: bigint[] = [0n]
  for (const short of [...lever.shortsOf(isUp), ...SHORTS.toReversed()]) {
    if (short === null || distances.length >= most - 1 || lever.at(short, isUp) === null) continue
    if (distances.every(each => short > each + SAME || short < each - SAME)) distances.push(short)
  }
  return [null, ...distances.sort((a, b) => (a > b ? -1 : 1))]
}

/** All plans of these distances, each extended by `beyond`. */
export function plansOf(levers: readonly Lever[], isUp: boolean, beyond: bigint): readonly Plan[] {
  return levers.reduce<readonly Plan[]>(
    (plans, lever) => {
      const distances = distancesOf(lever, isUp, count(levers.length))
      return plans.flatMap(plan =>
        distances.map(short => new Map(plan).set(lever, short === null ? null : short + beyond)),
      )
    },
    [new Map()],
  )
}

/** Plans that differ from the given one in one or two pools. */
export function neighboursOf(plan: Plan, isUp: boolean): readonly Plan[] {
  const levers = [...plan.keys()]
  const plans: Plan[] = []
  for (const [at, lever] of levers.entries())
    for (const short of distancesOf(lever, isUp, count(levers.length))) {
      const one = new Map(plan).set(lever, short)
      plans.push(one)
      for (const other of levers.slice(at + 1))
        for (const otherShort of distancesOf(other, isUp, count(levers.length)))
          plans.push(new Map(one).set(other, otherShort))
    }
  return plans
}

/** How much further all pushes may have to go so that an unpushed pool is out of the vote with all its routes. */
export function beyondOf(base: readonly Lever[], isUp: boolean): readonly bigint[] {
  if (base.length < 2 || base.length > FEWER) return []
  const all = base.slice(0, MAX_OUTLYING).flatMap(lever => {
    const prices = lever.voicesAt(null, isUp).map(voice => voice.price)
    // The price closest to the wanted one, or furthest past it.
    const price = prices.reduce((most, each) => (compareExactly(each, most) > 0 === isUp ? each : most))
    return OUTLYING.map(({ num, den }) =>
      isUp
        ? (price.den * den * MILLION) / (price.num * num) - MILLION
        : (price.num * den * MILLION) / (price.den * num) - MILLION,
    )
  })
  return all.filter(each => each < -SAME && each > -MOST_BEYOND)
}
