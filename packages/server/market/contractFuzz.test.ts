/** Whatever a contract answers or logs: words and names within their bounds, or a failure of reading. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Hex } from '../ops/hex.ts'
import { runs, survive, text } from '../ops/testing/hostile.ts'
import { textFrom } from './tokenReader.ts'
import { addressAt, intAt, uintAt, wordAt } from './abiWords.ts'

const isOwn = (failure: unknown) => failure instanceof RangeError

const word = fc.oneof(
  fc.bigInt(0n, (1n << 256n) - 1n),
  fc.constantFrom(
    0n,
    1n,
    31n,
    32n,
    33n,
    64n,
    (1n << 53n) - 1n,
    1n << 53n,
    (1n << 255n) - 1n,
    (1n << 256n) - 1n,
  ),
)
const answer: fc.Arbitrary<Hex> = fc
  .tuple(fc.array(word, { maxLength: 6 }), fc.oneof(text(), fc.constant('\u202e\u0007')), fc.nat({ max: 70 }))
  .map(([words, tail, cut]) => {
    const digits =
      words.map(each => each.toString(16).padStart(64, '0')).join('') + Buffer.from(tail).toString('hex')
    const kept = digits.length - 2 * cut
    return `0x${kept > 0 ? digits.slice(0, kept) : digits}` as const
  })

it('a name is at most 64 characters without control codes, whatever its contract returns', () => {
  fc.assert(
    fc.property(answer, each => {
      const name = survive(() => textFrom(each))
      if (name === null) return
      expect(Array.from(name).length).toBeLessThanOrEqual(64)
      expect(name).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      expect(name.isWellFormed()).toBe(true)
    }),
    runs(1000),
  )
})

it('a name of eight megabytes is fast', () => {
  for (const letter of ['a', '\u{1f600}', '\0']) {
    const bytes = Buffer.from(letter.repeat(2 ** 21))
    const head = [32n, BigInt(bytes.length)].map(each => each.toString(16).padStart(64, '0')).join('')
    survive(() => textFrom(`0x${head}${bytes.toString('hex')}`))
  }
})

it('a missing word is a failed reading, never a zero', () => {
  fc.assert(
    fc.property(answer, fc.nat({ max: 20 }), (each, at) => {
      const isThere = (each.length - 2) / 64 >= at + 1
      for (const read of [uintAt, intAt, wordAt, addressAt])
        expect(survive(() => read(each, at), isOwn) !== null).toBe(isThere)
      if (isThere) expect(uintAt(each, at)).toBe(BigInt(`0x${wordAt(each, at)}`))
    }),
    runs(500),
  )
})
