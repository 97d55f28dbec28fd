/**
 * Logs and receipts as nodes list them, every field of its right form: a hash is 32 bytes, hex is lower case, a count is
 * below 2^53. Whether they belong to a block is not said here.
 *
 * `answerScanner.ts` makes entries straight from the bytes of an answer; all else is read here, field by field, from what
 * JSON.parse gives. Both give the same.
 */
import type { Hex } from '../ops/config.ts'
import {
  type Fields,
  FieldError,
  hexOf,
  toBytes,
  toCount,
  toFields,
  toHash,
  toHex,
  toList,
  toQuantity,
} from './answer.ts'

/** EIP-2718 ends below 0x80. */
export const MAX_TYPE = 0x7f

/** The state root stands where the status does since Byzantium. */
export type Outcome = { readonly status: number } | { readonly stateRoot: Hex }

export class LogEntry {
  /** What is compiled for a class is thrown away once a collection finds no object of it: there always is one. */
  static readonly none = new LogEntry('0x', [], '0x', '0x', 0, '0x', 0, 0)
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockHash: Hex
  readonly blockNumber: number
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly logIndex: number

  constructor(
    address: Hex,
    topics: readonly Hex[],
    data: Hex,
    blockHash: Hex,
    blockNumber: number,
    transactionHash: Hex,
    transactionIndex: number,
    logIndex: number,
  ) {
    this.address = address
    this.topics = topics
    this.data = data
    this.blockHash = blockHash
    this.blockNumber = blockNumber
    this.transactionHash = transactionHash
    this.transactionIndex = transactionIndex
    this.logIndex = logIndex
  }
}

export class ReceiptEntry {
  /** 0 for a legacy transaction. */
  readonly type: number
  readonly outcome: Outcome
  /** As the node wrote it: it may exceed what a number holds. */
  readonly cumulativeGasUsed: Hex
  readonly logsBloom: Hex
  readonly logs: readonly LogEntry[]
  readonly blockHash: Hex
  readonly blockNumber: number
  readonly transactionHash: Hex
  readonly transactionIndex: number

  constructor(
    type: number,
    outcome: Outcome,
    cumulativeGasUsed: Hex,
    logsBloom: Hex,
    logs: readonly LogEntry[],
    blockHash: Hex,
    blockNumber: number,
    transactionHash: Hex,
    transactionIndex: number,
  ) {
    this.type = type
    this.outcome = outcome
    this.cumulativeGasUsed = cumulativeGasUsed
    this.logsBloom = logsBloom
    this.logs = logs
    this.blockHash = blockHash
    this.blockNumber = blockNumber
    this.transactionHash = transactionHash
    this.transactionIndex = transactionIndex
  }
}

/** Throws a FieldError. */
export function toLogEntry(item: unknown): LogEntry {
  if (item instanceof LogEntry) return item
  const fields = toFields(item)
  if (fields['removed'] === true) throw new FieldError('a log is marked as removed')
  return new LogEntry(
    toHex(fields, 'address', 20),
    toList(fields, 'topics').map(topic => hexOf(topic, 'topics', 32)),
    toBytes(fields, 'data'),
    toHash(fields, 'blockHash'),
    toCount(fields, 'blockNumber'),
    toHash(fields, 'transactionHash'),
    toCount(fields, 'transactionIndex'),
    toCount(fields, 'logIndex'),
  )
}

/** Throws a FieldError. */
export function toReceiptEntry(item: unknown): ReceiptEntry {
  if (item instanceof ReceiptEntry) return item
  const fields = toFields(item)
  const type = fields['type'] === undefined ? 0 : toCount(fields, 'type')
  if (type > MAX_TYPE) throw new FieldError('type is not a transaction type')
  return new ReceiptEntry(
    type,
    toOutcome(fields),
    toQuantity(fields, 'cumulativeGasUsed'),
    toHex(fields, 'logsBloom', 256),
    toList(fields, 'logs').map(toLogEntry),
    toHash(fields, 'blockHash'),
    toCount(fields, 'blockNumber'),
    toHash(fields, 'transactionHash'),
    toCount(fields, 'transactionIndex'),
  )
}

function toOutcome(fields: Fields): Outcome {
  if (fields['status'] === undefined || fields['status'] === null)
    return { stateRoot: toHash(fields, 'root') }
  const status = toCount(fields, 'status')
  if (status > 1) throw new FieldError('status is neither 0 nor 1')
  return { status }
}
