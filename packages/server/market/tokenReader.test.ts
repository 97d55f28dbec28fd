import { encodeAbiParameters, toHex } from 'viem'
import { expect, test } from 'vitest'
import type { ChainRpc } from '../feed/feed.ts'
import type { Hex } from '../ops/hex.ts'
import { SELECTOR } from './abi.ts'
import { readToken, textFrom } from './tokenReader.ts'

const string = (text: string) => encodeAbiParameters([{ type: 'string' }], [text])

test('a name may be a string or a bytes32', () => {
  expect(textFrom(string('Lark'))).toBe('Lark')
  expect(textFrom(toHex('MKR', { size: 32 }))).toBe('MKR')
})

test('a name is readable text: no control characters, at most 64 of them, absent when empty', () => {
  expect(textFrom(string('a\u0000b\u202Ec\n'))).toBe('abc')
  expect(textFrom(string('x'.repeat(500)))).toHaveLength(64)
  expect(textFrom(string(''))).toBeNull()
  expect(textFrom(null)).toBeNull()
  expect(textFrom('0x')).toBeNull()
})

test('a false length does not read past the response', () => {
  const lying =
    `0x${'20'.padStart(64, '0')}${'f'.repeat(64)}${Buffer.from('short').toString('hex').padEnd(64, '0')}` as const
  expect(textFrom(lying)).toBe('short')
})

const TOKEN: Hex = `0x${'11'.repeat(20)}`
const HERE = { number: 8, hash: `0x${'88'.repeat(32)}`, timeMs: 0 } as const
const EARLIER: Hex = `0x${'77'.repeat(32)}`
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`
const { signal } = new AbortController()

/** A token with these decimals here and before; `rounds` counts calls that wait for another. */
function token(decimals: Hex | null, before: Hex | null, supply: Hex = word(1)) {
  const asked = { calls: 0, rounds: 0 }
  let open = 0
  const rpc: ChainRpc = {
    async call(_, data, blockHash) {
      asked.calls++
      if (open++ === 0) asked.rounds++
      await new Promise(resolve => setImmediate(resolve))
      open--
      if (data === SELECTOR['totalSupply()']) return supply
      if (data === SELECTOR['decimals()']) return blockHash === EARLIER ? before : decimals
      return null
    },
    code: () => Promise.reject(new Error('code is never requested')),
  }
  return { rpc, asked }
}

test('R-decimals-1: decimals are read at two blocks, all in one round of calls', async () => {
  const { rpc, asked } = token(word(18), word(18))
  expect(await readToken(rpc, TOKEN, HERE, signal, EARLIER)).toMatchObject({ decimals: 18, reason: null })
  expect(asked).toEqual({ calls: 5, rounds: 1 })
})

test('R-decimals-1: decimals that differed a block before are not believed', async () => {
  const { rpc } = token(word(18), word(6))
  expect(await readToken(rpc, TOKEN, HERE, signal, EARLIER)).toMatchObject({
    decimals: null,
    reason: 'two readings of decimals() differ',
  })
})

test('a token younger than the earlier block has one reading', async () => {
  const { rpc } = token(word(18), '0x')
  expect(await readToken(rpc, TOKEN, HERE, signal, EARLIER)).toMatchObject({ decimals: 18 })
})

test('R-find-3: an address without code, or a precompile that answers anything, is no token', async () => {
  expect(await readToken(token('0x', '0x', '0x').rpc, TOKEN, HERE, signal, EARLIER)).toBe(null)
  const precompile: Hex = `0x${'2'.padStart(40, '0')}`
  expect(await readToken(token(word(18), word(18)).rpc, precompile, HERE, signal)).toBe(null)
})
