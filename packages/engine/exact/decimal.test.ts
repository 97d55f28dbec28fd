import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import { cases, natural } from '../testing/cases.ts'
import { count } from '../units.ts'
import { display, powerOfTen } from './decimal.ts'
import type { Fraction } from './fraction.ts'

const PLAIN = /^(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?$/

/** Plain decimal text as the fraction it stands for. */
function valueOf(text: string): Fraction {
  const [whole = '', part = ''] = text.split('.')
  return { num: BigInt(whole + part), den: 10n ** BigInt(part.length) }
}

const ONE: Fraction = { num: 1n, den: 1n }

function scaled({ num, den }: Fraction, exponent: number): Fraction {
  return exponent >= 0
    ? { num: num * 10n ** BigInt(exponent), den }
    : { num, den: den * 10n ** BigInt(-exponent) }
}

/** 10^exponent of the leading digit, by exact comparison. */
function leadingUnit({ num, den }: Fraction): Fraction {
  const guess = num.toString().length - den.toString().length
  const high = scaled(ONE, guess)
  return num * high.den >= high.num * den ? high : scaled(ONE, guess - 1)
}

/** The definition: nearest multiple of the 18th digit's unit, the even one of two; then how it is written. */
function expectDisplays(f: Fraction): void {
  const text = display(f)
  const shown = valueOf(text)
  const lead = leadingUnit(f)
  const unit = { num: lead.num, den: lead.den * 10n ** 17n }

  // All of it over the common denominator f.den · shown.den · unit.den.
  const difference = (shown.num * f.den - f.num * shown.den) * unit.den
  const distance = difference < 0n ? -difference : difference
  const step = unit.num * f.den * shown.den
  const units = (shown.num * unit.den) / (shown.den * unit.num)
  if ((shown.num * unit.den) % (shown.den * unit.num) !== 0n) expect.fail(`${text} has more than 18 digits`)
  if (2n * distance > step) expect.fail(`${text} is not the nearest to ${f.num}/${f.den}`)
  if (2n * distance === step && units % 2n !== 0n) expect.fail(`${text} is the odd side of ${f.num}/${f.den}`)
  expect(text).toMatch(PLAIN)
}

/** 18 significant digits. */
const digits = fc.bigInt({ min: 10n ** 17n, max: 10n ** 18n - 1n })
/** A factor on both sides: short values take one way through the code, long ones another. */
const padding = fc.oneof(fc.constant(1n), natural(200), natural(2500))

describe('display', () => {
  it('R-exact-4: is the nearest 18 digits of any price, in plain notation', () => {
    fc.assert(
      fc.property(natural(512), natural(512), (num, den) => expectDisplays({ num, den })),
      { numRuns: cases(3000) },
    )
  })

  it('is the nearest 18 digits of values with sides of 4096 bits', () => {
    fc.assert(
      fc.property(natural(4096), natural(4096), (num, den) => expectDisplays({ num, den })),
      { numRuns: cases(600) },
    )
  })

  it('R-exact-4: rounds a tie to the even digit', () => {
    fc.assert(
      fc.property(digits, fc.integer({ min: -300, max: 300 }), padding, (kept, exponent, factor) => {
        const tie = scaled({ num: (2n * kept + 1n) * factor, den: 2n * factor }, exponent)
        expectDisplays(tie)
        const even = kept % 2n === 0n ? kept : kept + 1n
        expect(display(tie)).toBe(display(scaled({ num: even, den: 1n }, exponent)))
      }),
      { numRuns: cases(1500) },
    )
  })

  it('separates a tie from its nearest neighbours', () => {
    fc.assert(
      fc.property(digits, fc.integer({ min: -60, max: 60 }), natural(2500), (kept, exponent, fine) => {
        const above = { num: (2n * kept + 1n) * fine + 1n, den: 2n * fine }
        const below = { num: (2n * kept + 1n) * fine - 1n, den: 2n * fine }
        if (fine > 1n) {
          expect(display(scaled(above, exponent))).toBe(
            display(scaled({ num: kept + 1n, den: 1n }, exponent)),
          )
          expect(display(scaled(below, exponent))).toBe(display(scaled({ num: kept, den: 1n }, exponent)))
        }
      }),
      { numRuns: cases(1500) },
    )
  })

  it('places the point right just above and just below every power of ten', () => {
    fc.assert(
      fc.property(fc.integer({ min: -320, max: 320 }), natural(1200), (exponent, fine) => {
        expectDisplays(scaled({ num: fine + 1n, den: fine }, exponent))
        expectDisplays(scaled({ num: fine, den: fine + 1n }, exponent))
        expectDisplays(scaled({ num: fine, den: fine }, exponent))
      }),
      { numRuns: cases(1000) },
    )
  })

  it('keeps 18 digits where one more digit would fit next to a power of ten', () => {
    // Above a power of ten by half to one unit of a 19th digit.
    const fine = fc.bigInt({ min: 10n ** 18n, max: 2n * 10n ** 18n })
    fc.assert(
      fc.property(fc.integer({ min: -320, max: 320 }), fine, padding, (exponent, fine, factor) => {
        expectDisplays(scaled({ num: (fine + 1n) * factor, den: fine * factor }, exponent))
        expectDisplays(scaled({ num: fine * factor, den: (fine + 1n) * factor }, exponent))
      }),
      { numRuns: cases(1500) },
    )
  })

  it('does not depend on how the value is written as a fraction', () => {
    fc.assert(
      fc.property(natural(300), natural(300), natural(3000), (num, den, factor) => {
        expect(display({ num: num * factor, den: den * factor })).toBe(display({ num, den }))
      }),
      { numRuns: cases(1500) },
    )
  })

  it('prints values of at most 18 digits unchanged', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 18n }), padding, (n, factor) => {
        expect(display({ num: n * factor, den: factor })).toBe(n.toString())
      }),
      { numRuns: cases(1500) },
    )
  })

  it.each([
    ['one', 1n, 1n, '1'],
    ['a third', 1n, 3n, '0.333333333333333333'],
    ['two thirds, rounded up', 2n, 3n, '0.666666666666666667'],
    ['a whole number with trailing zeros', 1_200_300n, 1n, '1200300'],
    ['a trailing zero after the point', 5n, 2n, '2.5'],
    ['a tie to even, down', 10n ** 18n * 2n + 5n, 10n, '200000000000000000'],
    ['a tie to even, up', 10n ** 18n * 2n + 15n, 10n, '200000000000000002'],
    ['all nines rounding to the next power', 10n ** 19n - 1n, 10n ** 19n, '1'],
    ['all nines past the digits', 10n ** 30n - 1n, 1n, `1${'0'.repeat(30)}`],
    ['a token worth nearly nothing', 1n, 10n ** 24n, `0.${'0'.repeat(23)}1`],
    ['more than 18 digits of whole part', 1234567890123456789012n, 1n, '1234567890123456790000'],
  ])('prints %s', (_, num, den, text) => {
    expect(display({ num, den })).toBe(text)
  })

  it('prints the smallest and largest of 4096 bits without an exponent', () => {
    const long = 1n << 4095n
    // 2^-4095 is 1.9153…e-1233: 1232 zeros after the point.
    expect(display({ num: 1n, den: long })).toMatch(/^0\.0{1232}[1-9][0-9]{16}[1-9]$/)
    expect(display({ num: long, den: 1n })).toMatch(/^[1-9][0-9]{17}0{1215}$/)
    expectDisplays({ num: 1n, den: long })
    expectDisplays({ num: long, den: 1n })
  })

  it.each([
    [0n, 1n],
    [1n, 0n],
    [-1n, 2n],
    [1n, -2n],
    [-1n, -2n],
  ])('refuses %s/%s', (num, den) => {
    expect(() => display({ num, den })).toThrow(InvariantError)
  })
})

describe('powerOfTen', () => {
  it('is the power, cached or not', () => {
    for (const k of [0, 1, 17, 18, 77, 1233, 1251, 1252, 1253, 3000]) {
      expect(powerOfTen(count(k))).toBe(10n ** BigInt(k))
      expect(powerOfTen(count(k))).toBe(10n ** BigInt(k))
    }
  })
})
