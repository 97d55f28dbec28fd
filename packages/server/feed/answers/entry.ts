/**
 * Logs and receipts as nodes list them, every field of its right form: a hash is 32 bytes, hex is lower case, a
 * count is below 2^53. Whether they belong to a block is not said here.
 *
 * Longer hex stays in the bytes it came in. Most logs are only proven to be there, and of the others a decoder
 * wants numbers; a string is made only on request.
 *
 * `answerScanner.ts` makes entries straight from the bytes of an answer; all else is read here, field by field,
 * from what JSON.parse gives. Both give the same.
 */
import type { Hex } from '../../ops/config.ts'
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
import { bloomOf } from '../proof/bloom.ts'

/** EIP-2718 ends below 0x80. */
export const MAX_TYPE = 0x7f
/** A deposit from the parent chain, on OP-stack chains. */
export const DEPOSIT_TYPE = 0x7e
/** Of the digits of an address, a hash or a topic, and a bloom. */
export const [ADDRESS_DIGITS, HASH_DIGITS, BLOOM_DIGITS] = [40, 64, 512] as const
/** From the digits of one topic to those of the next: between them `","0x`. */
export const TOPIC_STEP = HASH_DIGITS + 5

/** The state root stands where the status does since Byzantium. */
export type Outcome = { readonly status: number } | { readonly stateRoot: Hex }

export class LogEntry {
  /** What is compiled for a class is thrown away once a collection finds no object of it: there always is one. */
  static readonly none = new LogEntry(
    '0x',
    null,
    '0x',
    0,
    '0x',
    0,
    0,
    new DataView(new ArrayBuffer(0)),
    0,
    0,
    0,
    0,
    0,
    null,
  )
  readonly address: Hex
  /** The first one, which tells what happened; null where there is none. */
  readonly topic: Hex | null
  readonly blockHash: Hex
  readonly blockNumber: number
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly logIndex: number
  /** Where its hex stands: the first digits of each, and past the last one of the data. */
  readonly text: DataView
  readonly addressAt: number
  readonly topicsAt: number
  readonly topicCount: number
  readonly dataAt: number
  readonly dataEnd: number
  /** When its block was, in seconds, where the node says so; nothing proves it. */
  readonly timeS: number | null

  constructor(
    address: Hex,
    topic: Hex | null,
    blockHash: Hex,
    blockNumber: number,
    transactionHash: Hex,
    transactionIndex: number,
    logIndex: number,
    text: DataView,
    addressAt: number,
    topicsAt: number,
    topicCount: number,
    dataAt: number,
    dataEnd: number,
    timeS: number | null,
  ) {
    this.address = address
    this.topic = topic
    this.blockHash = blockHash
    this.blockNumber = blockNumber
    this.transactionHash = transactionHash
    this.transactionIndex = transactionIndex
    this.logIndex = logIndex
    this.text = text
    this.addressAt = addressAt
    this.topicsAt = topicsAt
    this.topicCount = topicCount
    this.dataAt = dataAt
    this.dataEnd = dataEnd
    this.timeS = timeS
  }

  get topics(): readonly Hex[] {
    return Array.from({ length: this.topicCount }, (_, n) => this.#topic(n))
  }

  /** One of them alone; null where there are fewer. */
  topicAt(n: number): Hex | null {
    return n < this.topicCount ? this.#topic(n) : null
  }

  #topic(n: number): Hex {
    const at = this.topicsAt + n * TOPIC_STEP
    return hexIn(this.text, at, at + HASH_DIGITS)
  }

  get data(): Hex {
    return hexIn(this.text, this.dataAt, this.dataEnd)
  }
}

/** The two fields that Canyon appended to deposit receipts of OP-stack chains. */
export type Deposit = { readonly nonce: Hex; readonly version: Hex }

export class ReceiptEntry {
  /** 0 for a legacy transaction; null when the node does not show it. */
  readonly type: number | null
  readonly outcome: Outcome
  /** As the node wrote it: it may exceed what a number holds. */
  readonly cumulativeGasUsed: Hex
  /** Where the digits of its bloom stand. */
  readonly text: DataView
  readonly bloomAt: number
  readonly logs: readonly LogEntry[]
  readonly blockHash: Hex
  readonly blockNumber: number
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly deposit: Deposit | null

  constructor(
    type: number | null,
    outcome: Outcome,
    cumulativeGasUsed: Hex,
    text: DataView,
    bloomAt: number,
    logs: readonly LogEntry[],
    blockHash: Hex,
    blockNumber: number,
    transactionHash: Hex,
    transactionIndex: number,
    deposit: Deposit | null,
  ) {
    this.type = type
    this.outcome = outcome
    this.cumulativeGasUsed = cumulativeGasUsed
    this.text = text
    this.bloomAt = bloomAt
    this.logs = logs
    this.blockHash = blockHash
    this.blockNumber = blockNumber
    this.transactionHash = transactionHash
    this.transactionIndex = transactionIndex
    this.deposit = deposit
  }

  get logsBloom(): Hex {
    return hexIn(this.text, this.bloomAt, this.bloomAt + BLOOM_DIGITS)
  }
}

function hexIn({ buffer, byteOffset }: DataView, at: number, end: number): Hex {
  return `0x${Buffer.from(buffer, byteOffset + at, end - at).toString('latin1')}`
}

function textOf(hex: string): DataView {
  const { buffer, byteOffset, length } = Buffer.from(hex, 'latin1')
  return new DataView(buffer, byteOffset, length)
}

/** Throws a FieldError. */
export function toLogEntry(item: unknown): LogEntry {
  if (item instanceof LogEntry) return item
  const fields = toFields(item)
  if (fields['removed'] === true) throw new FieldError('a log is marked as removed')
  const address = toHex(fields, 'address', 20)
  const topics = toList(fields, 'topics').map(topic => hexOf(topic, 'topics', 32))
  // As in an answer, all digits at the same distances.
  const before = `"${address}","${topics.join('","')}","`
  const text = before + toBytes(fields, 'data')
  return new LogEntry(
    address,
    topics[0] ?? null,
    toHash(fields, 'blockHash'),
    toCount(fields, 'blockNumber'),
    toHash(fields, 'transactionHash'),
    toCount(fields, 'transactionIndex'),
    toCount(fields, 'logIndex'),
    textOf(text),
    '"0x'.length,
    `"${address}","0x`.length,
    topics.length,
    before.length + '0x'.length,
    text.length,
    timeOf(fields),
  )
}

/** Few nodes say it, and not all alike: what cannot be a time is none. */
function timeOf({ blockTimestamp }: Fields): number | null {
  const isTime = typeof blockTimestamp === 'string' && /^0x[0-9a-f]{1,12}$/i.test(blockTimestamp)
  return isTime ? Number(blockTimestamp) : null
}

/** Throws a FieldError. */
export function toReceiptEntry(item: unknown): ReceiptEntry {
  if (item instanceof ReceiptEntry) return item
  const fields = toFields(item)
  const type = isGiven(fields, 'type') ? toCount(fields, 'type') : null
  if (type !== null && type > MAX_TYPE) throw new FieldError('type is not a transaction type')
  const logs = toList(fields, 'logs').map(toLogEntry)
  return new ReceiptEntry(
    type,
    toOutcome(fields),
    toQuantity(fields, 'cumulativeGasUsed'),
    // Some sources omit it. It follows from the logs, and the root proves it.
    textOf(isGiven(fields, 'logsBloom') ? toHex(fields, 'logsBloom', 256) : bloomOf(logs)),
    '0x'.length,
    logs,
    toHash(fields, 'blockHash'),
    toCount(fields, 'blockNumber'),
    toHash(fields, 'transactionHash'),
    toCount(fields, 'transactionIndex'),
    type === DEPOSIT_TYPE ? toDeposit(fields) : null,
  )
}

/** Nodes show the nonce since Regolith, but it is encoded only together with the version. */
function toDeposit(fields: Fields): Deposit | null {
  if (!isGiven(fields, 'depositReceiptVersion')) return null
  return { nonce: toQuantity(fields, 'depositNonce'), version: toQuantity(fields, 'depositReceiptVersion') }
}

const isGiven = (fields: Fields, name: string): boolean => fields[name] !== undefined && fields[name] !== null

function toOutcome(fields: Fields): Outcome {
  if (!isGiven(fields, 'status')) return { stateRoot: toHash(fields, 'root') }
  const status = toCount(fields, 'status')
  if (status > 1) throw new FieldError('status is neither 0 nor 1')
  return { status }
}
