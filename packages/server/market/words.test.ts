import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Hex } from '../ops/config.ts'
import { encodeInt, intAt, smallIntAt, uintAt } from './words.ts'

/** Of every length, and those around which a word changes its form. */
const value = fc.oneof(
  fc.bigInt(-(1n << 255n), (1n << 255n) - 1n),
  fc.integer({ min: 0, max: 254 }).chain(bit => {
    const edge = 1n << BigInt(bit)
    return fc.constantFrom(edge - 1n, edge, edge + 1n, -edge - 1n, -edge, 1n - edge)
  }),
)
const dataOf = (words: readonly bigint[]): Hex => `0x${words.map(encodeInt).join('')}`

describe('a word', () => {
  it('is read as BigInt reads it, wherever it stands', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), words => {
        const data = dataOf(words)
        for (const [at, word] of words.entries()) {
          expect(intAt(data, at)).toBe(word)
          expect(uintAt(data, at)).toBe(BigInt.asUintN(256, word))
          expect(smallIntAt(data, at)).toBe(Number(word))
        }
      }),
    )
  })

  it('is read from the data that is asked for, and not from the last', () => {
    const [first, second] = [dataOf([1n, 2n]), dataOf([3n, 4n])]
    expect([uintAt(first, 0), uintAt(second, 0), uintAt(first, 1), uintAt(second, 1)]).toEqual([
      1n,
      3n,
      2n,
      4n,
    ])
  })

  it('that is not there, or not whole, is an error', () => {
    expect(() => uintAt(dataOf([1n]), 1)).toThrow(RangeError)
    expect(() => intAt(dataOf([1n]).slice(0, -1) as Hex, 0)).toThrow(RangeError)
    expect(() => uintAt('0x', 0)).toThrow(RangeError)
  })
})
