import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import { cases, natural } from '../testing/cases.ts'
import { BEYOND_MAX_BITS, bitLength, MAX_BITS } from './bits.ts'

describe('bitLength', () => {
  it('is the length of the binary text', () => {
    fc.assert(
      fc.property(natural(9000), n => {
        expect(bitLength(n)).toBe(n.toString(2).length)
      }),
      { numRuns: cases(2000) },
    )
  })

  it('is exact next to every power of two up to 9000 bits, where a float rounds up', () => {
    for (let k = 1; k <= 9000; k += 1) {
      const power = 1n << BigInt(k)
      if (bitLength(power - 1n) !== k || bitLength(power) !== k + 1 || bitLength(power + 1n) !== k + 1) {
        expect.fail(`wrong beside 2^${k}`)
      }
    }
  })

  it('is 0 for zero', () => {
    expect(bitLength(0n)).toBe(0)
  })

  it('refuses a negative integer', () => {
    expect(() => bitLength(-1n)).toThrow(InvariantError)
  })
})

it('R-exact-2: a side of a price has at most 4096 bits', () => {
  expect(MAX_BITS).toBe(4096)
  expect(bitLength(BEYOND_MAX_BITS - 1n)).toBe(MAX_BITS)
  expect(bitLength(BEYOND_MAX_BITS)).toBe(MAX_BITS + 1)
})
