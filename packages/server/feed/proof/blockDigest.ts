/** A digest of everything in a block that the engine reads: two endpoints with the same digest agree on the block. */
import type { VerifiedBlock } from '../feed.ts'
import { keccak256 } from '../../ops/keccak.ts'

export function digestOf({ number, hash, parentHash, timeMs, logs }: VerifiedBlock): string {
  const text = JSON.stringify([
    [number, hash, parentHash, timeMs],
    logs.map(log => [log.logIndex, log.transactionHash, log.address, log.topics, log.data]),
  ])
  return keccak256(Buffer.from(text)).toString('hex')
}
