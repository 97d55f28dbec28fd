/**
 * Exact rational numbers over bigint.
 *
 * A price stays a Ratio from the pool's storage slot to the edge of the process and is rounded once, when it
 * is printed. A Ratio is always reduced, positive and at most 4096 bits a side, so two equal prices are equal
 * field by field and give the same stream record.
 *
 * Reducing costs far more than multiplying: the hot path carries Fractions, compares them as they are, and
 * reduces what is stored or published, once.
 */
import { assert } from '../assert.ts'
import { asNear, count, type Count, type Near, type Sign } from '../units.ts'
import { BEYOND_MAX_BITS, bitLength } from './bits.ts'
import { display } from './decimal.ts'
import { gcd } from './gcd.ts'

declare const isReduced: unique symbol

/** A reduced positive fraction. Build one with `reduce`; a literal does not type-check. */
export type Ratio = { readonly num: bigint; readonly den: bigint; readonly [isReduced]: true }

/** A positive fraction, not necessarily reduced: what the hot path carries. */
export type Fraction = { readonly num: bigint; readonly den: bigint }

/** The reduced value does not fit; `bits` is the length of its longer side. */
export type TooLarge = { readonly reason: 'TOO_LARGE'; readonly bits: Count }

/** The wire form: decimal strings, and the value rounded once to 18 significant digits. */
export type ExactText = {
  readonly numerator: string
  readonly denominator: string
  readonly display: string
}

/** Sides cut to this many bits fit a double. */
const DOUBLE_BITS = 1000

/** Above this a quotient of doubles is not subnormal, so it has all its bits. */
const LEAST_NORMAL = 2 ** -1022

/** A side that keeps this much after the cut loses less by it than by becoming a double. */
const ENOUGH = 1n << 64n

/**
 * Two approximations are off by seven roundings each at most, and the margin by one more: 15 · 2^-53 and a
 * trifle for the cuts. Inside the margin the integers decide.
 */
const MARGIN = 1 + 2 ** -49

/** Callers rule out zero first: an empty pool is an outcome, not a Ratio. */
export function reduce(num: bigint, den: bigint): Ratio | TooLarge {
  assert(num > 0n && den > 0n, () => `ratio of ${num}/${den} is not positive`)
  const divisor = gcd(num, den)
  return divisor === 1n ? fitting(num, den) : fitting(num / divisor, den / divisor)
}

/** For values known to fit: a price past 4096 bits never took part in a vote. */
export function reduced({ num, den }: Fraction): Ratio {
  const ratio = reduce(num, den)
  assert(!isTooLarge(ratio), () => `${num}/${den} needs more than 4096 bits on a side`)
  return ratio
}

/** Without reduction. */
export const times = (a: Fraction, b: Fraction): Fraction => ({ num: a.num * b.num, den: a.den * b.den })

export function isTooLarge(value: Ratio | TooLarge): value is TooLarge {
  return 'reason' in value
}

/** The order of two values. Floats decide where they can, cross-multiplication where they cannot. */
export function compare(a: Fraction, b: Fraction): Sign {
  const sign = compareNear(near(a), near(b))
  return sign === 0 ? compareExactly(a, b) : sign
}

/** The order that `near` is sure of, for whoever compares one value often; 0 where the integers must decide. */
export function compareNear(left: Near, right: Near): Sign {
  if (left > right * MARGIN) return 1
  if (right > left * MARGIN) return -1
  return 0
}

/** Where floats could not tell. */
export function compareExactly(a: Fraction, b: Fraction): Sign {
  const difference = a.num * b.den - b.num * a.den
  return difference > 0n ? 1 : difference < 0n ? -1 : 0
}

export function toText(r: Ratio): ExactText {
  return { numerator: r.num.toString(), denominator: r.den.toString(), display: display(r) }
}

/** The sides are already coprime. */
function fitting(num: bigint, den: bigint): Ratio | TooLarge {
  if (num < BEYOND_MAX_BITS && den < BEYOND_MAX_BITS) return { num, den } as Ratio
  return { reason: 'TOO_LARGE', bits: count(Math.max(bitLength(num), bitLength(den))) }
}

/** About a · b: within seven roundings of it, or NaN where a double cannot say. */
export function nearProduct(a: Near, b: Near): Near {
  const product = a * b
  return asNear(product > LEAST_NORMAL && product < Infinity ? product : NaN)
}

/** Within three roundings of the value; NaN, which no comparison accepts, where a double cannot say. */
export function near({ num, den }: Fraction): Near {
  const direct = Number(num) / Number(den)
  if (direct > LEAST_NORMAL && direct < Infinity) return asNear(direct)
  const cut = BigInt(Math.max(0, bitLength(num > den ? num : den) - DOUBLE_BITS))
  const shortNum = num >> cut
  const shortDen = den >> cut
  return asNear(shortNum > ENOUGH && shortDen > ENOUGH ? Number(shortNum) / Number(shortDen) : NaN)
}
