/** Exact values as doubles: held against the definition of rounding, and against how Node reads decimals. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { percentBetween, toDecimals, toDouble, toFixed, toNumber } from './rounding.ts'

/** A double taken apart by its own arithmetic: exactly `num/den`. */
function fractionOf(double: number): { readonly num: bigint; readonly den: bigint } {
  let [value, shift] = [double, 0]
  while (!Number.isInteger(value)) {
    value *= 2
    shift += 1
  }
  return { num: BigInt(value), den: 2n ** BigInt(shift) }
}

const view = new DataView(new ArrayBuffer(8))
function bitsOf(double: number): bigint {
  view.setFloat64(0, double)
  return view.getBigUint64(0)
}
function stepped(double: number, by: bigint): number {
  view.setBigUint64(0, bitsOf(double) + by)
  return view.getFloat64(0)
}

const distance = (num: bigint, den: bigint, double: number) => {
  const at = fractionOf(double)
  const apart = num * at.den - at.num * den
  return { num: apart < 0n ? -apart : apart, den: den * at.den }
}
const compare = (a: { num: bigint; den: bigint }, b: { num: bigint; den: bigint }) => {
  const [left, right] = [a.num * b.den, b.num * a.den]
  return left < right ? -1 : left > right ? 1 : 0
}

const big = (bits: number) => fc.bigInt({ min: 1n, max: 2n ** BigInt(bits) })
const ratios = fc.oneof(
  fc.tuple(big(40), big(40)),
  fc.tuple(big(400), big(120)),
  fc.tuple(big(120), big(400)),
  // Halves between two doubles, and their neighbours.
  fc
    .tuple(
      fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n - 1n }),
      fc.integer({ min: 0, max: 200 }),
      fc.bigInt(-1n, 1n),
    )
    .map(([whole, shift, off]) => [(2n * whole + 1n) * 2n ** 90n + off, 2n ** BigInt(91 + shift)] as const),
)

describe('an exact value as a double', () => {
  it('is nearer than both its neighbours, and of two equally near the even one', () => {
    fc.assert(
      fc.property(ratios, ([num, den]) => {
        const double = toDouble({ num, den })
        const own = distance(num, den, double)
        for (const by of [-1n, 1n]) {
          const other = compare(own, distance(num, den, stepped(double, by)))
          expect(other).toBeLessThanOrEqual(0)
          if (other === 0) expect(bitsOf(double) % 2n).toBe(0n)
        }
        expect(toDouble({ num: -num, den })).toBe(-double)
      }),
      { numRuns: 3000 },
    )
  })

  it('of a decimal equals Node’s parse of its text, from the least double to the largest', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 40n), fc.integer({ min: -345, max: 320 }), (digits, power) => {
        const scale = 10n ** BigInt(Math.abs(power))
        const value = power < 0 ? { num: digits, den: scale } : { num: digits * scale, den: 1n }
        expect(toDouble(value)).toBe(Number(`${digits}e${power}`))
      }),
      { numRuns: 3000 },
    )
  })

  it('of every double is that double, as an odd fraction too', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), big(64), (double, factor) => {
        fc.pre(Math.abs(double) > 1e-300)
        const { num, den } = fractionOf(double)
        expect(toDouble({ num: num * factor, den: den * factor })).toBe(double === 0 ? 0 : double)
      }),
    )
    for (const odd of [Number.MIN_VALUE, 2 ** -1022, stepped(2 ** -1022, -1n), Number.MAX_VALUE])
      expect(toDouble(fractionOf(odd))).toBe(odd)
  })

  it('is null when it would be 0 or past the largest', () => {
    expect(toNumber({ num: 1n, den: 10n ** 400n })).toBeNull()
    expect(toNumber({ num: 10n ** 400n, den: 1n })).toBeNull()
    expect(toNumber({ num: 1n, den: 3n })).toBe(1 / 3)
    // Half of the least double is a tie, and the even one of its neighbours is 0.
    expect(toDouble({ num: 1n, den: 2n ** 1075n })).toBe(0)
    expect(toDouble({ num: 3n, den: 2n ** 1076n })).toBe(Number.MIN_VALUE)
  })
})

describe('decimals', () => {
  it('are rounded once, ties to even, of either sign', () => {
    expect(toFixed({ num: 25n, den: 10n }, 0)).toBe('2')
    expect(toFixed({ num: 35n, den: 10n }, 0)).toBe('4')
    expect(toFixed({ num: -12345n, den: 10_000n }, 3)).toBe('-1.234')
    expect(toFixed({ num: -1n, den: 10_000n }, 2)).toBe('0.00')
    expect(toDecimals({ num: 2n, den: 3n }, 4)).toBe(0.6667)
    expect(toDecimals({ num: 1n, den: 1000n }, 2)).toBeNull()
  })

  it('are never further than half a step from the value', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 30n), 10n ** 30n),
        big(80),
        fc.integer({ min: 0, max: 18 }),
        (num, den, places) => {
          const text = toFixed({ num, den }, places)
          const scale = 10n ** BigInt(places)
          const apart = BigInt(text.replace('.', '')) * den - num * scale
          expect(2n * (apart < 0n ? -apart : apart) <= den).toBe(true)
        },
      ),
    )
  })

  it('a change in per cent is that of the exact prices', () => {
    const percent = percentBetween({ num: 4n, den: 3n }, { num: 5n, den: 3n })
    expect(toDouble(percent)).toBe(25)
    expect(toDouble(percentBetween({ num: 3n, den: 1n }, { num: 1n, den: 1n }))).toBe(-200 / 3)
  })
})
