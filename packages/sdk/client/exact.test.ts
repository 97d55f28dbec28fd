import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as decimal from '../../engine/exact/decimal.ts'
import * as ratio from '../../engine/exact/ratio.ts'
import { cases, natural } from '../../engine/testing/cases.ts'
import * as exact from './exact.ts'

const fraction = fc.record({ num: natural(512), den: natural(512) })
const digits = fc.integer({ min: 1, max: 40 })

/** Plain decimal text as a fraction. */
function parsed(text: string): exact.Exact {
  const [whole, rest = ''] = text.split('.')
  return { num: BigInt(`${whole}${rest}`), den: 10n ** BigInt(rest.length) }
}

test('the display field equals the format with 18 digits', () => {
  fc.assert(
    fc.property(fraction, ({ num, den }) => {
      const text = decimal.toText(ratio.reduce(num, den) as ratio.Ratio)
      expect(exact.format(exact.from(text))).toBe(text.display)
    }),
    { numRuns: cases(500) },
  )
})

test('formatting rounds once, to the nearest, with no more digits than requested', () => {
  fc.assert(
    fc.property(fraction, digits, (value, count) => {
      const text = exact.format(value, count)
      expect(text).toMatch(/^(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?$/)
      const significant = text.replace('.', '').replace(/^0+/, '').replace(/0+$/, '')
      expect(significant.length).toBeLessThanOrEqual(count)
      // |text - value| ≤ half a unit of the last digit: value · 10^(1-count) / 2 bounds that unit from above.
      const { num, den } = parsed(text)
      const off = num * value.den - value.num * den
      expect(2n * (off < 0n ? -off : off) * 10n ** BigInt(count - 1)).toBeLessThanOrEqual(value.num * den)
    }),
    { numRuns: cases(500) },
  )
})

const shown = (num: bigint, den: bigint, count: number) => exact.format({ num, den }, count)

test('ties go to the even digit', () => {
  expect(shown(25n, 10n, 1)).toBe('2')
  expect(shown(35n, 10n, 1)).toBe('4')
  expect(shown(125n, 1000n, 2)).toBe('0.12')
  expect(shown(995n, 10n, 2)).toBe('100')
  expect(shown(1n, 10n, 3)).toBe('0.1')
  expect(shown(123_456n, 1n, 2)).toBe('120000')
  expect(shown(28n, 10n ** 8n, 18)).toBe('0.00000028')
  expect(shown(0n, 7n, 18)).toBe('0')
})

test('comparison is the order of the numbers, whatever fractions they are written as', () => {
  fc.assert(
    fc.property(fraction, fraction, natural(64), (a, b, k) => {
      const order = exact.compare(a, b)
      expect(exact.compare(b, a)).toBe(order === 0 ? 0 : -order)
      expect(exact.compare({ num: a.num * k, den: a.den * k }, b)).toBe(order)
      // Scaled far enough, the whole parts of two different fractions differ.
      const scale = a.den * b.den
      const [left, right] = [(a.num * scale) / a.den, (b.num * scale) / b.den]
      expect(order).toBe(left < right ? -1 : left > right ? 1 : 0)
    }),
    { numRuns: cases(300) },
  )
})

test('an amount is worth the price times its whole tokens, exactly', () => {
  fc.assert(
    fc.property(fraction, natural(128), fc.integer({ min: 0, max: 36 }), (price, amount, decimals) => {
      const { num, den } = exact.multiply(price, amount, decimals)
      expect(num * price.den * 10n ** BigInt(decimals)).toBe(price.num * amount * den)
    }),
    { numRuns: cases(200) },
  )
  expect(exact.format(exact.multiply({ num: 3n, den: 2n }, 2_500_000n, 6))).toBe('3.75')
  expect(exact.format(exact.multiply({ num: 3n, den: 2n }, 0n, 6))).toBe('0')
})

test('an inexact value is refused', () => {
  for (const [numerator, denominator] of [
    ['1', '0'],
    ['-1', '2'],
    ['1e3', '1'],
    ['', '1'],
    ['1', ' 2'],
  ] as const)
    expect(() => exact.from({ numerator, denominator })).toThrow(RangeError)
  expect(() => exact.multiply({ num: 1n, den: 1n }, -1n, 18)).toThrow(RangeError)
  expect(() => exact.format({ num: 1n, den: 1n }, 0)).toThrow(RangeError)
})
