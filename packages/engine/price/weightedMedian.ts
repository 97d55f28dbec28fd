/**
 * Weighted medians and deviations of exact prices (specification §2.4).
 *
 * A deviation stays a fraction: nothing here rounds, and a comparison multiplies across instead of
 * reducing, so two prices on either side of a threshold are never confused by arithmetic.
 */
import { assert } from '../assert.ts'
import type { Fraction } from '../exact/ratio.ts'
import * as ratio from '../exact/ratio.ts'
import { type Count, count, type Near, type Sign } from '../units.ts'

/** What can be put in order: a price and the id that breaks a tie. */
export type Orderable = { readonly id: string; readonly price: Fraction }

const BPS = 10_000n

/** The indices of `items` by ascending price, ties by id. */
export function ascending(items: readonly Orderable[]): Count[] {
  const order: Count[] = []
  for (let at = 0; at < items.length; at++) order.push(count(at))
  if (order.length < 2) return order
  const nears = items.map(({ price }) => ratio.near(price))
  return order.sort((a, b) => {
    const [left, right] = [items[a] as Orderable, items[b] as Orderable]
    const sign = ratio.compareNear(left.price, nears[a] as Near, right.price, nears[b] as Near)
    if (sign !== 0) return sign
    if (left.id === right.id) return 0
    return left.id < right.id ? -1 : 1
  })
}

/** The first of `sorted` where 2 × (sum of weights so far) reaches the total; the total is positive. */
export function weightedMedian<Item>(sorted: readonly Item[], weightOf: (item: Item) => bigint): Item {
  let total = 0n
  for (const item of sorted) total += weightOf(item)
  assert(total > 0n, 'a weighted median needs a positive total weight')
  let cumulative = 0n
  let at = 0
  for (; ; at++) {
    cumulative += weightOf(sorted[at] as Item)
    if (2n * cumulative >= total) return sorted[at] as Item
  }
}

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

/** dev_bps(p, q) ≤ bps. */
export function devBpsAtMost(p: Fraction, q: Fraction, bps: bigint): boolean {
  const left = p.num * q.den
  const right = p.den * q.num
  return left >= right ? BPS * (left - right) <= bps * right : BPS * (right - left) <= bps * left
}

/** A deviation in basis points, as `devBps` gives it, against a whole bound. */
export function isAtMost(deviationBps: Fraction, bps: bigint): boolean {
  return deviationBps.num <= bps * deviationBps.den
}

/** Whether `below`, at most `centre`, or `above`, at least `centre`, deviates further from it; 1 is above. */
export function furtherFrom(centre: Fraction, below: Fraction, above: Fraction): Sign {
  // above/centre against centre/below, both at least 1.
  return ratio.compare(
    { num: above.num * below.num, den: above.den * below.den },
    { num: centre.num * centre.num, den: centre.den * centre.den },
  )
}
