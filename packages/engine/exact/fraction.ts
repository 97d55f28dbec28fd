/**
 * Positive fractions for the hot path: multiplied without reduction, and compared by doubles when those are certain
 * and by the integers otherwise. No value is ever computed from a double.
 */
import { asApprox, type Approx, type Sign } from '../units.ts'

/** Positive, not necessarily reduced. */
export type Fraction = { readonly num: bigint; readonly den: bigint }

/** Sides cut to this many bits fit a double. */
const DOUBLE_BITS = 1000

/** Above this a quotient of doubles is not subnormal, so it has all its bits. */
const LEAST_NORMAL = 2 ** -1022

/** A side that keeps this much after the cut loses less through the cut than through conversion to a double. */
const ENOUGH = 1n << 64n

/**
 * Two approximations are off by seven roundings each at most, and the margin by one more: 15 · 2^-53 plus a tiny
 * amount for the cuts. Inside the margin the integers decide.
 */
const MARGIN = 1 + 2 ** -49

export const times = (a: Fraction, b: Fraction): Fraction => ({ num: a.num * b.num, den: a.den * b.den })

/** The order of two values. */
export const compare = (a: Fraction, b: Fraction): Sign =>
  compareApprox(approx(a), approx(b)) || compareExactly(a, b)

/** The order according to `approx`, for callers that compare one value often; 0 if the integers must decide. */
export function compareApprox(left: Approx, right: Approx): Sign {
  if (left > right * MARGIN) return 1
  if (right > left * MARGIN) return -1
  return 0
}

/** A ratio and its approximation. */
export type Place = { readonly ratio: Fraction; readonly approx: Approx }

/** The order of two values whose approximations are known. */
export const comparePlaces = (a: Place, b: Place): Sign =>
  compareApprox(a.approx, b.approx) || compareExactly(a.ratio, b.ratio)

/** For values that doubles cannot distinguish. */
export function compareExactly(a: Fraction, b: Fraction): Sign {
  const difference = a.num * b.den - b.num * a.den
  return difference > 0n ? 1 : difference < 0n ? -1 : 0
}

/** The approximation of a · b: within seven roundings of it, or NaN when a double cannot represent it. */
export function approxProduct(a: Approx, b: Approx): Approx {
  const product = a * b
  return asApprox(product > LEAST_NORMAL && product < Infinity ? product : NaN)
}

/** Within three roundings of the value; NaN, which no comparison accepts, when a double cannot represent it. */
export function approx({ num, den }: Fraction): Approx {
  const direct = Number(num) / Number(den)
  if (direct > LEAST_NORMAL && direct < Infinity) return asApprox(direct)
  const bits = 4 * (num > den ? num : den).toString(16).length
  const cut = BigInt(Math.max(0, bits - DOUBLE_BITS))
  const shortNum = num >> cut
  const shortDen = den >> cut
  return asApprox(shortNum > ENOUGH && shortDen > ENOUGH ? Number(shortNum) / Number(shortDen) : NaN)
}

/** Whether `below`, at most `centre`, or `above`, at least `centre`, deviates further from it; 1 means `above`. */
export function furtherFrom(centre: Fraction, below: Fraction, above: Fraction): Sign {
  // above/centre against centre/below, both at least 1.
  return compare(times(above, below), times(centre, centre))
}

/** The outcome of `furtherFrom` when floats are certain of it; 0 when the integers must decide. */
export const furtherFromApprox = (centre: Approx, below: Approx, above: Approx): Sign =>
  compareApprox(approxProduct(above, below), approxProduct(centre, centre))
