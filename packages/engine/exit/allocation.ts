/**
 * How a sale is split over the ways out: in growing portions, each sold where it pays most after the portions before
 * it.
 *
 * Selling more through a way never pays better, so the price of an earlier portion bounds the price of the next one.
 * Only the best bound is recomputed, and usually it is still the best. The allocation is a proposal; `plan.ts`
 * computes what it pays.
 */
import { once } from '../exact/once.ts'
import { firstFrom } from '../exact/firstFrom.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Pool } from '../entities.ts'
import { type Count, count } from '../units.ts'
import { type Amm, arriving, sell, type Shares, type Sold, type Way } from './ways.ts'
import { Winners } from './winners.ts'

/**
 * A portion is this share of the amount sold so far, so the split is equally fine at every size. With 20, one sale in
 * many thousands lost 0.1%.
 */
const PORTION_DIVISOR = 24n

/** The first portion, as a share of the smallest sale that is worth splitting. */
const FIRST_DIVISOR = 64n

/** A range from one dollar to a thousand billion takes nearly a thousand. */
const MAX_PORTIONS = 1_200

/** Applies to a portion that no way can hold any more. */
const MAX_HALVINGS = 6n

/**
 * The price per unit of a portion is in microdollars times this, so that small portions of cheap tokens remain
 * comparable.
 */
const PRICE_BITS = 96n

/** The end of a portion: the amount sold by then, in total and by its own way. */
type Portion = { readonly place: Place; readonly sold: bigint; readonly ownSold: bigint }

/** A way that sells something, and the list positions of its portions. */
type Place = { readonly way: Way; readonly portions: Count[] }

/** The last sale tried in a first pool, shared by the ways that begin with that pool. */
type FirstTry = { readonly amm: Amm; readonly amount: bigint; readonly sold: Sold | null }

export class Allocation {
  readonly #states = new Map<Pool, Amm>()
  readonly #ways: readonly Way[]
  readonly #taxBps: bigint
  /** For each way, an upper bound for the price of the next unit; `NOTHING` when it holds no more. */
  #bounds: Winners
  readonly #firsts = new Map<Pool, FirstTry>()
  readonly #portions: Portion[] = []
  /** In the order of their first portions. */
  readonly #places = new Map<Way, Place>()
  #sold = 0n
  #halvings = 0n
  readonly #least: bigint

  /** `start`: the smallest sale that is worth splitting. */
  constructor(ways: readonly Way[], start: bigint, taxBps: bigint) {
    this.#ways = ways
    this.#taxBps = taxBps
    this.#bounds = unknownOf(ways)
    const least = start / FIRST_DIVISOR
    this.#least = least > 0n ? least : 1n
  }

  /** The share of each way in a sale of `amount`; null when all ways together do not hold that much. */
  of(amount: bigint): Shares | null {
    if (!this.#growTo(amount)) return null
    const last = this.#portionAt(amount)
    const shares = new Map<Way, bigint>()
    for (const { way, portions } of this.#places.values()) {
      const own = lastUpTo(portions, last)
      if (own === null) break
      const { sold, ownSold } = this.#portions[own] as Portion
      // Of the last portion, only the amount the sale still needs.
      shares.set(way, own === last ? ownSold - (sold - amount) : ownSold)
    }
    return shares
  }

  /** The portion that completes a sale of that amount. */
  #portionAt(amount: bigint): Count {
    const isComplete = (at: Count): boolean => (this.#portions[at] as Portion).sold >= amount
    return firstFrom(count(-1), count(this.#portions.length - 1), isComplete)
  }

  #growTo(amount: bigint): boolean {
    while (this.#sold < amount && this.#portions.length < MAX_PORTIONS) {
      const share = this.#sold / PORTION_DIVISOR
      if (!this.#sellPortion((share > this.#least ? share : this.#least) >> this.#halvings)) {
        // No way holds a portion of this size; smaller ones may still fit.
        if (++this.#halvings > MAX_HALVINGS) return false
        this.#bounds = unknownOf(this.#ways)
      }
    }
    return this.#sold >= amount
  }

  #sellPortion(amount: bigint): boolean {
    if (amount === 0n) return false
    for (;;) {
      const best = this.#bounds.highest
      if (best === null || this.#bounds.value(best) === NOTHING) return false
      const way = this.#ways[best] as Way
      const sale = this.#try(way, amount)
      const next = this.#bounds.next
      this.#bounds.set(best, sale === null ? NOTHING : sale.price)
      if (sale === null || (next !== null && sale.price < nearly(this.#bounds.value(next)))) continue
      for (const [pool, state] of sale.after) this.#states.set(pool, state)
      this.#add(way, amount)
      return true
    }
  }

  #add(way: Way, amount: bigint): void {
    const place = once(this.#places, way, () => ({ way, portions: [] }))
    const before = place.portions.at(-1)
    const ownBefore = before === undefined ? 0n : (this.#portions[before] as Portion).ownSold
    this.#sold += amount
    place.portions.push(count(this.#portions.length))
    this.#portions.push({ place, sold: this.#sold, ownSold: ownBefore + amount })
  }

  #try(way: Way, amount: bigint): { price: bigint; after: readonly [Pool, Amm][] } | null {
    const after: [Pool, Amm][] = []
    let held = arriving(amount, this.#taxBps)
    for (const [at, pool] of way.pools.entries()) {
      const amm = this.#states.get(pool) ?? pool.state.amm
      const sold = at === 0 ? this.#tryFirst(pool, amm, held) : sell(pool, amm, held)
      if (sold === null) return null
      after.push([pool, sold.state])
      held = sold.amountOut
    }
    return { price: pricePerUnit(held, way.unitMicrousd, amount), after }
  }

  #tryFirst(pool: Pool, amm: Amm, amount: bigint): Sold | null {
    const known = this.#firsts.get(pool)
    if (known !== undefined && known.amm === amm && known.amount === amount) return known.sold
    const sold = sell(pool, amm, amount)
    this.#firsts.set(pool, { amm, amount, sold })
    return sold
  }
}

const unknownOf = (ways: readonly Way[]): Winners => new Winners(ways.map(() => UNKNOWN))

/** The greatest of ascending positions that is at most `last`; null when all are greater. */
function lastUpTo(places: readonly Count[], last: Count): Count | null {
  const above = firstFrom(count(-1), count(places.length), at => (places[at] as Count) > last)
  return places[above - 1] ?? null
}

/** A way this close to the best bound is chosen without checking the others: less than one bps. */
const NEARLY_BITS = 14n

const nearly = (bound: bigint): bigint => bound - (bound >> NEARLY_BITS)

/** Above any price that a way was found to pay. */
const UNKNOWN = 1n << 1024n
const NOTHING = -1n

const pricePerUnit = (out: bigint, { num, den }: Fraction, amount: bigint): bigint =>
  ((out * num) << PRICE_BITS) / (den * amount)
