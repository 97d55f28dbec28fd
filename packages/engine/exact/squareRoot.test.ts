import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import { cases, natural } from '../testing/cases.ts'
import { squareRoot } from './squareRoot.ts'

describe('R-ticks-5: squareRoot', () => {
  it('is the greatest integer whose square is not above', () => {
    fc.assert(
      fc.property(natural(2200), n => {
        const root = squareRoot(n)
        expect(root * root <= n).toBe(true)
        expect((root + 1n) * (root + 1n) > n).toBe(true)
      }),
      { numRuns: cases(2500) },
    )
  })

  it('of a square is exact, and one less just below it', () => {
    fc.assert(
      fc.property(natural(1200), root => {
        expect(squareRoot(root * root)).toBe(root)
        expect(squareRoot(root * root - 1n)).toBe(root - 1n)
        expect(squareRoot(root * root + 2n * root)).toBe(root)
      }),
      { numRuns: cases(2500) },
    )
  })

  it('is exact next to every power of two up to 4200 bits', () => {
    for (let k = 0n; k <= 4200n; k += 1n) {
      for (const n of [(1n << k) - 1n, 1n << k, (1n << k) + 1n]) {
        const root = squareRoot(n)
        if (root * root > n || (root + 1n) * (root + 1n) <= n) expect.fail(`wrong for 2^${k} beside ${n}`)
      }
    }
  })

  it('counts up from zero', () => {
    const roots = Array.from({ length: 26 }, (_, n) => Number(squareRoot(BigInt(n))))
    expect(roots).toEqual([0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5])
  })

  it('refuses a negative integer', () => {
    expect(() => squareRoot(-1n)).toThrow(InvariantError)
  })
})
