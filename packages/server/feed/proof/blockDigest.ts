/** A digest of all that the engine gets to see of a block: two endpoints that agree on it tell the same. */
import type { VerifiedBlock } from '../feed.ts'
import { keccak256 } from '../../ops/keccak.ts'

export function digestOf({ number, hash, parentHash, timeMs, logs }: VerifiedBlock): string {
  const text = JSON.stringify([
    [number, hash, parentHash, timeMs],
    logs.map(log => [log.logIndex, log.transactionHash, log.address, log.topics, log.data]),
  ])
  return keccak256(Buffer.from(text)).toString('hex')
}
