/** Plans tried on the rehearsal, within a limit: beyond it no plan works. */
import { type Tried, tried, type Wanted } from './belief.ts'
import { type Plan, pushesOf } from './plan.ts'
import type { Rehearsal } from './rehearsal.ts'

/** A plan that misses the wanted price by no more than this part of the move is adjusted to reach it. */
const MISSED = { num: 6n, den: 10n }

/** A plan that overshoots by less than this is left as it is. */
const EXACT = 100n

export class Trials {
  limit = 0
  readonly #rehearsal: Rehearsal
  readonly #wanted: Wanted
  #made = 0

  constructor(rehearsal: Rehearsal, wanted: Wanted) {
    this.#rehearsal = rehearsal
    this.#wanted = wanted
  }

  ask(plan: Plan): Tried {
    if (this.#made >= this.limit) return { isBelieved: false, short: null }
    this.#made++
    return tried(this.#rehearsal, this.#wanted, pushesOf(plan, this.#wanted.isUp))
  }

  /** The plan unchanged, or with all its pushes slightly longer or shorter so that the price is only just reached. */
  fit(plan: Plan): Plan | null {
    const { isBelieved, short } = this.ask(plan)
    if (short === null || short * MISSED.den > this.#wanted.millionths * MISSED.num) return null
    if (isBelieved ? short > -EXACT : short <= 0n) return isBelieved ? plan : null
    const moved: Plan = new Map(
      [...plan].map(([lever, each]) => [lever, each === null ? null : each - short] as const),
    )
    if (this.ask(moved).isBelieved) return moved
    return isBelieved ? plan : null
  }
}
