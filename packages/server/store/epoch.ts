/**
 * The ranges of sequences. Epoch n owns the positions from n × 2^40: the first means "no record yet" and the first
 * record has the one above, so in epoch 0 the first record is 1. A position therefore always identifies its epoch, even
 * in an empty log, and two histories never overlap.
 */
import type { Sequence } from './port.ts'
import { StoreError } from './storeError.ts'

const POSITIONS_PER_EPOCH = 2 ** 40

/** The position before the first record of an epoch. */
export function epochStart(epoch: number): Sequence {
  const start = epoch * POSITIONS_PER_EPOCH
  if (!Number.isSafeInteger(start + POSITIONS_PER_EPOCH))
    throw new StoreError('STORE_MISUSE', `epoch ${epoch} would pass 2^53`)
  return start
}

export const epochOf = (position: Sequence): number => Math.floor(position / POSITIONS_PER_EPOCH)

/** The last sequence of `count` records that begin at `next`; they must fit in the epoch. */
export function lastSequence(epoch: number, next: Sequence, count: number): Sequence {
  const last = next + count - 1
  if (last >= epochStart(epoch) + POSITIONS_PER_EPOCH)
    throw new StoreError('STORE_MISUSE', `epoch ${epoch} has no room for ${count} records at ${next}`)
  return last
}
