/**
 * The cheapest plan found that makes the service publish a wanted price: which pools are pushed, and how far. Plans
 * are compared by the loss of a round trip while nobody trades back; the live rules decide whether a plan works.
 *
 * A plan has a distance for each pool: to the point at which one of its routes has the wanted price, a given number
 * of bps short of it, or no push. With few pools all such plans are tried, cheapest first. With many, the search
 * starts from all pools and works down. Either way it then shortens each push, and tries cheaper plans that differ in
 * two pools. Last come plans that push pools of the token and of its assets together.
 */
import type { Policy } from '../policy/policy.ts'
import { count } from '../units.ts'
import type { Bases } from './bases.ts'
import type { Wanted } from './belief.ts'
import { beyondOf, distancesOf, FEW, neighboursOf, plansOf, SHORTS } from './distances.ts'
import { isLikely } from './forecast.ts'
import type { Costs, Lever, Short } from './lever.ts'
import { cheapestFirst, costsOf, dearestFirst, type Plan, pushesOf } from './plan.ts'
import type { Push } from './push.ts'
import type { Rehearsal } from './rehearsal.ts'
import { Trials } from './trials.ts'

/**
 * Plans tried for one move; each takes at most two evaluations. The second limit is for what comes last: plans that
 * push pools of the token and of assets together.
 */
const MAX_WHOLE = 160
const MAX_MIXED = 40
export const MAX_TRIALS = MAX_WHOLE + MAX_MIXED

/**
 * Limits within that: plans of one set of pools tried cheapest first, and plans that differ from the best in two
 * pools.
 */
const MAX_CHEAPEST_FIRST = 40
const MAX_NEIGHBOURS = 24

/** The most pools of assets that are pushed together with pools of the token. */
const MAX_NEXT = 3

/** Bisection steps of a push between a distance that works and one that does not. */
const HALVINGS = 6

export type FoundPlan = { readonly pushes: readonly Push[]; readonly costs: Costs }

export class Search {
  readonly #policy: Policy
  readonly #wanted: Wanted
  readonly #isUp: boolean
  readonly #trials: Trials
  #best: Plan | null = null
  /** Pools that support the best plan without a push. */
  #standing: readonly Lever[] = []

  constructor(rehearsal: Rehearsal, wanted: Wanted) {
    this.#policy = rehearsal.policy
    this.#wanted = wanted
    this.#isUp = wanted.isUp
    this.#trials = new Trials(rehearsal, wanted)
  }

  run({ whole, mixed }: Bases): FoundPlan | null {
    this.#trials.limit = MAX_WHOLE
    for (const base of whole) {
      const before = this.#best
      this.#searchIn(base)
      for (const beyond of beyondOf(base, this.#isUp)) this.#tryCheapestFirst(...this.#parted(base), beyond)
      if (this.#best !== before) this.#standing = this.#parted(base)[1]
    }
    this.#refine()
    this.#trials.limit = MAX_TRIALS
    if (this.#isMixedCheaper(mixed)) this.#refine()
    if (this.#best === null) return null
    return { pushes: pushesOf(this.#best, this.#isUp), costs: costsOf(this.#best, this.#isUp) }
  }

  #refine(): void {
    if (this.#best === null) return
    this.#shorten()
    while (this.#improve()) this.#shorten()
  }

  /** Tries the heaviest of both kinds of pools; the token's other pools keep their price. */
  #isMixedCheaper(mixed: readonly Lever[]): boolean {
    const before = this.#best
    const [levers, standing] = this.#parted(mixed)
    const [own, next] = [
      levers.filter(({ role }) => role === 'own'),
      levers.filter(({ role }) => role === 'next'),
    ]
    next.length = Math.min(next.length, MAX_NEXT)
    if (next.length === 0) return false
    const rest = own.splice(FEW - next.length)
    this.#tryCheapestFirst([...own, ...next], [...standing, ...rest])
    if (this.#best === before) return false
    this.#standing = [...standing, ...rest]
    return true
  }

  #searchIn(base: readonly Lever[]): void {
    const [levers, standing] = this.#parted(base)
    if (levers.length === 0 || (levers.length <= FEW && this.#tryCheapestFirst(levers, standing))) return
    const whole: Plan = new Map(levers.map(lever => [lever, 0n] as const))
    const fitting = this.#trials.fit(whole)
    if (fitting === null) return
    const others = this.#best
    this.#best = fitting
    this.#tryHeads(levers)
    this.#lower()
    if (others !== null && this.#isDearerThan(others)) this.#best = others
  }

  /** Splits a base into pools to push, and pools that already support the price without a push. */
  #parted(base: readonly Lever[]): readonly [Lever[], Lever[]] {
    const isPushed = (lever: Lever) => lever.at(0n, this.#isUp) !== null
    return [base.filter(isPushed), base.filter(lever => !isPushed(lever))]
  }

  /** True when the cheapest of all plans likely to work was found, or costs more than a known plan. */
  #tryCheapestFirst(levers: readonly Lever[], standing: readonly Lever[], beyond = 0n): boolean {
    const plans = cheapestFirst(plansOf(levers, this.#isUp, beyond), this.#isUp)
    let tried = 0
    let isFound = false
    for (const plan of plans) {
      if (this.#isDearer(plan)) return true
      if (!isLikely(this.#policy, plan, standing, this.#isUp)) continue
      if (++tried > MAX_CHEAPEST_FIRST) break
      const fitting = this.#trials.fit(plan)
      if (fitting === null) continue
      // It may have become longer, so the next plan may be cheaper.
      isFound = true
      this.#keep(fitting)
    }
    return isFound
  }

  /** Pools that carry most for their cost go all the way, the rest part of the way or nowhere. */
  #tryHeads(levers: readonly Lever[]): void {
    const lossOf = (lever: Lever) => lever.costs(0n, this.#isUp).loss
    const order = levers.toSorted((a, b) => (lossOf(a) * b.weight < lossOf(b) * a.weight ? -1 : 1))
    for (const rest of SHORTS.slice(0, -1)) {
      let [fails, works] = [0, order.length]
      while (works - fails > 1) {
        const middle = (fails + works) >> 1
        const plan = new Map(order.map((lever, at) => [lever, at < middle ? 0n : rest] as const))
        const fitting = this.#trials.fit(plan)
        if (fitting === null) fails = middle
        else {
          works = middle
          this.#keep(fitting)
        }
      }
    }
  }

  /** Shortens each push in turn as far as possible, most expensive first. */
  #lower(): void {
    for (const lever of this.#dearestFirst()) {
      const here = this.#best?.get(lever) as Short
      for (const short of SHORTS) {
        if (here === null || (short !== null && short <= here)) break
        const plan: Plan = new Map(this.#best).set(lever, short)
        const fitting = this.#isDearer(plan) ? null : this.#trials.fit(plan)
        if (fitting === null || this.#isDearer(fitting)) continue
        this.#best = fitting
        break
      }
    }
  }

  /** A distance between the one that works and the next shorter one may work too. */
  #shorten(): void {
    for (const lever of this.#dearestFirst()) {
      const here = this.#best?.get(lever)
      if (here === null || here === undefined) continue
      let works = here
      const next = distancesOf(lever, this.#isUp, count(1)).findLast(short => short !== null && short > here)
      let fails = next ?? here + this.#wanted.millionths
      for (let half = 0; half < HALVINGS && fails - works > 1n; half++) {
        const middle = (works + fails) >> 1n
        const plan: Plan = new Map(this.#best).set(lever, middle)
        if (this.#trials.ask(plan).isBelieved) {
          works = middle
          this.#keep(plan)
        } else fails = middle
      }
    }
  }

  /**
   * Looks for the cheapest working plan that differs from the best one in at most two pools. True when there is one.
   */
  #improve(): boolean {
    const best = this.#best as Plan
    const standing = this.#standing
    const plans = cheapestFirst(neighboursOf(best, this.#isUp), this.#isUp)
    let tried = 0
    for (const plan of plans) {
      if (this.#isDearer(plan) || tried >= MAX_NEIGHBOURS) break
      if (!isLikely(this.#policy, plan, standing, this.#isUp)) continue
      tried++
      const fitting = this.#trials.fit(plan)
      if (fitting !== null) this.#keep(fitting)
    }
    return this.#best !== best
  }

  #dearestFirst(): Lever[] {
    return this.#best === null ? [] : dearestFirst(this.#best, this.#isUp)
  }

  #keep(plan: Plan): void {
    if (!this.#isDearer(plan)) this.#best = plan
  }

  #isDearerThan(other: Plan): boolean {
    return this.#best !== null && this.#lossOf(this.#best) > this.#lossOf(other)
  }

  #isDearer(plan: Plan): boolean {
    return this.#best !== null && this.#lossOf(plan) >= this.#lossOf(this.#best)
  }

  #lossOf(plan: Plan): bigint {
    return costsOf(plan, this.#isUp).loss
  }
}
