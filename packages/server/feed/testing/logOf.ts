/** A log as it is in the answer of a node, for tests of what is read in it. */
import type { Hex } from '../../ops/hex.ts'
import { type LogEntry, toLogEntry } from '../answers/entry.ts'

/** `place` is for tests in which it matters where in the chain the log is. */
export const logOf = (
  address: Hex,
  topics: readonly unknown[],
  data: Hex = '0x',
  place: Partial<Record<'blockHash' | 'transactionHash' | 'logIndex', Hex>> = {},
): LogEntry =>
  toLogEntry({
    address,
    topics,
    data,
    blockHash: `0x${'01'.repeat(32)}`,
    blockNumber: '0x1',
    transactionHash: `0x${'ab'.repeat(32)}`,
    transactionIndex: '0x0',
    logIndex: '0x0',
    ...place,
  })
