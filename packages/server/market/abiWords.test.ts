import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logOf } from '../feed/testing/logOf.ts'
import type { Hex } from '../ops/hex.ts'
import { intIn, smallIntIn, uintIn } from './logWords.ts'
import { encodeInt, intAt, smallIntAt, uintAt } from './abiWords.ts'

/** Of every length, and those around which a word changes its form. */
const value = fc.oneof(
  fc.bigInt(-(1n << 255n), (1n << 255n) - 1n),
  fc.integer({ min: 0, max: 254 }).chain(bit => {
    const edge = 1n << BigInt(bit)
    return fc.constantFrom(edge - 1n, edge, edge + 1n, -edge - 1n, -edge, 1n - edge)
  }),
)
const dataOf = (words: readonly bigint[]): Hex => `0x${words.map(encodeInt).join('')}`

/** A log with this data, which stands at another offset with every number of topics. */
const logWith = (data: Hex, topics = 0) =>
  logOf(
    `0x${'11'.repeat(20)}`,
    Array.from({ length: topics }, () => `0x${'22'.repeat(32)}`),
    data,
  )

describe('a word', () => {
  it('is read as BigInt reads it, at any offset', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), fc.nat({ max: 4 }), (words, topics) => {
        const data = dataOf(words)
        const log = logWith(data, topics)
        for (const [at, word] of words.entries()) {
          expect([intAt(data, at), intIn(log, at)]).toEqual([word, word])
          const unsigned = BigInt.asUintN(256, word)
          expect([uintAt(data, at), uintIn(log, at)]).toEqual([unsigned, unsigned])
          expect([smallIntAt(data, at), smallIntIn(log, at)]).toEqual([Number(word), Number(word)])
        }
      }),
    )
  })

  it('that is missing, or incomplete, is an error', () => {
    for (const [data, at] of [
      [dataOf([1n]), 1],
      [dataOf([1n]).slice(0, -2) as Hex, 0],
      ['0x', 0],
    ] as const)
      for (const read of [uintIn, intIn, smallIntIn]) {
        expect(() => uintAt(data, at)).toThrow(RangeError)
        expect(() => read(logWith(data), at)).toThrow(`word ${at} of`)
      }
  })
})
