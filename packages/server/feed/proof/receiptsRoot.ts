/**
 * The receipts root of a block, recomputed from its receipts. Equal roots prove that no log is missing, added
 * or changed.
 *
 * Encoding: EIP-2718. A legacy receipt is the RLP list, any other its type byte and then the same list:
 * (status or, before Byzantium, the state root; cumulative gas; bloom; logs). Since Canyon, OP-stack chains append the
 * nonce and a version to the list of a deposit. Sizes first, then bytes, read where the digits stand.
 */
import type { Hex } from '../../ops/hex.ts'
import { writeBytes } from '../../ops/hexDigits.ts'
import {
  ADDRESS_DIGITS,
  BLOOM_DIGITS,
  HASH_DIGITS,
  type LogEntry,
  type Outcome,
  type ReceiptEntry,
  TOPIC_STEP,
} from '../answers/entry.ts'
import { orderedTrieRoot } from './orderedTrie.ts'
import { encodeRlp, headSize, integer, writeHead } from './rlp.ts'

export const receiptsRoot = (receipts: readonly ReceiptEntry[]): Hex =>
  orderedTrieRoot(receipts.length, index => encodeReceipt(receipts[index] as ReceiptEntry))

export function encodeReceipt({
  type,
  outcome,
  cumulativeGasUsed,
  text,
  bloomAt,
  logs,
  deposit,
}: ReceiptEntry): Uint8Array {
  const first = [encodeRlp(outcomeOf(outcome)), encodeRlp(integer(cumulativeGasUsed))]
  const last =
    deposit === null ? [] : [encodeRlp(integer(deposit.nonce)), encodeRlp(integer(deposit.version))]
  const payload = logs.reduce((sum, log) => sum + sized(payloadOf(log)), 0)
  const middle = sized(BLOOM_DIGITS / 2) + sized(payload)
  const whole = [...first, ...last].reduce((sum, { length }) => sum + length, middle)
  const typeByte = type ?? 0
  const start = typeByte === 0 ? 0 : 1
  const bytes = new Uint8Array(start + sized(whole))
  const out = new DataView(bytes.buffer)
  if (typeByte !== 0) bytes[0] = typeByte
  let at = writeAll(first, bytes, writeHead(bytes, start, whole, 0xc0))
  at = writeHead(bytes, at, BLOOM_DIGITS / 2, 0x80)
  at = writeBytes(text, bloomAt, bloomAt + BLOOM_DIGITS, out, at)
  at = writeHead(bytes, at, payload, 0xc0)
  for (const log of logs) at = writeLog(log, bytes, out, at)
  writeAll(last, bytes, at)
  return bytes
}

function writeAll(items: readonly Uint8Array[], bytes: Uint8Array, start: number): number {
  let at = start
  for (const item of items) {
    bytes.set(item, at)
    at += item.length
  }
  return at
}

/** Encodes (address, topics, data). */
function writeLog(log: LogEntry, bytes: Uint8Array, out: DataView, start: number): number {
  const { text, addressAt, topicsAt, topicCount, dataAt, dataEnd } = log
  let at = writeHead(bytes, start, payloadOf(log), 0xc0)
  at = writeHead(bytes, at, ADDRESS_DIGITS / 2, 0x80)
  at = writeBytes(text, addressAt, addressAt + ADDRESS_DIGITS, out, at)
  at = writeHead(bytes, at, topicCount * TOPIC_SIZE, 0xc0)
  for (let n = 0, from = topicsAt; n < topicCount; n++, from += TOPIC_STEP) {
    at = writeHead(bytes, at, HASH_DIGITS / 2, 0x80)
    at = writeBytes(text, from, from + HASH_DIGITS, out, at)
  }
  if (!isBareByte(log)) at = writeHead(bytes, at, (dataEnd - dataAt) / 2, 0x80)
  return writeBytes(text, dataAt, dataEnd, out, at)
}

/** Payload size of the list that encodes a log. */
const payloadOf = (log: LogEntry): number =>
  sized(ADDRESS_DIGITS / 2) + sized(log.topicCount * TOPIC_SIZE) + dataSize(log)

const dataSize = (log: LogEntry): number => (isBareByte(log) ? 1 : sized((log.dataEnd - log.dataAt) / 2))

/** One byte below 0x80 is its own encoding. */
const isBareByte = ({ text, dataAt, dataEnd }: LogEntry): boolean =>
  dataEnd - dataAt === 2 && text.getUint8(dataAt) < 0x38

/** Size including the RLP prefix. */
const sized = (payload: number): number => headSize(payload) + payload

const TOPIC_SIZE = sized(HASH_DIGITS / 2)

const outcomeOf = (outcome: Outcome): Hex =>
  'status' in outcome ? integer(`0x${outcome.status}`) : outcome.stateRoot
