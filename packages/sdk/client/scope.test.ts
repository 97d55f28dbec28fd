import { expect, test } from 'vitest'
import * as sample from '../testing/sample.ts'
import { Scope } from './scope.ts'

test('without a token or a pool everything is in scope', () => {
  const scope = new Scope()
  expect(scope.tokenAddresses).toBeNull()
  for (const record of [sample.tokenUpsert(1, 1, 1), sample.poolUpsert(2, 1, 1), sample.feedHealth(3)])
    expect(scope.has(record)).toBe(true)
})

test('health is in every scope', () => {
  expect(new Scope({ token: sample.tokenId(5) }).has(sample.feedHealth(1))).toBe(true)
})

test('a token comes with the pools it is in, and no other', () => {
  const scope = new Scope({ token: [sample.tokenId(1).toUpperCase().replace('0X', '0x')] })
  expect(scope.tokenAddresses).toEqual([`0x${sample.tokenId(1).slice(26)}`])
  expect([scope.has(sample.tokenUpsert(1, 1, 1)), scope.has(sample.tokenUpsert(2, 2, 1))]).toEqual([
    true,
    false,
  ])
  const sides = [sample.poolToken(1, null), sample.poolToken(9, null)] as const
  expect(scope.takes(sample.pool(1, sides, null))).toBe(true)
  expect(scope.hasToken(sample.tokenId(9))).toBe(false)
})

test('a pool comes with both its tokens, and needs the whole snapshot', () => {
  const scope = new Scope({ pool: sample.poolId(4) })
  expect(scope.tokenAddresses).toBeNull()
  expect(scope.hasToken(sample.tokenId(9))).toBe(false)
  expect(scope.takes(sample.pool(3, [sample.poolToken(3, null), sample.poolToken(9, null)], null))).toBe(
    false,
  )
  expect(scope.takes(sample.pool(4, [sample.poolToken(4, null), sample.poolToken(9, null)], null))).toBe(true)
  expect([4, 9, 3].map(n => scope.hasToken(sample.tokenId(n)))).toEqual([true, true, false])
})

test.for(['', '0x12', 'WETH', `0x${'g'.repeat(64)}`])('%j is refused before any request', text => {
  expect(() => new Scope({ token: text })).toThrow(RangeError)
})
