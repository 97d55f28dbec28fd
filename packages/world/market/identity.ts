/**
 * Addresses and hashes. Each is one flat string, as a decoder would cut it from a response: a concatenated string
 * would use more memory and be slower to compare, and a load test would measure that.
 */
import type { Address, Hex } from '../../engine/chain/block.ts'
import type { Random } from '../random.ts'

const DIGITS = Buffer.from('0123456789abcdef', 'latin1')
const ADDRESS_WORDS = 5
const HASH_WORDS = 8

const scratch = Buffer.alloc(2 + 8 * HASH_WORDS)
scratch.write('0x', 'latin1')

export const drawAddress = (random: Random): Address =>
  flat(Array.from({ length: ADDRESS_WORDS }, () => random.uint32()))

/** Unique by its three numbers, which are stored unchanged after four words that look like a hash. */
export function hashOf(seed: number, kind: 'block' | 'transaction', block: number, index: number): Hex {
  let word = Math.imul(seed ^ Math.imul(block, 0x9e3779b1) ^ index, 0x85ebca6b)
  const words = [0, 0, 0, 0].map(() => {
    word = Math.imul(word ^ (word >>> 15), 0xc2b2ae35) + 0x27d4eb2f
    return word >>> 0
  })
  return flat([...words, seed >>> 0, kind === 'block' ? 0 : 1, block, index])
}

function flat(words: readonly number[]): Hex {
  let at = 2
  for (const word of words)
    for (let shift = 28; shift >= 0; shift -= 4) scratch[at++] = DIGITS[(word >>> shift) & 15] as number
  return scratch.toString('latin1', 0, at) as Hex
}
