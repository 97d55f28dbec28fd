import { createMPT } from '@ethereumjs/mpt'
import fc from 'fast-check'
import { keccak256 as theirKeccak, toRlp } from 'viem/utils'
import { describe, expect, it } from 'vitest'
import type { Hex } from '../../ops/hex.ts'
import { keccak256 } from '../../ops/keccak.ts'
import { orderedTrieRoot } from './orderedTrie.ts'
import { encodeRlp, integer, type RlpItem } from './rlp.ts'

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

describe('keccak256', () => {
  it('is the one of @noble/hashes for any message', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), message => {
        expect(hexOf(keccak256(message))).toBe(theirKeccak(message))
      }),
      { numRuns: 500 },
    )
  })

  it('matches it at every edge of a block and of its memory', () => {
    for (const size of [0, 1, 135, 136, 137, 271, 272, 65_007, 65_008, 65_009, 130_016, 130_017]) {
      const message = Uint8Array.from({ length: size }, (_, at) => (at * 7 + size) & 255)
      expect(hexOf(keccak256(message))).toBe(theirKeccak(message))
    }
  })
})

describe('encodeRlp', () => {
  const { tree: anyItem } = fc.letrec<{ tree: RlpItem; leaf: Hex }>(tie => ({
    leaf: fc
      .oneof(fc.uint8Array({ maxLength: 3 }), fc.uint8Array({ minLength: 50, maxLength: 300 }))
      .map(hexOf),
    tree: fc.oneof({ maxDepth: 4 }, tie('leaf'), fc.array(tie('tree'), { maxLength: 20 })),
  }))

  it('equals viem’s for any nesting of lists and bytes', () => {
    fc.assert(
      fc.property(anyItem, item => {
        expect(hexOf(encodeRlp(item))).toBe(toRlp(item as Hex))
      }),
      { numRuns: 500 },
    )
  })

  it('writes lengths past 65,535 bytes', () => {
    const item: Hex = `0x${'ab'.repeat(70_000)}`
    expect(hexOf(encodeRlp([item, '0x05']))).toBe(toRlp([item, '0x05']))
  })

  it('writes integers without leading zeros', () => {
    expect((['0x0', '0x', '0x00', '0x05', '0x0102', '0x123', '0x1234'] as const).map(integer)).toEqual([
      '0x',
      '0x',
      '0x',
      '0x05',
      '0x0102',
      '0x0123',
      '0x1234',
    ])
  })
})

const rootOf = (values: readonly Uint8Array[]) =>
  orderedTrieRoot(values.length, at => values[at] as Uint8Array)

describe('orderedTrieRoot', () => {
  const theirs = async (values: readonly Uint8Array[]): Promise<Hex> => {
    const trie = await createMPT()
    for (const [index, value] of values.entries())
      await trie.put(toRlp(index === 0 ? '0x' : integer(`0x${index.toString(16)}`), 'bytes'), value)
    return hexOf(trie.root())
  }

  it('equals the root of @ethereumjs/mpt for any values, short ones embedded in their parents too', async () => {
    const value = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 4 }),
      fc.uint8Array({ minLength: 20, maxLength: 80 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 40 }), async values => {
        expect(rootOf(values)).toBe(await theirs(values))
      }),
      { numRuns: 150 },
    )
  })

  it('matches it wherever the keys grow by a byte', async () => {
    for (const count of [1, 2, 16, 17, 127, 128, 129, 255, 256, 257, 300, 600]) {
      const values = Array.from({ length: count }, (_, at) => Uint8Array.from([1 + (at & 127), at >> 8, 3]))
      expect(rootOf(values)).toBe(await theirs(values))
    }
  })
})
