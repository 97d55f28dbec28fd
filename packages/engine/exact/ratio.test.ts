import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import { cases, natural } from '../testing/cases.ts'
import { bitLength } from './bits.ts'
import * as decimal from './decimal.ts'
import * as fraction from './fraction.ts'
import * as ratio from './ratio.ts'
import type { Fraction } from './fraction.ts'
import type { Ratio, TooLarge } from './ratio.ts'

const MOST = (1n << 4096n) - 1n

function euclid(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

function fits(value: Ratio | TooLarge): Ratio {
  if (ratio.isTooLarge(value)) expect.fail(`needs ${value.bits} bits`)
  return value
}

const of = (num: bigint, den: bigint): Ratio => fits(ratio.reduce(num, den))

function expectReduced(value: Ratio): void {
  expect(value.num > 0n && value.den > 0n).toBe(true)
  expect(euclid(value.num, value.den)).toBe(1n)
  expect(Math.max(bitLength(value.num), bitLength(value.den))).toBeLessThanOrEqual(4096)
}

function crossed(a: Fraction, b: Fraction): number {
  const [left, right] = [a.num * b.den, b.num * a.den]
  return left < right ? -1 : left > right ? 1 : 0
}

function flipped({ num, den }: Fraction): Fraction {
  return { num: den, den: num }
}

const fractionOf = (bits: number): fc.Arbitrary<Fraction> =>
  fc.record({ num: natural(bits), den: natural(bits) })
describe('reduce', () => {
  it('R-exact-1: keeps the value and leaves no common factor', () => {
    fc.assert(
      fc.property(natural(1024), natural(1024), natural(500), (num, den, shared) => {
        const value = of(num * shared, den * shared)
        expect(value.num * den).toBe(num * value.den)
        expectReduced(value)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('gives the same fields for every way of writing a value', () => {
    fc.assert(
      fc.property(natural(400), natural(400), natural(400), natural(400), (num, den, p, q) => {
        expect(of(num * p, den * p)).toEqual(of(num * q, den * q))
      }),
      { numRuns: cases(1000) },
    )
  })

  it('fits exactly when the reduced sides have at most 4096 bits', () => {
    const side = fc
      .bigInt({ min: 4094n, max: 4098n })
      .chain(bits => fc.bigInt({ min: 1n << (bits - 1n), max: (1n << bits) - 1n }))
    fc.assert(
      fc.property(side, natural(4098), natural(300), fc.boolean(), (long, other, shared, isNum) => {
        const [num, den] = isNum ? [long, other] : [other, long]
        const divisor = euclid(num, den)
        const bits = Math.max((num / divisor).toString(2).length, (den / divisor).toString(2).length)
        const value = ratio.reduce(num * shared, den * shared)
        if (bits <= 4096) expect(value).toEqual({ num: num / divisor, den: den / divisor })
        else expect(value).toEqual({ reason: 'TOO_LARGE', bits })
      }),
      { numRuns: cases(100) },
    )
  })

  it.each([
    ['numerator of exactly 4096 bits', MOST, 1n, null],
    ['denominator of exactly 4096 bits', 1n, MOST, null],
    ['both of exactly 4096 bits', MOST, MOST - 1n, null],
    ['numerator of 4097 bits', MOST + 1n, 1n, 4097],
    ['denominator of 4097 bits', 1n, MOST + 1n, 4097],
    ['longer side counts', 1n << 5000n, 3n ** 3000n, 5001],
    ['4097 bits that cancel to 4096', (MOST + 1n) * 3n, 6n, null],
    ['9000 bits that cancel to one', 1n << 9000n, 1n << 9000n, null],
  ])('bounds the reduced value: %s', (_, num, den, bits) => {
    const value = ratio.reduce(num, den)
    expect(ratio.isTooLarge(value)).toBe(bits !== null)
    if (ratio.isTooLarge(value)) {
      expect(value).toEqual({ reason: 'TOO_LARGE', bits })
    } else {
      expectReduced(value)
    }
  })

  it.each([
    [0n, 1n],
    [1n, 0n],
    [0n, 0n],
    [-1n, 1n],
    [1n, -1n],
    [-1n, -1n],
  ])('refuses %s/%s, which is not positive', (num, den) => {
    expect(() => ratio.reduce(num, den)).toThrow(InvariantError)
  })

  it('is the only way to a Ratio', () => {
    // @ts-expect-error a literal is not known to be reduced
    const literal: Ratio = { num: 2n, den: 4n }
    expect(literal.num).toBe(2n)
  })
})

describe('compare', () => {
  it('agrees with cross-multiplication', () => {
    fc.assert(
      fc.property(fractionOf(300), fractionOf(300), (a, b) => {
        expect(fraction.compare(a, b)).toBe(crossed(a, b))
      }),
      { numRuns: cases(2000) },
    )
  })

  it('agrees with cross-multiplication up to 8192 bits', () => {
    fc.assert(
      fc.property(fractionOf(8192), fractionOf(8192), (a, b) => {
        expect(fraction.compare(a, b)).toBe(crossed(a, b))
      }),
      { numRuns: cases(500) },
    )
  })

  it('separates neighbours that no float can', () => {
    const length = fc.constantFrom(30, 60, 400, 1000, 1100, 4000, 8192)
    fc.assert(
      fc.property(length.chain(natural), natural(100), natural(100), (fine, p, q) => {
        const a = { num: fine * p, den: fine * q }
        const above = { num: fine * p + 1n, den: fine * q }
        const below = { num: fine * p, den: fine * q + 1n }
        expect(fraction.compare(above, a)).toBe(1)
        expect(fraction.compare(a, above)).toBe(-1)
        expect(fraction.compare(below, a)).toBe(-1)
        expect(fraction.compare(a, below)).toBe(1)
        expect(fraction.compare(a, { num: p, den: q })).toBe(0)
      }),
      { numRuns: cases(1500) },
    )
  })

  it('decides differences at the very edge of float resolution', () => {
    fc.assert(
      fc.property(
        natural(1100),
        natural(1100),
        fc.integer({ min: 44, max: 60 }),
        fc.boolean(),
        (num, den, bits, isUp) => {
          const one = 1n << BigInt(bits)
          const other = { num: num * (isUp ? one + 1n : one - 1n), den: den * one }
          expect(fraction.compare(other, { num, den })).toBe(isUp ? 1 : -1)
          expect(fraction.compare({ num, den }, other)).toBe(isUp ? -1 : 1)
        },
      ),
      { numRuns: cases(2000) },
    )
  })

  it('holds for values so lopsided that truncation leaves little of one side', () => {
    const slope = fc.bigInt({ min: 850n, max: 1060n })
    fc.assert(
      fc.property(natural(70), natural(8), natural(1500), slope, (p, q, fine, shift) => {
        // (p + 1 - 1/fine) / q against (p + 1/2) / q, both over 2^shift: the first is long, the second short.
        const long = { num: p * fine + fine - 1n, den: (q * fine) << shift }
        const short = { num: 2n * p + 1n, den: (2n * q) << shift }
        expect(fraction.compare(long, short)).toBe(crossed(long, short))
        expect(fraction.compare(short, long)).toBe(crossed(short, long))
        const [steep, flat] = [flipped(long), flipped(short)]
        expect(fraction.compare(steep, flat)).toBe(crossed(steep, flat))
      }),
      { numRuns: cases(1500) },
    )
  })

  it('is a total order', () => {
    const near = fc
      .tuple(fc.bigInt({ min: 1n, max: 6n }), fc.bigInt({ min: 1n, max: 6n }), natural(1200))
      .map(([num, den, shared]) => ({ num: num * shared, den: den * shared }))
    fc.assert(
      fc.property(near, near, near, (a, b, c) => {
        expect(fraction.compare(a, a)).toBe(0)
        expect(fraction.compare(a, b) + fraction.compare(b, a)).toBe(0)
        if (fraction.compare(a, b) <= 0 && fraction.compare(b, c) <= 0)
          expect(fraction.compare(a, c)).toBeLessThanOrEqual(0)
      }),
      { numRuns: cases(1500) },
    )
  })

  it('holds past the range of a float, at both ends', () => {
    const huge = { num: 1n << 8191n, den: 1n }
    const tiny = { num: 1n, den: 1n << 8191n }
    expect(fraction.compare(huge, tiny)).toBe(1)
    expect(fraction.compare(tiny, huge)).toBe(-1)
    expect(fraction.compare(huge, { num: (1n << 8191n) + 1n, den: 1n })).toBe(-1)
    expect(fraction.compare(tiny, { num: 1n, den: (1n << 8191n) + 1n })).toBe(1)
    // Subnormal quotients: 2^-1070 has five bits left in a double.
    const small = { num: 33n, den: 1n << 1079n }
    expect(fraction.compare(small, { num: 34n, den: 1n << 1079n })).toBe(-1)
    expect(fraction.compare({ num: 67n, den: 1n << 1080n }, small)).toBe(1)
    const short = { num: 5n, den: (1n << 1023n) - 1n }
    expect(fraction.compare({ num: 5n, den: 1n << 1023n }, short)).toBe(-1)
  })
})

describe('toText', () => {
  it('R-exact-4: writes both sides in full', () => {
    fc.assert(
      fc.property(natural(2000), natural(2000), (num, den) => {
        const value = of(num, den)
        const text = decimal.toText(value)
        expect(BigInt(text.numerator)).toBe(value.num)
        expect(BigInt(text.denominator)).toBe(value.den)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('carries 4096 bits a side', () => {
    const text = decimal.toText(of(MOST, MOST - 1n))
    expect(text).toEqual({ numerator: `${MOST}`, denominator: `${MOST - 1n}`, display: '1' })
  })
})
