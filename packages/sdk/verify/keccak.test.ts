import fc from 'fast-check'
import { keccak256 as viems } from 'viem'
import { expect, test } from 'vitest'
import { keccak256 } from './keccak.ts'

test('Keccak-256 equals viem’s, for every length around the block size', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
      expect(keccak256(Buffer.from(bytes).toString('hex'))).toBe(viems(bytes))
    }),
  )
  for (let length = 130; length <= 140; length++)
    expect(keccak256('ab'.repeat(length))).toBe(viems(new Uint8Array(length).fill(0xab)))
})

test('of an empty input it is the hash of empty code', () => {
  expect(keccak256('0x')).toBe('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
})
