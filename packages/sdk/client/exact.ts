/**
 * Exact values as pairs of bigints, for readers who compare or multiply prices. Only `format` rounds, once, from the
 * exact value.
 */
import type { ExactValue } from '../wire/quantity.ts'

/** Not necessarily reduced; `num` may be 0, `den` is positive. */
export type Exact = { readonly num: bigint; readonly den: bigint }

const DISPLAY_DIGITS = 18

/** Parses a value of the wire. Throws RangeError if the text is not one. */
export function from({ numerator, denominator }: Pick<ExactValue, 'numerator' | 'denominator'>): Exact {
  if (!isDigits(numerator) || !isDigits(denominator) || BigInt(denominator) === 0n)
    throw new RangeError(`${numerator}/${denominator} is not an exact value`)
  return { num: BigInt(numerator), den: BigInt(denominator) }
}

export function compare(a: Exact, b: Exact): -1 | 0 | 1 {
  const left = a.num * b.den
  const right = b.num * a.den
  return left < right ? -1 : left > right ? 1 : 0
}

/** The value of `amount` atomic units of a token at a price per whole token. */
export function multiply(price: Exact, amount: bigint, decimals: number): Exact {
  if (amount < 0n) throw new RangeError(`an amount of ${amount}`)
  return { num: price.num * amount, den: price.den * 10n ** BigInt(decimals) }
}

/**
 * Plain decimal text with at most `digits` significant digits, ties to even, without trailing zeros. With 18
 * it is the wire's own `display`.
 */
export function format({ num, den }: Exact, digits: number = DISPLAY_DIGITS): string {
  if (!Number.isInteger(digits) || digits < 1) throw new RangeError(`${digits} significant digits`)
  if (num === 0n) return '0'
  let exponent = (num / den).toString().length - 1
  if (num < den) exponent = -(den / num).toString().length
  for (;;) {
    const shift = digits - 1 - exponent
    const scaledNum = shift > 0 ? num * 10n ** BigInt(shift) : num
    const scaledDen = shift < 0 ? den * 10n ** BigInt(-shift) : den
    const quotient = scaledNum / scaledDen
    // The guess for den/num = 10 exactly is one too low: the quotient then has one extra digit, so round again.
    if (quotient >= 10n ** BigInt(digits)) {
      exponent += 1
      continue
    }
    const twiceRest = 2n * (scaledNum - quotient * scaledDen)
    const isUp = twiceRest > scaledDen || (twiceRest === scaledDen && quotient % 2n === 1n)
    return plain(isUp ? quotient + 1n : quotient, shift)
  }
}

/** `value` · 10^-`shift` without exponent, trailing zeros or trailing point. */
function plain(value: bigint, shift: number): string {
  if (shift <= 0) return (value * 10n ** BigInt(-shift)).toString()
  const text = value.toString().padStart(shift + 1, '0')
  const point = text.length - shift
  const fraction = text.slice(point).replace(/0+$/, '')
  return fraction === '' ? text.slice(0, point) : `${text.slice(0, point)}.${fraction}`
}

const isDigits = (text: string): boolean => /^[0-9]+$/.test(text)
