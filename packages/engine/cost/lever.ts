/**
 * A first-hop pool, of the token or of a routing asset, as a candidate for a push: how far its own price must move to
 * be the wanted one, and what that costs. Each distance is computed once: a search compares thousands of plans that are
 * made of the same few.
 */
import { once } from '../exact/once.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Pool } from '../entities.ts'
import { inputOf, outputOf, type Push, pushTo } from './push.ts'
import type { Address } from '../chain/block.ts'

/** Microdollars per smallest unit of a token at m(t). */
export type UnitOf = (token: Address) => Fraction

/** How many millionths short of the wanted price a pool is pushed, negative beyond it; null for no push. */
export type Short = bigint | null

export type Costs = { readonly capital: bigint; readonly loss: bigint }

const NOTHING: Costs = { capital: 0n, loss: 0n }

/** A route through a pool: its price moves with the pool, and it has a weight of its own. */
export type Onward = {
  readonly price: Fraction
  readonly weight: bigint
  readonly capacity: bigint
  /** The pool of its second hop. */
  readonly next: Pool | null
}

/**
 * `own`: a pool of the token, whose routes vote on its price. `asset`: a pool of an asset, whose routes vote on the
 * price of that asset. `next`: a pool of an asset, which moves those of the token's routes that go through it.
 */
export type Role = 'own' | 'asset' | 'next'

/** One route of a pool: its price as a fraction of the wanted one. */
export type Voice = Onward

/**
 * A distance, or a price as a fraction of another, is cut to this many parts: finer than any difference between real
 * pools.
 */
const PARTS = 10n ** 12n

const MILLION = 1_000_000n

export class Lever {
  readonly pool: Pool
  readonly role: Role
  /** The total weight of its routes. */
  readonly weight: bigint
  readonly #routes: readonly Onward[]
  readonly #aim: Fraction
  readonly #unitOf: UnitOf
  readonly #pushes = new Map<bigint, Push | null>()
  readonly #voices = new Map<Short, readonly Voice[]>()
  readonly #costs = new Map<Short, Costs>()

  /** `routes` begin with the heaviest; `aim` is the wanted price divided by the price of that route. */
  constructor(pool: Pool, role: Role, routes: readonly Onward[], aim: Fraction, unitOf: UnitOf) {
    this.pool = pool
    this.role = role
    this.weight = routes.reduce((sum, route) => sum + route.weight, 0n)
    this.#routes = routes
    this.#aim = aim
    this.#unitOf = unitOf
  }

  /** How far short of the wanted price the heaviest route is when another one reaches it. */
  shortsOf(isUp: boolean): readonly bigint[] {
    const [heaviest] = this.#routes as readonly [Onward]
    return this.#routes.slice(1).map(({ price }) => {
      const [far, near] = isUp ? [price, heaviest.price] : [heaviest.price, price]
      return (far.num * near.den * MILLION) / (far.den * near.num) - MILLION
    })
  }

  /** Null if the pool is already there, or cannot be moved there. */
  at(short: Short, isUp: boolean): Push | null {
    return short === null ? null : once(this.#pushes, short, each => this.#push(each, isUp))
  }

  /** The voices of its routes after that push; cut, because only guesses use them. */
  voicesAt(short: Short, isUp: boolean): readonly Voice[] {
    return once(this.#voices, short, () => {
      const said = this.#priceAt(short, isUp)
      const [heaviest] = this.#routes as readonly [Onward]
      return this.#routes.map(route => {
        const { price } = route
        const [far, near] = [price.num * heaviest.price.den, price.den * heaviest.price.num]
        return { ...route, price: { num: (said.num * far * PARTS) / (said.den * near) + 1n, den: PARTS } }
      })
    })
  }

  /** How many times the present price of its routes that push makes. */
  factorAt(short: Short, isUp: boolean): Fraction {
    const said = this.#priceAt(short, isUp)
    return { num: said.num * this.#aim.num, den: said.den * this.#aim.den }
  }

  #priceAt(short: Short, isUp: boolean): Fraction {
    if (short !== null && this.at(short, isUp) !== null)
      return isUp ? { num: MILLION, den: MILLION + short } : { num: MILLION + short, den: MILLION }
    return { num: this.#aim.den, den: this.#aim.num }
  }

  /** The costs of a push and, if nobody trades meanwhile, of reverting it. */
  costs(short: Short, isUp: boolean): Costs {
    return once(this.#costs, short, () => {
      const push = this.at(short, isUp)
      return push === null ? NOTHING : quietCosts(push, this.#unitOf)
    })
  }

  #push(short: bigint, isUp: boolean): Push | null {
    const { num, den } = this.#aim
    const [up, down] = [MILLION, MILLION + short]
    const scaled = isUp ? (num * up * PARTS) / (den * down) : (num * down * PARTS) / (den * up)
    const isAhead = isUp ? scaled > PARTS : scaled < PARTS && scaled > 0n
    return isAhead ? pushTo(this.pool, this.pool.state.amm, { num: scaled, den: PARTS }) : null
  }
}

/** The input, and the part of it that is not recovered; both rounded up. */
export function quietCosts(push: Push, unitOf: UnitOf): Costs {
  const unit = unitOf(inputOf(push))
  return {
    capital: roundedUp(push.amountIn, unit),
    loss: roundedUp(push.amountIn - push.amountBack, unit),
  }
}

/** Input minus output, at m(t): the loss if others restore the pool. Negative for a gain. */
export function givenAway(push: Push, unitOf: UnitOf): bigint {
  const paid = unitOf(inputOf(push))
  const got = unitOf(outputOf(push))
  return roundedUp(push.amountIn, paid) - (push.amountOut * got.num) / got.den
}

const roundedUp = (amount: bigint, { num, den }: Fraction): bigint => (amount * num + den - 1n) / den
