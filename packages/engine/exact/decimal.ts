/**
 * The display form of an exact value: rounded exactly once, from the exact fraction, to 18 significant digits with ties to
 * even. It is always plain decimal: no exponent, no trailing zeros, no trailing point.
 */
import { assert } from '../assert.ts'
import { count, type Count } from '../units.ts'
import { BEYOND_MAX_BITS, bitLength } from './bits.ts'
import type { Fraction } from './fraction.ts'
import type { Ratio } from './ratio.ts'

const DIGITS = 18
const LEAST = 10n ** BigInt(DIGITS - 1)
const BEYOND = 10n * LEAST

/** Decimal digits of 2^4096. */
const MAX_DIGITS = BEYOND_MAX_BITS.toString().length

/** The powers kept: enough for 4096 bits over 1, or 1 over 4096 bits, plus 18 digits. */
const CACHED_POWERS = MAX_DIGITS + DIGITS
const powers: (bigint | undefined)[] = Array.from({ length: CACHED_POWERS })

/** The precision of the quick rounding: bits of the denominator, and bits beyond the last digit. */
const LEADING_BITS = 128
const GUARD_BITS = 64
const GUARD_HALF = 1n << BigInt(GUARD_BITS - 1)
const LEAST_LEADING = 1n << BigInt(LEADING_BITS - 1)
/** Fits a double with room to spare. */
const MOST_LEADING = 1n << 1000n
const LOG10_2 = Math.LOG10E * Math.LN2

const ZERO = '0'.charCodeAt(0)

/** The wire form: decimal strings, and the value rounded once to 18 significant digits. */
export type ExactText = {
  readonly numerator: string
  readonly denominator: string
  readonly display: string
}

export function toText(r: Ratio): ExactText {
  return { numerator: r.num.toString(), denominator: r.den.toString(), display: display(r) }
}

/** Both sides positive; need not be reduced. */
export function display(f: Fraction): string {
  assert(f.num > 0n && f.den > 0n, () => `display of ${f.num}/${f.den}, which is not positive`)
  return plain(roundLeading(f) ?? roundExactly(f))
}

/** 10^exponent. */
export function powerOfTen(exponent: Count): bigint {
  if (exponent >= CACHED_POWERS) return 10n ** BigInt(exponent)
  return (powers[exponent] ??= 10n ** BigInt(exponent))
}

/** The rounded value is digits · 10^(exponent - 17); digits may have been rounded up to 10^18. */
type Rounded = ReturnType<typeof roundExactly>

/**
 * Rounds by the leading bits of long sides; null when they do not decide, as for a tie.
 *
 * `den` keeps 128 bits and `num` is cut 64 bits lower, so the quotient carries 64 bits past the last digit. It is
 * below 2^124 and each cut is worth at most 2^-127 of it. With the division rounding down, the true quotient is less
 * than 1 below or less than 2 above. If that range crosses a power of ten, both sides round to the power.
 */
function roundLeading(f: Fraction): Rounded | null {
  const denCut = bitLength(f.den) - LEADING_BITS
  // Shorter sides are rounded exactly as quickly.
  if (denCut < GUARD_BITS) return null
  const num = f.num >> BigInt(denCut - GUARD_BITS)
  const den = f.den >> BigInt(denCut)
  if (num < LEAST_LEADING || num > MOST_LEADING) return null

  const exponent = Math.floor(Math.log10(Number(num) / Number(den)) - GUARD_BITS * LOG10_2)
  const shift = DIGITS - 1 - exponent
  const quotient =
    shift >= 0 ? (num * powerOfTen(count(shift))) / den : num / (den * powerOfTen(count(-shift)))
  const digits = quotient >> BigInt(GUARD_BITS)
  if (digits < LEAST || digits >= BEYOND) return null
  const guard = BigInt.asUintN(GUARD_BITS, quotient)
  if (guard <= GUARD_HALF - 2n) return { digits, exponent }
  if (guard > GUARD_HALF) return { digits: digits + 1n, exponent }
  return null
}

function roundExactly(f: Fraction) {
  let exponent = guessExponent(f)
  for (;;) {
    const shift = DIGITS - 1 - exponent
    const num = shift > 0 ? f.num * powerOfTen(count(shift)) : f.num
    const den = shift < 0 ? f.den * powerOfTen(count(-shift)) : f.den
    const digits = num / den
    // Both directions lead to the one right exponent, so the loop ends; after a guess off by one, immediately.
    if (digits < LEAST) exponent -= 1
    else if (digits >= BEYOND) exponent += 1
    else {
      const twiceRest = (num - digits * den) << 1n
      const isUp = twiceRest > den || (twiceRest === den && (digits & 1n) === 1n)
      return { digits: isUp ? digits + 1n : digits, exponent }
    }
  }
}

/** floor(log10) of the value; off by one when a float cannot distinguish 9.99… from 10. */
function guessExponent(f: Fraction) {
  const direct = Number(f.num) / Number(f.den)
  if (direct > 0 && direct < Infinity) return Math.floor(Math.log10(direct))
  const numCut = Math.max(0, bitLength(f.num) - LEADING_BITS)
  const denCut = Math.max(0, bitLength(f.den) - LEADING_BITS)
  const leading = Number(f.num >> BigInt(numCut)) / Number(f.den >> BigInt(denCut))
  return Math.floor(Math.log10(leading) + (numCut - denCut) * LOG10_2)
}

function plain({ digits, exponent }: Rounded): string {
  const text = digits.toString()
  const point = text.length - (DIGITS - 1) + exponent
  let end = text.length
  while (text.charCodeAt(end - 1) === ZERO) end -= 1
  if (point <= 0) return `0.${'0'.repeat(-point)}${text.slice(0, end)}`
  if (point >= end) return text.slice(0, end) + '0'.repeat(point - end)
  return `${text.slice(0, point)}.${text.slice(point, end)}`
}
