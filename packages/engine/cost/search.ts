/**
 * The cheapest plan found that makes the service say a wanted price: which pools are pushed, and how far. Plans are compared
 * by what a round trip loses while nobody trades back; whether a plan works is asked of the live rules.
 *
 * A plan is a distance for each pool: to where one of its routes says the wanted price, so many bps short of it, or not at all.
 * With few pools all such plans are tried, cheapest first. With many the search goes from all pools down. Either way it then
 * shortens each push, and tries what is cheaper and differs in two pools.
 */
import { type Count, count } from '../units.ts'
import { type Tried, tried, type Wanted } from './belief.ts'
import { isLikely } from './forecast.ts'
import type { Costs, Lever, Short } from './lever.ts'
import type { Push } from './push.ts'
import type { Rehearsal } from './rehearsal.ts'

/**
 * Within the least and the greatest tolerance for outliers (R-consensus-2), and the widest spread that leaves a score of 4
 * (R-agreement-5): these far from the wanted price a pool supports it or at least does not contradict it.
 */
const SHORTS: readonly Short[] = [null, 95_000n, 49_500n, 19_500n, 0n]

/** With this many pools all plans are compared, with more than `FEWER` of them coarser ones: 6^4 and 3^6. */
const FEW = 6
const FEWER = 4
const OPTIONS = { few: 6, many: 3 } as const

/** Distances that are no further apart are one. */
const SAME = 50n

/** Plans that are tried for one move; each takes at most two evaluations. */
export const MAX_TRIALS = 160

/** Of them, of one set of pools cheapest first, and of those that differ from the best in two pools. */
const MAX_CHEAPEST_FIRST = 40
const MAX_NEIGHBOURS = 24

/** A plan that misses the wanted price by no more than this part of the move is brought there. */
const MISSED = { num: 6n, den: 10n }

/** A plan that overshoots by less is left as it is. */
const EXACT = 100n

/** Halvings of a push between what works and what does not. */
const HALVINGS = 6

type Plan = ReadonlyMap<Lever, Short>

export type FoundPlan = { readonly pushes: readonly Push[]; readonly costs: Costs; readonly trials: Count }

export class Search {
  readonly #rehearsal: Rehearsal
  readonly #wanted: Wanted
  #trials = 0
  #best: Plan | null = null
  /** Pools that carry the best plan without a push. */
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
      if (this.#best !== before) this.#standing = base.filter(lever => this.#push(lever, 0n) === null)
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
    const levers = base.filter(lever => this.#push(lever, 0n) !== null)
    // Pools that are there already carry the price without a push.
    const standing = base.filter(lever => this.#push(lever, 0n) === null)
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

  /** True when the cheapest of all plans that are likely to work was found, or is dearer than one that is known. */
  #tryCheapestFirst(levers: readonly Lever[], standing: readonly Lever[]): boolean {
    const { isUp } = this.#wanted
    const plans = this.#cheapestFirst(this.#plansOf(levers))
    let tried = 0
    let isFound = false
    for (const { plan } of plans) {
      if (this.#isDearer(plan)) return true
      if (!isLikely(this.#rehearsal.policy, plan, standing, isUp)) continue
      if (++tried > MAX_CHEAPEST_FIRST) break
      const fitting = this.#fit(plan)
      if (fitting === null) continue
      // It may have become longer, and the next one cheaper than it.
      isFound = true
      this.#keep(fitting)
    }
    return isFound
  }

  /** The pools that carry most for what they cost go all the way, the rest nowhere or a part of it. */
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

  /** Each push in turn, dearest first, as much shorter as can be. */
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

  /** Between the distance that works and the next shorter one there may be one that works too. */
  #shorten(): void {
    for (const lever of this.#dearestFirst()) {
      const here = this.#best?.get(lever)
      if (here === null || here === undefined) continue
      let works = here
      const next = this.#optionsOf(lever, 1).findLast(short => short !== null && short > here)
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

  /** The cheapest plan that works of those that differ from the best one in at most two pools. True where there is one. */
  #improve(): boolean {
    const best = this.#best as Plan
    const standing = this.#standing
    const plans = this.#cheapestFirst(this.#neighboursOf(best))
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

  #neighboursOf(best: Plan): Plan[] {
    const levers = [...best.keys()]
    const changes = levers.map(lever =>
      this.#optionsOf(lever, levers.length).map(short => [lever, short] as const),
    )
    const plans: Plan[] = []
    for (const [at, own] of changes.entries())
      for (const [lever, short] of own) {
        const one = new Map(best).set(lever, short)
        plans.push(one)
        for (const others of changes.slice(at + 1))
          for (const [other, otherShort] of others) plans.push(new Map(one).set(other, otherShort))
      }
    return plans
  }

  #plansOf(levers: readonly Lever[]): Plan[] {
    return levers.reduce<Plan[]>(
      (plans, lever) =>
        plans.flatMap(plan =>
          this.#optionsOf(lever, levers.length).map(short => new Map(plan).set(lever, short)),
        ),
      [new Map()],
    )
  }

  /** Not at all, and distances that are a push, the furthest short first. */
  #optionsOf(lever: Lever, levers: number): readonly Short[] {
    const most = levers > FEWER ? OPTIONS.many : OPTIONS.few
    const distances: bigint[] = [0n]
    for (const short of [...lever.shortsOf(this.#wanted.isUp), ...SHORTS.toReversed()]) {
      if (short === null || distances.length >= most - 1 || this.#push(lever, short) === null) continue
      if (distances.every(each => short > each + SAME || short < each - SAME)) distances.push(short)
    }
    return [null, ...distances.sort((a, b) => (a > b ? -1 : 1))]
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

  /** The plan as it works, or with all its pushes a little longer or shorter so that the price is just there. */
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
