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
import { BEYOND_MAX_BITS, bitLength, MAX_BITS } from './bits.ts'
import { display, parseInteger } from './decimal.ts'
import { ExactTextError } from './exactTextError.ts'
import { gcd } from './gcd.ts'

declare const reduced: unique symbol

/** A reduced positive fraction. Build one with `of` or `reduce`; a literal does not type-check. */
export type Ratio = { readonly num: bigint; readonly den: bigint; readonly [reduced]: true }

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

const ONE: Fraction = { num: 1n, den: 1n }

/** For values known to fit. Callers rule out zero first: an empty pool is an outcome, not a Ratio. */
export function of(num: bigint, den: bigint): Ratio {
  const ratio = reduce(num, den)
  assert(!isTooLarge(ratio), () => `ratio of ${num}/${den} needs more than ${MAX_BITS} bits on a side`)
  return ratio
}

export function reduce(num: bigint, den: bigint): Ratio | TooLarge {
  assert(num > 0n && den > 0n, () => `ratio of ${num}/${den} is not positive`)
  const divisor = gcd(num, den)
  return divisor === 1n ? fitting(num, den) : fitting(num / divisor, den / divisor)
}

/** Cross-cancels before multiplying, so operands never grow past the reduced result. */
export function multiply(a: Ratio, b: Ratio): Ratio | TooLarge {
  const left = gcd(a.num, b.den)
  const right = gcd(b.num, a.den)
  return fitting((a.num / left) * (b.num / right), (a.den / right) * (b.den / left))
}

/** Without reduction. */
export const times = (a: Fraction, b: Fraction): Fraction => ({ num: a.num * b.num, den: a.den * b.den })

/** Without reduction; 1/1 of none. */
export function product(fractions: readonly Fraction[]): Fraction {
  let { num, den } = fractions[0] ?? ONE
  for (let i = 1; i < fractions.length; i += 1) {
    num *= fractions[i]!.num
    den *= fractions[i]!.den
  }
  return { num, den }
}

/** The product, reduced once at the end. */
export function compose(fractions: readonly Fraction[]): Ratio | TooLarge {
  const { num, den } = product(fractions)
  return reduce(num, den)
}

export function isTooLarge(value: Ratio | TooLarge): value is TooLarge {
  return 'reason' in value
}

export function reciprocal(r: Ratio): Ratio {
  return { num: r.den, den: r.num } as Ratio
}

/** Of reduced fractions, so no arithmetic is needed. */
export function equals(a: Ratio, b: Ratio): boolean {
  return a.num === b.num && a.den === b.den
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

/** floor(value · scale): rounds down, so that depth and weight are never overstated. */
export function floorOf(f: Fraction, scale: bigint): bigint {
  return (f.num * scale) / f.den
}

/** Only what `toText` writes: positive, reduced, canonical digits, at most 4096 bits a side. */
export function parse(numerator: string, denominator: string): Ratio {
  const num = parseInteger(numerator, 'numerator')
  const den = parseInteger(denominator, 'denominator')
  if (num === 0n) throw new ExactTextError('numerator', numerator, 'a positive integer')
  if (den === 0n) throw new ExactTextError('denominator', denominator, 'a positive integer')
  if (gcd(num, den) !== 1n) {
    throw new ExactTextError('value', `${numerator}/${denominator}`, 'a reduced fraction')
  }
  return { num, den } as Ratio
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
