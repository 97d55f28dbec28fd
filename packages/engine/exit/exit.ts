/**
 * What a seller would get for a token at the committed state: the best split of a sale over the token's accepted routes,
 * by exact simulation (R-exit). It reads, never writes, and gives the same for the same state.
 */
import type { Fraction } from '../exact/fraction.ts'
import { compareExactly } from '../exact/fraction.ts'
import type { Priced } from '../price/evaluation.ts'
import type { State } from '../state.ts'
import { Allocation } from './allocation.ts'
import { paysMore, type Plan, planOf } from './plan.ts'
import { type WaysOut, waysOut } from './ways.ts'

export type Sale = {
  /** Units of the token. */
  readonly amount: bigint
  /** Null where the ways out do not hold that much. */
  readonly plan: Plan | null
}

export type Exit = {
  readonly sales: readonly Sale[]
  /** The greatest sale found whose average price is at most so many bps below the token's; null where even a small one is not. */
  readonly largest: { readonly bps100: bigint | null; readonly bps500: bigint | null }
}

/** The greatest sale is found to a thousandth. */
const SEARCH_STEPS = 10

/** A split is made from a dollar's worth on, and the search for the largest sale starts there. */
const START_MICROUSD = 1_000_000n

/** Doublings of it: a dollar to a thousand billion. */
const DOUBLINGS = 40

export function exitOf(state: State, priced: Priced, amounts: readonly bigint[]): Exit {
  const out = waysOut(state, priced)
  const unitMicrousd = unitOf(state, priced)
  const start = (START_MICROUSD * unitMicrousd.den) / unitMicrousd.num || 1n
  const seller = new Seller(out, start)
  return {
    sales: amounts.map(amount => ({ amount, plan: seller.best(amount) })),
    largest: {
      bps100: largestWithin(seller, unitMicrousd, start, 100n),
      bps500: largestWithin(seller, unitMicrousd, start, 500n),
    },
  }
}

/** Microdollars that the published price gives for the least unit of the token. */
export function unitOf(state: State, { token, price }: Priced): Fraction {
  const decimals = state.tokens.get(token)?.decimals?.value ?? 0
  return { num: price.num * 1_000_000n, den: price.den * 10n ** BigInt(decimals) }
}

class Seller {
  readonly #out: WaysOut
  readonly #allocation: Allocation

  constructor(out: WaysOut, start: bigint) {
    this.#out = out
    this.#allocation = new Allocation(out.ways, start)
  }

  /** The split or a single way, whichever pays more. */
  best(amount: bigint): Plan | null {
    let best = this.split(amount)
    for (const way of this.#out.ways) {
      const single = planOf(this.#out, new Map([[way, amount]]))
      if (single !== null && (best === null || paysMore(single, best))) best = single
    }
    return best
  }

  split(amount: bigint): Plan | null {
    const shares = this.#allocation.of(amount)
    return shares === null ? null : planOf(this.#out, shares)
  }
}

function largestWithin(seller: Seller, unit: Fraction, start: bigint, bps: bigint): bigint | null {
  const isWithin = (amount: bigint): boolean => {
    const plan = seller.split(amount)
    if (plan === null) return false
    const least = { num: amount * unit.num * (10_000n - bps), den: unit.den * 10_000n }
    return compareExactly(plan.microusd, least) >= 0
  }
  if (!isWithin(start)) return null
  let inside = start
  let step = 0
  while (step < DOUBLINGS && isWithin(inside * 2n)) {
    inside *= 2n
    step++
  }
  let outside = inside * 2n
  for (let half = 0; half < SEARCH_STEPS; half++) {
    const middle = (inside + outside) >> 1n
    if (middle === inside) break
    if (isWithin(middle)) inside = middle
    else outside = middle
  }
  return inside
}
