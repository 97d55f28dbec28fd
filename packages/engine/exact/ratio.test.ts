import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import { cases, natural } from '../testing/cases.ts'
import { bitLength } from './bits.ts'
import { ExactTextError } from './exactTextError.ts'
import * as ratio from './ratio.ts'
import type { Fraction, Ratio, TooLarge } from './ratio.ts'

const ONE = ratio.of(1n, 1n)
const MOST = (1n << 4096n) - 1n

function euclid(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

function fits(value: Ratio | TooLarge): Ratio {
  if (ratio.isTooLarge(value)) expect.fail(`needs ${value.bits} bits`)
  return value
}

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
/** Made to share factors, so that cross-cancelling has something to do. */
const aRatio = fc
  .tuple(natural(160), natural(160), fc.constantFrom(1n, 6n, 10n ** 18n), fc.constantFrom(1n, 15n, 10n ** 6n))
  .map(([num, den, up, down]) => ratio.of(num * up, den * down))

describe('of and reduce', () => {
  it('R-exact-1: keep the value and leave nothing in common', () => {
    fc.assert(
      fc.property(natural(1024), natural(1024), natural(500), (num, den, shared) => {
        const value = ratio.of(num * shared, den * shared)
        expect(value.num * den).toBe(num * value.den)
        expectReduced(value)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('give the same fields for every way of writing a value', () => {
    fc.assert(
      fc.property(natural(400), natural(400), natural(400), natural(400), (num, den, p, q) => {
        expect(ratio.of(num * p, den * p)).toEqual(ratio.of(num * q, den * q))
      }),
      { numRuns: cases(1000) },
    )
  })

  it('fit exactly when the reduced sides have at most 4096 bits', () => {
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
      expect(() => ratio.of(num, den)).toThrow(InvariantError)
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
  ])('refuse %s/%s, which is not positive', (num, den) => {
    expect(() => ratio.of(num, den)).toThrow(InvariantError)
    expect(() => ratio.reduce(num, den)).toThrow(InvariantError)
  })

  it('are the only way to a Ratio', () => {
    // @ts-expect-error a literal is not known to be reduced
    const literal: Ratio = { num: 2n, den: 4n }
    expect(literal.num).toBe(2n)
  })
})

describe('multiply', () => {
  it('is commutative', () => {
    fc.assert(
      fc.property(aRatio, aRatio, (a, b) => {
        expect(ratio.multiply(a, b)).toEqual(ratio.multiply(b, a))
      }),
      { numRuns: cases(1000) },
    )
  })

  it('is associative', () => {
    fc.assert(
      fc.property(aRatio, aRatio, aRatio, (a, b, c) => {
        const left = ratio.multiply(fits(ratio.multiply(a, b)), c)
        const right = ratio.multiply(a, fits(ratio.multiply(b, c)))
        expect(left).toEqual(right)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('equals the reduced product and stays reduced', () => {
    fc.assert(
      fc.property(aRatio, aRatio, (a, b) => {
        const value = fits(ratio.multiply(a, b))
        expect(value).toEqual(ratio.compose([a, b]))
        expect(value.num * a.den * b.den).toBe(a.num * b.num * value.den)
        expectReduced(value)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('by one changes nothing, and by the reciprocal gives one', () => {
    fc.assert(
      fc.property(aRatio, a => {
        expect(ratio.multiply(a, ONE)).toEqual(a)
        expect(ratio.multiply(a, ratio.reciprocal(a))).toEqual(ONE)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('says how long the result is when it does not fit', () => {
    const long = ratio.of(1n << 4000n, 3n)
    expect(ratio.multiply(long, ratio.of(1n << 95n, 5n))).toEqual({ num: 1n << 4095n, den: 15n })
    expect(ratio.multiply(long, ratio.of(1n << 96n, 5n))).toEqual({ reason: 'TOO_LARGE', bits: 4097 })
  })

  it('fits whatever its factors cancel to', () => {
    const a = ratio.of(MOST, MOST - 1n)
    expect(ratio.multiply(a, ratio.of(MOST - 1n, MOST - 2n))).toEqual(ratio.of(MOST, MOST - 2n))
  })
})

describe('compose', () => {
  it('of fractions in any order and grouping is the same', () => {
    fc.assert(
      fc.property(fc.array(fractionOf(200), { maxLength: 5 }), fc.nat({ max: 5 }), (fractions, at) => {
        const whole = ratio.compose(fractions)
        expect(ratio.compose(fractions.toReversed())).toEqual(whole)
        const parts = [ratio.product(fractions.slice(0, at)), ratio.product(fractions.slice(at))]
        expect(ratio.compose(parts)).toEqual(whole)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('of Ratios equals multiplying them one by one', () => {
    fc.assert(
      fc.property(fc.array(aRatio, { maxLength: 4 }), factors => {
        const stepwise = factors.reduce((value, factor) => fits(ratio.multiply(value, factor)), ONE)
        expect(ratio.compose(factors)).toEqual(stepwise)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('of none is one', () => {
    expect(ratio.compose([])).toEqual(ONE)
    expect(ratio.product([])).toEqual({ num: 1n, den: 1n })
  })

  it('fits by its reduced value, whatever the product needs on the way', () => {
    const up = { num: 1n << 3000n, den: 1n }
    const down = { num: 1n, den: 1n << 3000n }
    expect(ratio.compose([up, up, down])).toEqual({ num: 1n << 3000n, den: 1n })
    expect(ratio.compose([up, up])).toEqual({ reason: 'TOO_LARGE', bits: 6001 })
  })

  it('refuses a factor of zero', () => {
    expect(() => ratio.compose([{ num: 0n, den: 1n }, ONE])).toThrow(InvariantError)
  })
})

describe('reciprocal', () => {
  it('is its own inverse and stays reduced', () => {
    fc.assert(
      fc.property(aRatio, a => {
        const back = ratio.reciprocal(a)
        expectReduced(back)
        expect(back).toEqual(ratio.of(a.den, a.num))
        expect(ratio.reciprocal(back)).toEqual(a)
      }),
      { numRuns: cases(500) },
    )
  })
})

describe('compare', () => {
  it('agrees with cross-multiplication', () => {
    fc.assert(
      fc.property(fractionOf(300), fractionOf(300), (a, b) => {
        expect(ratio.compare(a, b)).toBe(crossed(a, b))
      }),
      { numRuns: cases(2000) },
    )
  })

  it('agrees with cross-multiplication up to 8192 bits', () => {
    fc.assert(
      fc.property(fractionOf(8192), fractionOf(8192), (a, b) => {
        expect(ratio.compare(a, b)).toBe(crossed(a, b))
      }),
      { numRuns: cases(500) },
    )
  })

  it('tells neighbours apart that no float can', () => {
    const length = fc.constantFrom(30, 60, 400, 1000, 1100, 4000, 8192)
    fc.assert(
      fc.property(length.chain(natural), natural(100), natural(100), (fine, p, q) => {
        const a = { num: fine * p, den: fine * q }
        const above = { num: fine * p + 1n, den: fine * q }
        const below = { num: fine * p, den: fine * q + 1n }
        expect(ratio.compare(above, a)).toBe(1)
        expect(ratio.compare(a, above)).toBe(-1)
        expect(ratio.compare(below, a)).toBe(-1)
        expect(ratio.compare(a, below)).toBe(1)
        expect(ratio.compare(a, { num: p, den: q })).toBe(0)
      }),
      { numRuns: cases(1500) },
    )
  })

  it('decides differences at the very edge of what a float resolves', () => {
    fc.assert(
      fc.property(
        natural(1100),
        natural(1100),
        fc.integer({ min: 44, max: 60 }),
        fc.boolean(),
        (num, den, bits, isUp) => {
          const one = 1n << BigInt(bits)
          const other = { num: num * (isUp ? one + 1n : one - 1n), den: den * one }
          expect(ratio.compare(other, { num, den })).toBe(isUp ? 1 : -1)
          expect(ratio.compare({ num, den }, other)).toBe(isUp ? -1 : 1)
        },
      ),
      { numRuns: cases(2000) },
    )
  })

  it('holds for values so lopsided that a cut leaves little of one side', () => {
    const slope = fc.bigInt({ min: 850n, max: 1060n })
    fc.assert(
      fc.property(natural(70), natural(8), natural(1500), slope, (p, q, fine, shift) => {
        // (p + 1 - 1/fine) / q against (p + 1/2) / q, both over 2^shift: the first is long, the second short.
        const long = { num: p * fine + fine - 1n, den: (q * fine) << shift }
        const short = { num: 2n * p + 1n, den: (2n * q) << shift }
        expect(ratio.compare(long, short)).toBe(crossed(long, short))
        expect(ratio.compare(short, long)).toBe(crossed(short, long))
        const [steep, flat] = [flipped(long), flipped(short)]
        expect(ratio.compare(steep, flat)).toBe(crossed(steep, flat))
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
        expect(ratio.compare(a, a)).toBe(0)
        expect(ratio.compare(a, b) + ratio.compare(b, a)).toBe(0)
        if (ratio.compare(a, b) <= 0 && ratio.compare(b, c) <= 0)
          expect(ratio.compare(a, c)).toBeLessThanOrEqual(0)
      }),
      { numRuns: cases(1500) },
    )
  })

  it('of Ratios is 0 exactly when they are equal', () => {
    fc.assert(
      fc.property(aRatio, aRatio, (a, b) => {
        expect(ratio.compare(a, b) === 0).toBe(ratio.equals(a, b))
        expect(ratio.equals(a, ratio.of(a.num * 7n, a.den * 7n))).toBe(true)
        expect(ratio.equals(a, fits(ratio.multiply(a, ratio.of(2n, 1n))))).toBe(false)
        expect(ratio.equals(ratio.of(a.num, 1n), ratio.of(a.num + 1n, 1n))).toBe(false)
        expect(ratio.equals(ratio.of(1n, a.den), ratio.of(1n, a.den + 1n))).toBe(false)
      }),
      { numRuns: cases(500) },
    )
  })

  it('holds past the range of a float, at both ends', () => {
    const huge = { num: 1n << 8191n, den: 1n }
    const tiny = { num: 1n, den: 1n << 8191n }
    expect(ratio.compare(huge, tiny)).toBe(1)
    expect(ratio.compare(tiny, huge)).toBe(-1)
    expect(ratio.compare(huge, { num: (1n << 8191n) + 1n, den: 1n })).toBe(-1)
    expect(ratio.compare(tiny, { num: 1n, den: (1n << 8191n) + 1n })).toBe(1)
    // Subnormal quotients: 2^-1070 has five bits left in a double.
    const small = { num: 33n, den: 1n << 1079n }
    expect(ratio.compare(small, { num: 34n, den: 1n << 1079n })).toBe(-1)
    expect(ratio.compare({ num: 67n, den: 1n << 1080n }, small)).toBe(1)
    const short = { num: 5n, den: (1n << 1023n) - 1n }
    expect(ratio.compare({ num: 5n, den: 1n << 1023n }, short)).toBe(-1)
  })
})

describe('floorOf', () => {
  it('is the greatest integer not above value times scale', () => {
    fc.assert(
      fc.property(fractionOf(300), natural(80), (f, scale) => {
        const floor = ratio.floorOf(f, scale)
        expect(floor * f.den <= f.num * scale).toBe(true)
        expect((floor + 1n) * f.den > f.num * scale).toBe(true)
      }),
      { numRuns: cases(1000) },
    )
  })
})

describe('toText and parse', () => {
  it('are inverse', () => {
    fc.assert(
      fc.property(natural(2000), natural(2000), (num, den) => {
        const value = ratio.of(num, den)
        const text = ratio.toText(value)
        expect(ratio.parse(text.numerator, text.denominator)).toEqual(value)
        expect(BigInt(text.numerator)).toBe(value.num)
        expect(BigInt(text.denominator)).toBe(value.den)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('carry 4096 bits a side', () => {
    const value = ratio.of(MOST, MOST - 1n)
    const text = ratio.toText(value)
    expect(text.display).toBe('1')
    expect(ratio.parse(text.numerator, text.denominator)).toEqual(value)
  })

  it('refuse every fraction that is not reduced', () => {
    fc.assert(
      fc.property(aRatio, natural(200), (a, factor) => {
        const shared = factor + 1n
        expect(() => ratio.parse((a.num * shared).toString(), (a.den * shared).toString())).toThrow(
          expect.objectContaining({ code: 'INVALID_EXACT', field: 'value' }),
        )
      }),
      { numRuns: cases(500) },
    )
  })

  it.each([
    ['zero', '0'],
    ['a negative', '-1'],
    ['negative zero', '-0'],
    ['a plus sign', '+1'],
    ['NaN', 'NaN'],
    ['infinity', 'Infinity'],
    ['undefined', 'undefined'],
    ['an exponent', '1e18'],
    ['a fraction', '1.5'],
    ['a trailing point', '1.'],
    ['a leading zero', '01'],
    ['only zeros', '00'],
    ['hexadecimal', '0x10'],
    ['a bigint literal', '1n'],
    ['a separator', '1_000'],
    ['grouping', '1,000'],
    ['a leading space', ' 1'],
    ['a trailing space', '1 '],
    ['a trailing newline', '1\n'],
    ['a byte order mark', '\ufeff1'],
    ['a no-break space', '1\u00a0'],
    ['Arabic-Indic digits', '١٢'],
    ['full-width digits', '１２'],
    ['a superscript', '2²'],
    ['nothing', ''],
    ['4097 bits', (MOST + 1n).toString()],
    ['a thousand digits too many', '9'.repeat(2234)],
  ])('refuse %s on either side, and say so', (_, text) => {
    const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
    for (const field of ['numerator', 'denominator'] as const) {
      const read = () => (field === 'numerator' ? ratio.parse(text, '7') : ratio.parse('7', text))
      expect(read).toThrow(ExactTextError)
      expect(read).toThrow(
        expect.objectContaining({ code: 'INVALID_EXACT', retryable: false, field, received: shown }),
      )
    }
  })

  it('say what was received and what was expected', () => {
    expect(() => ratio.parse('007', '1')).toThrow(
      'numerator: received "007", expected unsigned decimal digits without leading zeros, at most 4096 bits',
    )
    expect(() => ratio.parse('1', '0')).toThrow('denominator: received "0", expected a positive integer')
    expect(() => ratio.parse('6', '4')).toThrow('value: received "6/4", expected a reduced fraction')
  })
})
