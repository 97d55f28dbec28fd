import { expect, test } from 'vitest'
import type { Hex } from '../../ops/hex.ts'
import { logOf } from '../testing/logOf.ts'
import { matcherOf, spread } from './logFilter.ts'

const word = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const words = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => word(from + n))
const A: Hex = `0x${'aa'.repeat(20)}`
const B: Hex = `0x${'bb'.repeat(20)}`

const log = (address: Hex, ...topics: readonly Hex[]) => logOf(address, topics)

test('a filter of few values is one request', () => {
  const filter = { addresses: [A], topics: [words(0, 500), null, words(0, 2)] }
  expect(spread(filter)).toEqual([filter])
})

test('more values of a topic than a provider accepts are spread over requests, none left out', () => {
  const requests = spread({ addresses: [A], topics: [words(0, 3), words(10, 1210)] })
  expect(requests.map(({ topics }) => topics[1]?.length)).toEqual([500, 500, 200])
  expect(requests.flatMap(({ topics }) => topics[1])).toEqual(words(10, 1210))
  for (const { addresses, topics } of requests) expect([addresses, topics[0]]).toEqual([[A], words(0, 3)])
})

test('of two long lists one is spread, and the other matches everything', () => {
  const requests = spread({ addresses: [A], topics: [words(0, 1), null, words(0, 600), words(0, 700)] })
  expect(requests.map(({ topics }) => [topics[2], topics[3]?.length])).toEqual([
    [null, 500],
    [null, 200],
  ])
})

test('a log matches a filter in its address and in every topic that is named', () => {
  const matches = matcherOf([
    { addresses: [A], topics: [[word(1)]] },
    { addresses: [B], topics: [[word(1)], null, [word(7)]] },
  ])
  expect(matches(log(A, word(1)))).toBe(true)
  expect(matches(log(A, word(2)))).toBe(false)
  expect(matches(log(A))).toBe(false)
  expect(matches(log(B, word(1), word(5), word(7)))).toBe(true)
  expect(matches(log(B, word(1), word(5), word(8)))).toBe(false)
  expect(matches(log(B, word(1), word(5)))).toBe(false)
  expect(matcherOf([])(log(A, word(1)))).toBe(false)
})
