/**
 * The cheapest plan found that makes the service say a wanted price: which pools are pushed, and how far. Plans are compared
 * by what a round trip loses while nobody trades back; whether a plan works is asked of the live rules.
 *
 * A plan is a distance for each pool: to the wanted price, so many bps short of it, or not at all. With few pools all such
 * plans are tried, cheapest first. With many the search goes from all pools down. Either way it then shortens each push.
 */
import { type Count, count } from '../units.ts'
import { isBelieved, type Wanted } from './belief.ts'
import { isLikely } from './forecast.ts'
import type { Costs, Lever, Short } from './lever.ts'
import type { Push } from './push.ts'
import type { Rehearsal } from './rehearsal.ts'

/**
 * Within the least and the greatest tolerance for outliers (R-consensus-2), and the widest spread that leaves a score of 4
 * (R-agreement-5): these far from the wanted price a pool supports it or at least does not contradict it.
 */
const SHORTS: readonly Short[] = [null, 950n, 495n, 195n, 0n]

/** With this many pools all plans are compared, with more than `FEWER` of them coarser ones: 5^4 and 3^6. */
const FEW = 6
const FEWER = 4
const COARSE: readonly Short[] = [null, 195n, 0n]

/** Plans that are tried for one move; each takes at most two evaluations. */
export const MAX_TRIALS = 96

/** Of them, cheapest first. */
const MAX_CHEAPEST_FIRST = 40

/** Halvings of a push between what works and what does not. */
const HALVINGS = 5

type Plan = ReadonlyMap<Lever, Short>

export type FoundPlan = { readonly pushes: readonly Push[]; readonly costs: Costs; readonly trials: Count }

export class Search {
  readonly #rehearsal: Rehearsal
  readonly #wanted: Wanted
  #trials = 0
  #best: Plan | null = null

  constructor(rehearsal: Rehearsal, wanted: Wanted) {
    this.#rehearsal = rehearsal
    this.#wanted = wanted
  }

  /** Each base is a set of pools that carry the price together. */
  run(bases: readonly (readonly Lever[])[]): FoundPlan | null {
    for (const base of bases) this.#searchIn(base)
    if (this.#best === null) return null
    this.#shorten()
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
    if (!this.#try(whole)) return
    const others = this.#best
    this.#best = whole
    this.#tryHeads(levers)
    this.#lower()
    if (others !== null && this.#isDearerThan(others)) this.#best = others
  }

  /** True when the cheapest of all plans that are likely to work was found, or is dearer than one that is known. */
  #tryCheapestFirst(levers: readonly Lever[], standing: readonly Lever[]): boolean {
    const { isUp } = this.#wanted
    const plans = plansOf(levers)
      .map(plan => ({ plan, loss: this.#costs(plan).loss }))
      .sort((a, b) => (a.loss < b.loss ? -1 : a.loss > b.loss ? 1 : 0))
    let tried = 0
    for (const { plan } of plans) {
      if (this.#isDearer(plan)) return true
      if (!isLikely(plan, standing, isUp)) continue
      if (++tried > MAX_CHEAPEST_FIRST) return false
      if (!this.#try(plan)) continue
      this.#best = plan
      return true
    }
    return false
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
        if (this.#try(plan)) {
          works = middle
          this.#keep(plan)
        } else fails = middle
      }
    }
  }

  /** Each push in turn, dearest first, as much shorter as can be. */
  #lower(): void {
    for (const lever of this.#dearestFirst()) {
      const here = this.#best?.get(lever) as Short
      for (const short of SHORTS) {
        if (short === here) break
        const plan: Plan = new Map(this.#best).set(lever, short)
        if (this.#isDearer(plan) || !this.#try(plan)) continue
        this.#keep(plan)
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
      let fails = SHORTS.findLast(short => short !== null && short > here) ?? here + 1000n
      for (let half = 0; half < HALVINGS && fails - works > 1n; half++) {
        const middle = (works + fails) >> 1n
        const plan: Plan = new Map(this.#best).set(lever, middle)
        if (this.#try(plan)) {
          works = middle
          this.#keep(plan)
        } else fails = middle
      }
    }
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

  #try(plan: Plan): boolean {
    if (this.#trials >= MAX_TRIALS) return false
    this.#trials++
    return isBelieved(this.#rehearsal, this.#wanted, this.#pushes(plan))
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

function plansOf(levers: readonly Lever[]): Plan[] {
  const shorts = levers.length > FEWER ? COARSE : SHORTS
  return levers.reduce<Map<Lever, Short>[]>(
    (plans, lever) => plans.flatMap(plan => shorts.map(short => new Map(plan).set(lever, short))),
    [new Map()],
  )
}
