/**
 * The cheapest plan found that makes the service publish a wanted price: which pools are pushed, and how far. Plans
 * are compared by the loss of a round trip while nobody trades back; the live rules decide whether a plan works.
 *
 * A plan has a distance for each pool: to the point at which one of its routes has the wanted price, a given number
 * of bps short of it, or no push. With few pools all such plans are tried, cheapest first. With many, the search
 * starts from all pools and works down. Either way it then shortens each push, and tries cheaper plans that differ in
 * two pools.
 */
import { type Count, count } from '../units.ts'
import { type Tried, tried, type Wanted } from './belief.ts'
import { beyondOf, distancesOf, FEW, neighboursOf, type Plan, plansOf, SHORTS } from './distances.ts'
import { isLikely } from './forecast.ts'
import type { Costs, Lever, Short } from './lever.ts'
import type { Push } from './push.ts'
import type { Rehearsal } from './rehearsal.ts'

/** Plans tried for one move; each takes at most two evaluations. */
export const MAX_TRIALS = 160

/**
 * Limits within that: plans of one set of pools tried cheapest first, and plans that differ from the best in two
 * pools.
 */
const MAX_CHEAPEST_FIRST = 40
const MAX_NEIGHBOURS = 24

/** A plan that misses the wanted price by no more than this part of the move is adjusted to reach it. */
const MISSED = { num: 6n, den: 10n }

/** A plan that overshoots by less than this is left as it is. */
const EXACT = 100n

/** Bisection steps of a push between a distance that works and one that does not. */
const HALVINGS = 6

export type FoundPlan = { readonly pushes: readonly Push[]; readonly costs: Costs; readonly trials: Count }

export class Search {
  readonly #rehearsal: Rehearsal
  readonly #wanted: Wanted
  #trials = 0
  #best: Plan | null = null
  /** Pools that support the best plan without a push. */
  #standing: readonly Lever[] = []

  constructor(rehearsal: Rehearsal, wanted: Wanted) {
    this.#rehearsal = rehearsal
    this.#wanted = wanted
  }

  /** Each base is a set of pools that carry the price together. */
  run(bases: readonly (readonly Lever[])[]): FoundPlan | null {
    for (const base of bases) {
      const before = this.#best
      this.#searchIn(base)
      for (const beyond of beyondOf(base, this.#wanted.isUp))
        this.#tryCheapestFirst(...this.#parted(base), beyond)
      if (this.#best !== before) this.#standing = this.#parted(base)[1]
    }
    if (this.#best === null) return null
    this.#shorten()
    while (this.#improve()) this.#shorten()
    return {
      pushes: this.#pushes(this.#best),
      costs: this.#costs(this.#best),
      trials: count(this.#trials),
    }
  }

  #searchIn(base: readonly Lever[]): void {
    const [levers, standing] = this.#parted(base)
    if (levers.length === 0 || (levers.length <= FEW && this.#tryCheapestFirst(levers, standing))) return
    const whole: Plan = new Map(levers.map(lever => [lever, 0n] as const))
    const fitting = this.#fit(whole)
    if (fitting === null) return
    const others = this.#best
    this.#best = fitting
    this.#tryHeads(levers)
    this.#lower()
    if (others !== null && this.#isDearerThan(others)) this.#best = others
  }

  /** Splits a base into pools to push, and pools that already support the price without a push. */
  #parted(base: readonly Lever[]): readonly [Lever[], Lever[]] {
    const isPushed = (lever: Lever) => this.#push(lever, 0n) !== null
    return [base.filter(isPushed), base.filter(lever => !isPushed(lever))]
  }

  /** True when the cheapest of all plans likely to work was found, or costs more than a known plan. */
  #tryCheapestFirst(levers: readonly Lever[], standing: readonly Lever[], beyond = 0n): boolean {
    const { isUp } = this.#wanted
    const plans = this.#cheapestFirst(plansOf(levers, isUp, beyond))
    let tried = 0
    let isFound = false
    for (const { plan } of plans) {
      if (this.#isDearer(plan)) return true
      if (!isLikely(this.#rehearsal.policy, plan, standing, isUp)) continue
      if (++tried > MAX_CHEAPEST_FIRST) break
      const fitting = this.#fit(plan)
      if (fitting === null) continue
      // It may have become longer, so the next plan may be cheaper.
      isFound = true
      this.#keep(fitting)
    }
    return isFound
  }

  /** Pools that carry most for their cost go all the way, the rest part of the way or nowhere. */
  #tryHeads(levers: readonly Lever[]): void {
    const lossOf = (lever: Lever) => lever.costs(0n, this.#wanted.isUp).loss
    const order = levers.toSorted((a, b) => (lossOf(a) * b.weight < lossOf(b) * a.weight ? -1 : 1))
    for (const rest of SHORTS.slice(0, -1)) {
      let [fails, works] = [0, order.length]
      while (works - fails > 1) {
        const middle = (fails + works) >> 1
        const plan = new Map(order.map((lever, at) => [lever, at < middle ? 0n : rest] as const))
        const fitting = this.#fit(plan)
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
        const fitting = this.#isDearer(plan) ? null : this.#fit(plan)
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
      const next = distancesOf(lever, this.#wanted.isUp, count(1)).findLast(
        short => short !== null && short > here,
      )
      let fails = next ?? here + this.#wanted.millionths
      for (let half = 0; half < HALVINGS && fails - works > 1n; half++) {
        const middle = (works + fails) >> 1n
        const plan: Plan = new Map(this.#best).set(lever, middle)
        if (this.#ask(plan).isBelieved) {
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
    const plans = this.#cheapestFirst(neighboursOf(best, this.#wanted.isUp))
    let tried = 0
    for (const { plan } of plans) {
      if (this.#isDearer(plan) || tried >= MAX_NEIGHBOURS) break
      if (!isLikely(this.#rehearsal.policy, plan, standing, this.#wanted.isUp)) continue
      tried++
      const fitting = this.#fit(plan)
      if (fitting !== null) this.#keep(fitting)
    }
    return this.#best !== best
  }

  #cheapestFirst(plans: readonly Plan[]): readonly { readonly plan: Plan; readonly loss: bigint }[] {
    return plans
      .map(plan => ({ plan, loss: this.#costs(plan).loss }))
      .sort((a, b) => (a.loss < b.loss ? -1 : a.loss > b.loss ? 1 : 0))
  }

  #dearestFirst(): Lever[] {
    const plan = this.#best ?? new Map<Lever, Short>()
    const lossOf = (lever: Lever) => lever.costs(plan.get(lever) as Short, this.#wanted.isUp).loss
    return [...plan.keys()].sort((a, b) => (lossOf(a) > lossOf(b) ? -1 : lossOf(a) < lossOf(b) ? 1 : 0))
  }

  #keep(plan: Plan): void {
    if (!this.#isDearer(plan)) this.#best = plan
  }

  #isDearerThan(other: Plan): boolean {
    return this.#best !== null && this.#costs(this.#best).loss > this.#costs(other).loss
  }

  #isDearer(plan: Plan): boolean {
    return this.#best !== null && this.#costs(plan).loss >= this.#costs(this.#best).loss
  }

  /** The plan unchanged, or with all its pushes slightly longer or shorter so that the price is only just reached. */
  #fit(plan: Plan): Plan | null {
    const { isBelieved, short } = this.#ask(plan)
    if (short === null || short * MISSED.den > this.#wanted.millionths * MISSED.num) return null
    if (isBelieved ? short > -EXACT : short <= 0n) return isBelieved ? plan : null
    const moved: Plan = new Map(
      [...plan].map(([lever, each]) => [lever, each === null ? null : each - short] as const),
    )
    if (this.#ask(moved).isBelieved) return moved
    return isBelieved ? plan : null
  }

  #ask(plan: Plan): Tried {
    if (this.#trials >= MAX_TRIALS) return { isBelieved: false, short: null }
    this.#trials++
    return tried(this.#rehearsal, this.#wanted, this.#pushes(plan))
  }

  #pushes(plan: Plan): Push[] {
    return [...plan].flatMap(([lever, short]) => this.#push(lever, short) ?? [])
  }

  #push(lever: Lever, short: Short): Push | null {
    return lever.at(short, this.#wanted.isUp)
  }

  #costs(plan: Plan): Costs {
    let [capital, loss] = [0n, 0n]
    for (const [lever, short] of plan) {
      const costs = lever.costs(short, this.#wanted.isUp)
      capital += costs.capital
      loss += costs.loss
    }
    return { capital, loss }
  }
}
