/**
 * Logs and receipts as nodes list them, with every field checked: a hash is 32 bytes, hex is lower case, a count is
 * below 2^53. Whether they belong to a block is checked elsewhere.
 *
 * Longer hex stays in the bytes it arrived in. Most logs are needed only for the proof, and decoders mostly read
 * numbers from the others, so a string is made only on request.
 *
 * `answerScanner.ts` makes entries straight from the bytes of an answer; everything else is decoded here, field by
 * field, from the result of JSON.parse. Both give the same entries.
 */
import type { Hex } from '../../ops/hex.ts'
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

/** EIP-2718: transaction types are below 0x80. */
export const MAX_TYPE = 0x7f
/** Type of a deposit from the parent chain, on OP-stack chains. */
export const DEPOSIT_TYPE = 0x7e
/** Number of hex digits of an address, of a hash or topic, and of a bloom. */
export const [ADDRESS_DIGITS, HASH_DIGITS, BLOOM_DIGITS] = [40, 64, 512] as const
/** Distance between the digits of two consecutive topics, which `","0x` separates. */
export const TOPIC_STEP = HASH_DIGITS + 5

/** Before Byzantium a receipt had a state root instead of a status. */
export type Outcome = { readonly status: number } | { readonly stateRoot: Hex }

export class LogEntry {
  /**
   * V8 discards the compiled code of a class once a collection finds no instance of it, so one instance always exists.
   */
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
  /** The first topic, which identifies the event; null when there is none. */
  readonly topic: Hex | null
  readonly blockHash: Hex
  readonly blockNumber: number
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly logIndex: number
  /** The bytes that contain its hex, with the offsets of each field's first digit and the end of the data. */
  readonly text: DataView
  readonly addressAt: number
  readonly topicsAt: number
  readonly topicCount: number
  readonly dataAt: number
  readonly dataEnd: number
  /** Time of the block in seconds, when the node reports it; nothing proves it. */
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

  /** One topic as a string; null when the log has fewer topics. */
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
  /** As the node wrote it: the value may exceed a JavaScript number. */
  readonly cumulativeGasUsed: Hex
  /** The bytes that contain the digits of its bloom. */
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
  // Spaced like the digits in an answer.
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

/** Few nodes report the time, and in different forms; an impossible time counts as none. */
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
    // Some sources omit the bloom. It follows from the logs, and the root proves it.
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

/** Nodes show the nonce since Regolith, but the receipt encodes it only together with the version. */
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
