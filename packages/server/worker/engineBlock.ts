/** Blocks of the feed as the engine takes them: with its units, and with events in place of logs. */
import { count, type Input, ms } from '@assay/engine'
import type { BlockRef, VerifiedBlock } from '../feed/feed.ts'

type Block = Extract<Input, { kind: 'block' }>['block']

export const engineRef = ({ number, hash, timeMs }: BlockRef) => ({
  number: count(number),
  hash,
  timeMs: ms(timeMs),
})

export const engineBlock = (block: VerifiedBlock, events: Block['events']): Block => ({
  ...engineRef(block),
  parentHash: block.parentHash,
  proof: block.proof,
  events,
})
