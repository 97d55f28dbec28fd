/**
 * Weighted medians and deviations of exact prices (R-exact-5, R-exact-6).
 *
 * A deviation stays a fraction: nothing here rounds, and a comparison multiplies across instead of
 * reducing, so two prices on either side of a threshold are never confused by arithmetic.
 */
import { assert } from '../assert.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { BPS, type Count, count, type Approx } from '../units.ts'

/** An item that can be ordered: its price, the approximation of that price if known, and the id that breaks a tie. */
export type Orderable = { readonly id: string; readonly price: Fraction; readonly approx?: Approx }

/** A lazily computed price is computed only here, if at all. */
export const approxOf = (item: Orderable): Approx => item.approx ?? fraction.approx(item.price)

/** The indices of `items` by ascending price, ties by id. */
export function ascending(
  items: readonly Orderable[],
  approxes: readonly Approx[] = items.map(approxOf),
): Count[] {
  // Insertion sort: there are few items, and those of one first hop often arrive in order.
  const order: Count[] = []
  for (let next = 0; next < items.length; next++) {
    let place = order.length
    while (place > 0 && isBefore(items, approxes, count(next), order[place - 1] as Count)) {
      order[place] = order[place - 1] as Count
      place--
    }
    order[place] = count(next)
  }
  return order
}

function isBefore(items: readonly Orderable[], approxes: readonly Approx[], a: Count, b: Count): boolean {
  const left = items[a] as Orderable
  const right = items[b] as Orderable
  const sign =
    fraction.compareApprox(approxes[a] as Approx, approxes[b] as Approx) ||
    fraction.compareExactly(left.price, right.price)
  return sign === 0 ? left.id < right.id : sign < 0
}

/** The first of `sorted` where 2 × (sum of weights so far) reaches the total; the total is positive. */
export function weightedMedian<Item>(sorted: readonly Item[], weightOf: (item: Item) => bigint): Item {
  let total = 0n
  for (const item of sorted) total += weightOf(item)
  return medianOf(sorted, weightOf, total)
}

/** The same with a known total. */
export function medianOf<Item>(
  sorted: readonly Item[],
  weightOf: (item: Item) => bigint,
  total: bigint,
): Item {
  assert(total > 0n, 'a weighted median needs a positive total weight')
  const half = halfOf(total)
  let cumulative = 0n
  let at = 0
  for (; ; at++) {
    cumulative += weightOf(sorted[at] as Item)
    if (cumulative >= half) return sorted[at] as Item
  }
}

/** Twice a sum reaches the total when the sum reaches this. */
export const halfOf = (total: bigint): bigint => (total + 1n) >> 1n

/** max(p/q, q/p), unreduced: 1 or more. */
export function devRatio(p: Fraction, q: Fraction): Fraction {
  const left = p.num * q.den
  const right = p.den * q.num
  return left >= right ? { num: left, den: right } : { num: right, den: left }
}

/** dev_bps(p, q) = 10000 × (max(p/q, q/p) − 1), unreduced; `num` is 0 for equal prices. */
export function devBps(p: Fraction, q: Fraction): Fraction {
  const { num, den } = devRatio(p, q)
  return { num: BPS * (num - den), den }
}
