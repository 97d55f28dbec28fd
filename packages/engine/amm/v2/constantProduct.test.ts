import { amountOut, greatestInside, smallestInput } from './constantProduct.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fraction } from '../../exact/fraction.ts'
import { cases, natural } from '../../testing/cases.ts'

const fee = fc
  .oneof(
    fc.constantFrom(
      [997n, 1000n] as const,
      [9975n, 10_000n] as const,
      [998n, 1000n] as const,
      [1n, 1n] as const,
    ),
    fc.tuple(natural(14), natural(14)).map(([a, b]) => [a, a + b] as const),
  )
  .map(([numerator, denominator]) => ({ numerator, denominator }))
const boundary: fc.Arbitrary<Fraction> = fc.oneof(
  fc.constantFrom(
    { num: 102n, den: 100n },
    { num: 100n, den: 98n },
    { num: 110n, den: 100n },
    { num: 1n, den: 1n },
  ),
  fc.tuple(natural(30), natural(30)).map(([a, b]) => ({ num: a + b, den: a })),
)
const reserve = natural(112)

describe('constant product', () => {
  it('R-product-1: keeps the product from falling, by less than a unit of output', () => {
    fc.assert(
      fc.property(fee, reserve, reserve, natural(112), (f, x, y, input) => {
        const out = amountOut(f, x, y, input)
        const [n, d] = [f.numerator, f.denominator]
        expect((x * d + input * n) * (y - out) >= x * d * y).toBe(true)
        expect((x * d + input * n) * (y - out - 1n) < x * d * y).toBe(true)
      }),
      { numRuns: cases(2000) },
    )
  })

  it('R-product-4: the smallest input gives the output, and one unit less does not', () => {
    fc.assert(
      fc.property(fee, reserve, reserve, natural(112), (f, x, y, out) => {
        const input = smallestInput(f, x, y, out)
        expect(input === null).toBe(out >= y)
        if (input === null) return
        expect(amountOut(f, x, y, input) >= out).toBe(true)
        expect(amountOut(f, x, y, input - 1n) < out).toBe(true)
      }),
      { numRuns: cases(2000) },
    )
  })

  it('R-product-3: the greatest input within a boundary stays within, and one unit more crosses it', () => {
    fc.assert(
      fc.property(fee, reserve, reserve, boundary, (f, x, y, r) => {
        const isInside = (input: bigint): boolean =>
          (x + input) * y * r.den <= r.num * x * (y - amountOut(f, x, y, input))
        const input = greatestInside(f, x, y, r)
        expect(input >= 0n && isInside(input)).toBe(true)
        expect(isInside(input + 1n)).toBe(false)
      }),
      { numRuns: cases(6000) },
    )
  })

  it('equals counting up in every small pool', () => {
    const r = { num: 110n, den: 100n }
    for (const f of [
      { numerator: 997n, denominator: 1000n },
      { numerator: 1n, denominator: 2n },
    ]) {
      for (let x = 1n; x <= 40n; x++) {
        for (let y = 1n; y <= 40n; y++) {
          let counted = 0n
          while ((x + counted + 1n) * y * r.den <= r.num * x * (y - amountOut(f, x, y, counted + 1n)))
            counted++
          expect(greatestInside(f, x, y, r)).toBe(counted)
        }
      }
    }
  })

  it('does not fall when the boundary widens', () => {
    fc.assert(
      fc.property(fee, reserve, reserve, boundary, natural(20), (f, x, y, r, more) => {
        const wider = { num: r.num + more, den: r.den }
        expect(greatestInside(f, x, y, wider) >= greatestInside(f, x, y, r)).toBe(true)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('grows with the pool, where the pool is large enough for units of output not to matter', () => {
    const large = fc.bigInt({ min: 1n << 40n, max: 1n << 100n })
    const r = { num: 102n, den: 100n }
    fc.assert(
      fc.property(large, large, natural(10), (x, y, factor) => {
        const f = { numerator: 997n, denominator: 1000n }
        expect(greatestInside(f, x * (factor + 1n), y * (factor + 1n), r) > greatestInside(f, x, y, r)).toBe(
          true,
        )
      }),
      { numRuns: cases(500) },
    )
  })

  it('drops the oldest constants and computes them again', () => {
    const f = { numerator: 997n, denominator: 1000n }
    const first = greatestInside(f, 10n ** 20n, 10n ** 20n, { num: 102n, den: 100n })
    for (let i = 1n; i <= 200n; i++) greatestInside(f, 10n ** 20n, 10n ** 20n, { num: 1000n + i, den: 1000n })
    expect(greatestInside(f, 10n ** 20n, 10n ** 20n, { num: 102n, den: 100n })).toBe(first)
  })

  it('refuses a fee that leaves nothing and a boundary below the price', () => {
    expect(() => greatestInside({ numerator: 0n, denominator: 1n }, 1n, 1n, { num: 2n, den: 1n })).toThrow(
      'fee',
    )
    expect(() => greatestInside({ numerator: 2n, denominator: 1n }, 1n, 1n, { num: 2n, den: 1n })).toThrow(
      'fee',
    )
    expect(() => greatestInside({ numerator: 1n, denominator: 1n }, 1n, 1n, { num: 1n, den: 2n })).toThrow(
      'below',
    )
  })
})
