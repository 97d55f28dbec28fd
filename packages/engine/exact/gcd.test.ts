import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import { cases, natural } from '../testing/cases.ts'
import { gcd } from './gcd.ts'

function euclid(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

/** The pair whose Euclidean quotients are these, last one first. */
function pairOf(quotients: readonly bigint[]): readonly [bigint, bigint] {
  let [a, b] = [1n, 0n]
  for (const quotient of quotients) [a, b] = [a * quotient + b, a]
  return [a, b]
}

describe('R-exact-1: gcd', () => {
  it('equals plain Euclid at every length', () => {
    fc.assert(
      fc.property(natural(600), natural(600), natural(200), (a, b, shared) => {
        expect(gcd(a * shared, b * shared)).toBe(euclid(a * shared, b * shared))
      }),
      { numRuns: cases(4000) },
    )
  })

  it('equals plain Euclid on unreduced products of prices', () => {
    fc.assert(
      fc.property(natural(8192), natural(8192), (a, b) => {
        expect(gcd(a, b)).toBe(euclid(a, b))
      }),
      { numRuns: cases(150) },
    )
  })

  it('equals plain Euclid where a side is mostly a power of two', () => {
    const twos = fc.bigInt({ min: 0n, max: 260n })
    fc.assert(
      fc.property(natural(300), natural(120), twos, twos, (a, b, twosOfA, twosOfB) => {
        const [left, right] = [a << twosOfA, b << twosOfB]
        expect(gcd(left, right)).toBe(euclid(left, right))
        expect(gcd(right, left)).toBe(euclid(left, right))
      }),
      { numRuns: cases(4000) },
    )
  })

  it('equals plain Euclid on machine numbers', () => {
    fc.assert(
      fc.property(natural(54), natural(54), (a, b) => {
        expect(gcd(a, b)).toBe(euclid(a, b))
      }),
      { numRuns: cases(4000) },
    )
  })

  it('equals plain Euclid next to the largest machine numbers', () => {
    const near = fc.bigInt({ min: -40n, max: 40n })
    fc.assert(
      fc.property(
        fc.constantFrom(26n, 51n, 52n, 53n, 54n, 78n, 104n),
        near,
        natural(104),
        (bits, offset, b) => {
          const a = (1n << bits) + offset
          expect(gcd(a, b)).toBe(euclid(a, b))
          expect(gcd(b, a)).toBe(euclid(b, a))
        },
      ),
      { numRuns: cases(2000) },
    )
  })

  it('divides both operands and leaves no common factor', () => {
    fc.assert(
      fc.property(natural(400), natural(400), natural(300), (a, b, shared) => {
        const divisor = gcd(a * shared, b * shared)
        expect((a * shared) % divisor).toBe(0n)
        expect((b * shared) % divisor).toBe(0n)
        expect(euclid((a * shared) / divisor, (b * shared) / divisor)).toBe(1n)
      }),
      { numRuns: cases(1500) },
    )
  })

  it('does not depend on the order, and scales with a shared factor', () => {
    fc.assert(
      fc.property(natural(1024), natural(1024), natural(500), (a, b, shared) => {
        expect(gcd(b, a)).toBe(gcd(a, b))
        expect(gcd(a * shared, b * shared)).toBe(gcd(a, b) * shared)
      }),
      { numRuns: cases(1500) },
    )
  })

  it('holds for any run of Euclidean quotients, tiny or too large for one round', () => {
    const quotient = fc.oneof(
      { weight: 6, arbitrary: fc.bigInt({ min: 1n, max: 3n }) },
      { weight: 2, arbitrary: natural(30) },
      { weight: 1, arbitrary: natural(120) },
    )
    fc.assert(
      fc.property(fc.array(quotient, { minLength: 1, maxLength: 120 }), natural(80), (quotients, shared) => {
        const [a, b] = pairOf(quotients)
        expect(gcd(a * shared, b * shared)).toBe(shared)
      }),
      { numRuns: cases(2000) },
    )
  })

  it('holds for operands that agree in their leading bits', () => {
    fc.assert(
      fc.property(natural(1500), natural(60), natural(60), (head, tail, otherTail) => {
        const a = (head << 64n) + tail
        const b = (head << 64n) + otherTail
        expect(gcd(a, b)).toBe(euclid(a, b))
      }),
      { numRuns: cases(1000) },
    )
  })

  it('holds for lopsided operands', () => {
    fc.assert(
      fc.property(natural(8192), natural(130), (a, b) => {
        expect(gcd(a, b)).toBe(euclid(a, b))
        expect(gcd(b, a)).toBe(euclid(a, b))
      }),
      { numRuns: cases(500) },
    )
  })

  it('holds for neighbouring Fibonacci numbers, the most steps for their length', () => {
    let [a, b] = [1n, 1n]
    for (let i = 0; i < 6000; i += 1) [a, b] = [a + b, a]
    expect(gcd(a, b)).toBe(1n)
    expect(gcd(a * 30n, b * 42n)).toBe(euclid(a * 30n, b * 42n))
  })

  it('grows past its scratch space', () => {
    const a = 3n ** 20_000n
    const b = 6n ** 11_000n
    expect(gcd(a, b)).toBe(3n ** 11_000n)
    expect(gcd(a * 7n + 1n, a)).toBe(1n)
  })

  it('of a number and zero is the number', () => {
    for (const n of [0n, 1n, 7n, 1n << 200n]) {
      expect(gcd(n, 0n)).toBe(n)
      expect(gcd(0n, n)).toBe(n)
    }
  })

  it('refuses a negative operand', () => {
    expect(() => gcd(-4n, 6n)).toThrow(InvariantError)
    expect(() => gcd(4n, -6n)).toThrow(InvariantError)
  })
})
