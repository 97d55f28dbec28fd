/**
 * The proceeds of selling a token at the committed state: the best split of a sale over the token's accepted routes,
 * by exact simulation (R-exit). It reads, never writes, and gives the same result for the same state.
 */
import { firstFrom } from '../exact/firstFrom.ts'
import type { Fraction } from '../exact/fraction.ts'
import { compareExactly } from '../exact/fraction.ts'
import type { Priced } from '../price/evaluation.ts'
import type { State } from '../state.ts'
import { type Count, count } from '../units.ts'
import { Allocation } from './allocation.ts'
import { paysMore, type Plan, planOf } from './plan.ts'
import { type FirstSales, sellAlong, type Way, type WaysOut, waysOut } from './ways.ts'

export type Sale = {
  /** Units of the token. */
  readonly amount: bigint
  /** Null when the ways out do not hold that much. */
  readonly plan: Plan | null
}

export type Exit = {
  readonly sales: readonly Sale[]
  /**
   * The greatest sale found whose average price is at most this many bps below the token's; null when even a small
   * sale exceeds that.
   */
  readonly largest: { readonly bps100: bigint | null; readonly bps500: bigint | null }
}

/** Enough to find the greatest sale to a thousandth. */
const SEARCH_STEPS = 10

/** Sales are split from one dollar upwards, and the search for the largest sale starts there. */
const START_MICROUSD = 1_000_000n

/** Doublings of that start: from one dollar to a thousand billion. */
const DOUBLINGS = 40

/** Doublings per step of the search. */
const STRIDE = 4

/** `taxBps`: the token's tax on a sale, in bps of the amount sent; zero when it was not measured. */
export function exitOf(state: State, priced: Priced, amounts: readonly bigint[], taxBps = 0n): Exit {
  const out = waysOut(state, priced, taxBps)
  const unitMicrousd = unitOf(state, priced)
  const start = (START_MICROUSD * unitMicrousd.den) / unitMicrousd.num || 1n
  const seller = new Seller(out, start)
  const sales = amounts.map(amount => ({ amount, plan: seller.best(amount) }))
  const bps100 = largestWithin(seller, unitMicrousd, start, 100n, count(0))
  const bps500 = largestWithin(seller, unitMicrousd, start, 500n, bps100?.doublings ?? count(0))
  return { sales, largest: { bps100: bps100?.amount ?? null, bps500: bps500?.amount ?? null } }
}

/** Microdollars per smallest unit of the token at the published price. */
export function unitOf(state: State, { token, price }: Priced): Fraction {
  const decimals = state.tokens.get(token)?.decimals?.value ?? 0
  return { num: price.num * 1_000_000n, den: price.den * 10n ** BigInt(decimals) }
}

class Seller {
  readonly #out: WaysOut
  readonly #allocation: Allocation

  constructor(out: WaysOut, start: bigint) {
    this.#out = out
    this.#allocation = new Allocation(out.ways, start, out.taxBps)
  }

  /** The split or a single way, whichever pays more. */
  best(amount: bigint): Plan | null {
    const split = this.split(amount)
    const single = this.#bestSingle(amount)
    const alone = single === null ? null : planOf(this.#out, new Map([[single, amount]]))
    if (split === null || alone === null) return split ?? alone
    return paysMore(alone, split) ? alone : split
  }

  #bestSingle(amount: bigint): Way | null {
    let best: Way | null = null
    let most: Fraction = { num: 0n, den: 1n }
    const firsts: FirstSales = new Map()
    for (const way of this.#out.ways) {
      const out = sellAlong(way, amount, this.#out.taxBps, firsts)
      if (out === null) continue
      const paid = { num: out * way.unitMicrousd.num, den: way.unitMicrousd.den }
      if (best !== null && compareExactly(paid, most) <= 0) continue
      best = way
      most = paid
    }
    return best
  }

  split(amount: bigint): Plan | null {
    const shares = this.#allocation.of(amount)
    return shares === null ? null : planOf(this.#out, shares)
  }
}

/**
 * Searches by doublings, four at a time, then by bisection. `doublings` of the start are known to be within the
 * bound, or none is known. Larger sales pay less, so a skipped step could not have changed the result.
 */
function largestWithin(
  seller: Seller,
  unit: Fraction,
  start: bigint,
  bps: bigint,
  doublings: Count,
): { readonly amount: bigint; readonly doublings: Count } | null {
  const isWithin = (amount: bigint): boolean => {
    const plan = seller.split(amount)
    if (plan === null) return false
    const least = { num: amount * unit.num * (10_000n - bps), den: unit.den * 10_000n }
    return compareExactly(plan.microusd, least) >= 0
  }
  const doubled = (times: Count): bigint => start << BigInt(times)
  if (doublings === 0 && !isWithin(start)) return null
  let within = doublings
  let beyond = count(within + STRIDE)
  while (beyond <= DOUBLINGS && isWithin(doubled(beyond))) {
    within = beyond
    beyond = count(beyond + STRIDE)
  }
  beyond = firstFrom(within, beyond, times => times > DOUBLINGS || !isWithin(doubled(times)))
  within = count(beyond - 1)
  let inside = doubled(within)
  let outside = inside * 2n
  for (let half = 0; half < SEARCH_STEPS; half++) {
    const middle = (inside + outside) >> 1n
    if (middle === inside) break
    if (isWithin(middle)) inside = middle
    else outside = middle
  }
  return { amount: inside, doublings: within }
}
