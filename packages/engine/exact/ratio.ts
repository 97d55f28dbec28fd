/**
 * Exact rational numbers over bigint, reduced.
 *
 * A price stays exact from the pool's storage slot to the edge of the process and is rounded once, when it
 * is printed. A Ratio is always reduced, positive and at most 4096 bits a side, so two equal prices are equal
 * field by field and give the same stream record.
 *
 * Reducing costs far more than multiplying: the hot path carries fractions, and reduces what is stored or
 * published, once.
 */
import { assert } from '../assert.ts'
import { count, type Count } from '../units.ts'
import { BEYOND_MAX_BITS, bitLength } from './bits.ts'
import type { Fraction } from './fraction.ts'
import { gcd } from './gcd.ts'

declare const isReduced: unique symbol

/** A reduced positive fraction. Build one with `reduce`; a literal does not type-check. */
export type Ratio = { readonly num: bigint; readonly den: bigint; readonly [isReduced]: true }

/** The reduced value does not fit; `bits` is the length of its longer side. */
export type TooLarge = { readonly reason: 'TOO_LARGE'; readonly bits: Count }

/** Callers rule out zero first: an empty pool is an outcome, not a Ratio. */
export function reduce(num: bigint, den: bigint): Ratio | TooLarge {
  assert(num > 0n && den > 0n, () => `ratio of ${num}/${den} is not positive`)
  const divisor = gcd(num, den)
  return divisor === 1n ? fitting(num, den) : fitting(num / divisor, den / divisor)
}

/** For values known to fit: a price beyond 4096 bits never took part in a vote. */
export function reduced({ num, den }: Fraction): Ratio {
  const ratio = reduce(num, den)
  assert(!isTooLarge(ratio), () => `${num}/${den} needs more than 4096 bits on a side`)
  return ratio
}

export function isTooLarge(value: Ratio | TooLarge): value is TooLarge {
  return 'reason' in value
}

/** The sides are already coprime. */
function fitting(num: bigint, den: bigint): Ratio | TooLarge {
  if (num < BEYOND_MAX_BITS && den < BEYOND_MAX_BITS) return { num, den } as Ratio
  return { reason: 'TOO_LARGE', bits: count(Math.max(bitLength(num), bitLength(den))) }
}
