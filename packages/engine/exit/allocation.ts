/**
 * How a sale is spread over the ways out: in growing portions, each sold where it pays most after those before it.
 *
 * Selling more through a way never pays better, so the price of an earlier portion bounds the price of the next one. Only the
 * best bound is recomputed, and usually it is still the best. The allocation is a proposal; `plan.ts` computes what it pays.
 */
import type { Fraction } from '../exact/fraction.ts'
import type { Pool } from '../entities.ts'
import { type Amm, arriving, sell, type Shares, type Way } from './ways.ts'
import { type Count, count } from '../units.ts'

/** A portion is this share of what is sold already: the split is as fine at every size. */
const PORTION_DIVISOR = 20n

/** The first portion, as a share of the smallest sale that is worth splitting. */
const FIRST_DIVISOR = 64n

/** From a dollar to a thousand billion takes eight hundred. */
const MAX_PORTIONS = 1_000

/** Of a portion that no way holds any more. */
const MAX_HALVINGS = 6n

/** What a portion fetches for each unit, in microdollars times this: small portions of cheap tokens still compare. */
const PRICE_BITS = 96n

type Portion = { readonly way: Way; readonly amount: bigint }

export class Allocation {
  readonly #states = new Map<Pool, Amm>()
  readonly #ways: readonly Way[]
  readonly #taxBps: bigint
  /** For each way, at most what a unit more fetches; `NOTHING` where it holds no more. */
  readonly #bounds: bigint[]
  readonly #portions: Portion[] = []
  #sold = 0n
  #halvings = 0n
  readonly #least: bigint

  /** `start`: the smallest sale that is worth splitting. */
  constructor(ways: readonly Way[], start: bigint, taxBps: bigint) {
    this.#ways = ways
    this.#taxBps = taxBps
    this.#bounds = ways.map(() => UNKNOWN)
    const least = start / FIRST_DIVISOR
    this.#least = least > 0n ? least : 1n
  }

  /** What each way gets of a sale of `amount`; null where all ways together do not hold that much. */
  of(amount: bigint): Shares | null {
    if (!this.#growTo(amount)) return null
    const shares = new Map<Way, bigint>()
    let rest = amount
    for (const portion of this.#portions) {
      const taken = portion.amount < rest ? portion.amount : rest
      shares.set(portion.way, (shares.get(portion.way) ?? 0n) + taken)
      rest -= taken
      if (rest === 0n) break
    }
    return shares
  }

  #growTo(amount: bigint): boolean {
    while (this.#sold < amount && this.#portions.length < MAX_PORTIONS) {
      const share = this.#sold / PORTION_DIVISOR
      if (!this.#sellPortion((share > this.#least ? share : this.#least) >> this.#halvings)) {
        // No way holds a portion of this size; smaller ones may still fit.
        if (++this.#halvings > MAX_HALVINGS) return false
        this.#bounds.fill(UNKNOWN)
      }
    }
    return this.#sold >= amount
  }

  #sellPortion(amount: bigint): boolean {
    if (amount === 0n) return false
    for (;;) {
      const best = this.#highest(null)
      if (best === null) return false
      const way = this.#ways[best] as Way
      const sale = this.#try(way, amount)
      this.#bounds[best] = sale === null ? NOTHING : sale.price
      const next = this.#highest(best)
      if (sale === null || (next !== null && sale.price < nearly(this.#bounds[next] as bigint))) continue
      for (const [pool, state] of sale.after) this.#states.set(pool, state)
      this.#sold += amount
      this.#portions.push({ way, amount })
      return true
    }
  }

  /** The index of the highest bound except `but`; in ties the first. */
  #highest(but: Count | null): Count | null {
    const bounds = this.#bounds
    let best: Count | null = null
    let highest = NOTHING
    for (let at = 0; at < bounds.length; at++) {
      const bound = bounds[at] as bigint
      if (bound > highest && at !== but) {
        best = count(at)
        highest = bound
      }
    }
    return best
  }

  #try(way: Way, amount: bigint): { price: bigint; after: readonly [Pool, Amm][] } | null {
    const after: [Pool, Amm][] = []
    let held = arriving(amount, this.#taxBps)
    for (const pool of way.pools) {
      const sold = sell(pool, this.#states.get(pool) ?? pool.state.amm, held)
      if (sold === null) return null
      after.push([pool, sold.state])
      held = sold.amountOut
    }
    return { price: pricePerUnit(held, way.unitMicrousd, amount), after }
  }
}

/** So close to the best bound a way is taken without a look at the others: less than a bps. */
const NEARLY_BITS = 14n

const nearly = (bound: bigint): bigint => bound - (bound >> NEARLY_BITS)

/** Above anything that a way was found to fetch. */
const UNKNOWN = 1n << 1024n
const NOTHING = -1n

const pricePerUnit = (out: bigint, { num, den }: Fraction, amount: bigint): bigint =>
  ((out * num) << PRICE_BITS) / (den * amount)
