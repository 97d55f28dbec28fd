/**
 * The logs bloom of a header: three bits for every address and topic of a block's logs (yellow paper,
 * section 4.4.1). It cannot prove that no log is missing, but an answer that lost most of them does not match.
 */
import type { Hex } from '../../ops/hex.ts'
import { keccak256 } from '../../ops/keccak.ts'

const BLOOM_BYTES = 256

export function bloomOf(logs: readonly { readonly address: Hex; readonly topics: readonly Hex[] }[]): Hex {
  const bloom = Buffer.alloc(BLOOM_BYTES)
  for (const item of new Set(logs.flatMap(({ address, topics }) => [address, ...topics]))) {
    const hash = keccak256(Buffer.from(item.slice(2), 'hex'))
    for (const at of [0, 2, 4]) {
      const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 0x7ff
      const byte = BLOOM_BYTES - 1 - (bit >> 3)
      bloom[byte] = (bloom[byte] ?? 0) | (1 << (bit & 7))
    }
  }
  return `0x${bloom.toString('hex')}`
}
