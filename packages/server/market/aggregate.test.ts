/** The encoding by hand against a library's, and answers that are none. */
import fc from 'fast-check'
import { decodeFunctionData, encodeFunctionData, encodeFunctionResult, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import type { Hex } from '../ops/hex.ts'
import { decodeAggregate, encodeAggregate } from './aggregate.ts'

const abi = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) returns ((bool success, bytes returnData)[])',
])

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const anyBytes = fc.uint8Array({ maxLength: 200 }).map(hexOf)
const anyAddress = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hexOf)
const anyCalls = fc.array(fc.record({ to: anyAddress, data: anyBytes }), { maxLength: 20 })
const anyResults = fc.array(fc.record({ success: fc.boolean(), returnData: anyBytes }), { maxLength: 20 })

const libraryAnswer = (result: readonly { success: boolean; returnData: Hex }[]): Hex =>
  encodeFunctionResult({ abi, functionName: 'aggregate3', result })

test('calls are encoded as a library encodes them', () => {
  fc.assert(
    fc.property(anyCalls, calls => {
      const args = [
        calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data })),
      ] as const
      expect(encodeAggregate(calls)).toBe(encodeFunctionData({ abi, functionName: 'aggregate3', args }))
      expect(decodeFunctionData({ abi, data: encodeAggregate(calls) }).args[0]).toHaveLength(calls.length)
    }),
  )
})

test('results are decoded as they were encoded', () => {
  fc.assert(
    fc.property(anyResults, results => {
      expect(decodeAggregate(libraryAnswer(results), results.length)).toEqual(results)
    }),
  )
})

test('a response to more or fewer calls is invalid', () => {
  const answer = libraryAnswer([{ success: true, returnData: '0x01' }])
  expect(decodeAggregate(answer, 2)).toBeNull()
  expect(decodeAggregate(answer, 0)).toBeNull()
})

test('a response truncated anywhere before its last byte is invalid', () => {
  fc.assert(
    fc.property(
      anyResults.filter(results => results.length > 0),
      fc.nat(),
      (results, cut) => {
        const answer = libraryAnswer(results)
        const last = results.at(-1)?.returnData.length as number
        // Behind its last byte there is only what fills its last word.
        const padding = (64 - ((last - 2) % 64)) % 64
        const short = answer.slice(0, 2 + (cut % (answer.length - 2 - padding))) as Hex
        expect(decodeAggregate(short, results.length)).toBeNull()
      },
    ),
  )
})

test('random bytes are invalid, and never throw', () => {
  fc.assert(
    fc.property(anyBytes, fc.integer({ min: 1, max: 20 }), (bytes, calls) => {
      expect(decodeAggregate(bytes, calls)).toBeNull()
    }),
  )
})

test('an offset far outside, and a boolean of two, are invalid', () => {
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  const answer = (...words: readonly bigint[]): Hex => `0x${words.map(word).join('')}`
  expect(decodeAggregate(answer(32n, 1n, 32n, 1n, 64n, 0n), 1)).toEqual([{ success: true, returnData: '0x' }])
  expect(decodeAggregate(answer(32n, 1n, 32n, 2n, 64n, 0n), 1)).toBeNull()
  expect(decodeAggregate(answer(32n, 1n, 2n ** 255n, 1n, 64n, 0n), 1)).toBeNull()
  expect(decodeAggregate(answer(32n, 1n, 32n, 1n, 64n, 2n ** 31n), 1)).toBeNull()
})
