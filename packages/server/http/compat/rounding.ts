/**
 * The only place where an exact value becomes a float: the nearest double, ties to even, as in IEEE 754. Vendors write
 * prices as JSON numbers, and a number that is rounded twice may not be the nearest one.
 */
import type { exact } from '@assay/sdk'

type Exact = exact.Exact

/** A fraction of any sign; `den` is positive. */
export type Signed = { readonly num: bigint; readonly den: bigint }

/** Parameters of a double: 52 bits after the leading one, and the lowest exponent of a bit. */
const FRACTION_BITS = 52
const LEAST_EXPONENT = -1074
const BIAS = 1023
const INFINITE = 0x7ffn << 52n

/** The nearest double; Infinity above the largest, 0 below half of the smallest. */
export function toDouble({ num, den }: Signed): number {
  if (num === 0n) return 0
  if (num < 0n) return -toDouble({ num: -num, den })
  const exponent = exponentOf(num, den)
  // Below the normal range the step no longer shrinks.
  const step = Math.max(exponent - FRACTION_BITS, LEAST_EXPONENT)
  const significand = step > 0 ? nearest(num, den << BigInt(step)) : nearest(num << BigInt(-step), den)
  // The leading bit of a normal number counts into the exponent; rounding up to the next power of two carries into it
  // too.
  const isNormal = exponent >= 1 - BIAS
  const bits = isNormal ? (BigInt(exponent + BIAS - 1) << BigInt(FRACTION_BITS)) + significand : significand
  return ofBits(bits >= INFINITE ? INFINITE : bits)
}

/** As a JSON number; null when that would be 0 or has no double: a price is never 0. */
export function toNumber(value: Exact): number | null {
  const double = toDouble(value)
  return double === 0 || !Number.isFinite(double) ? null : double
}

/** First rounded to this many decimals, for the parameter `precision`; null as above. */
export const toDecimals = ({ num, den }: Exact, places: number): number | null =>
  toNumber({ num: nearest(num * 10n ** BigInt(places), den), den: 10n ** BigInt(places) })

/** Plain decimal text with this many decimals, ties to even. */
export function toFixed({ num, den }: Signed, places: number): string {
  if (num < 0n) {
    const text = toFixed({ num: -num, den }, places)
    return /[1-9]/.test(text) ? `-${text}` : text
  }
  const digits = nearest(num * 10n ** BigInt(places), den)
    .toString()
    .padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** The change in per cent from `then` to `now`. */
export const percentBetween = (then: Exact, now: Exact): Signed => ({
  num: 100n * (now.num * then.den - then.num * now.den),
  den: now.den * then.num,
})

/** The e with 2^e ≤ num/den < 2^(e+1). */
function exponentOf(num: bigint, den: bigint): number {
  const guess = bitLength(num) - bitLength(den)
  const isAtLeast = guess >= 0 ? num >= den << BigInt(guess) : num << BigInt(-guess) >= den
  return isAtLeast ? guess : guess - 1
}

/** Number of bits of a positive integer. */
function bitLength(value: bigint): number {
  const hex = value.toString(16)
  return 4 * (hex.length - 1) + (32 - Math.clz32(Number.parseInt(hex.charAt(0), 16)))
}

/** Rounds to the nearest integer, ties to even. */
function nearest(num: bigint, den: bigint): bigint {
  const floor = num / den
  const twice = 2n * (num - floor * den)
  return twice > den || (twice === den && floor % 2n === 1n) ? floor + 1n : floor
}

function ofBits(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, bits)
  return view.getFloat64(0)
}
