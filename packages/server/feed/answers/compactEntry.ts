/**
 * Entries moved out of the bytes they were read from. An entry refers to its digits in the answer's buffer, so one kept
 * log would keep all of a large answer in memory. A moved entry refers to a buffer that holds entries' digits alone.
 */
import { ADDRESS_DIGITS, BLOOM_DIGITS, HASH_DIGITS, LogEntry, ReceiptEntry, TOPIC_STEP } from './entry.ts'

/** The same list; what is neither a log nor a receipt stays as it is. */
export function compactEntries(entries: readonly unknown[]): unknown[] {
  const size = entries.reduce((sum: number, entry) => sum + digitsOf(entry), 0)
  const to = new Digits(size)
  return entries.map(entry => moved(entry, to))
}

class Digits {
  readonly view: DataView
  readonly #bytes: Buffer
  #at = 0
  /** Of the entry before, which mostly stood in the same bytes: an object for each copy would be most of the garbage. */
  #source: Buffer = NOTHING

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size)
    this.view = new DataView(this.#bytes.buffer)
  }

  /** Copies the bytes from one offset to another; gives where they are now. */
  take(from: DataView, start: number, end: number): number {
    const { buffer, byteOffset, byteLength } = from
    const source = this.#source
    if (source.buffer !== buffer || source.byteOffset !== byteOffset || source.length !== byteLength)
      this.#source = Buffer.from(buffer, byteOffset, byteLength)
    const at = this.#at
    this.#source.copy(this.#bytes, at, start, end)
    this.#at = at + end - start
    return at
  }
}

const NOTHING = Buffer.alloc(0)

/** Topics keep their distances, so what stands between two of them is copied too. */
const topicsSize = (count: number): number => (count === 0 ? 0 : (count - 1) * TOPIC_STEP + HASH_DIGITS)

function digitsOf(entry: unknown): number {
  if (entry instanceof LogEntry)
    return ADDRESS_DIGITS + topicsSize(entry.topicCount) + entry.dataEnd - entry.dataAt
  if (entry instanceof ReceiptEntry)
    return entry.logs.reduce<number>((sum, log) => sum + digitsOf(log), BLOOM_DIGITS)
  return 0
}

function moved(entry: unknown, to: Digits): unknown {
  if (entry instanceof LogEntry) return movedLog(entry, to)
  if (!(entry instanceof ReceiptEntry)) return entry
  return new ReceiptEntry(
    entry.type,
    entry.outcome,
    entry.cumulativeGasUsed,
    to.view,
    to.take(entry.text, entry.bloomAt, entry.bloomAt + BLOOM_DIGITS),
    entry.logs.map(log => movedLog(log, to)),
    entry.blockHash,
    entry.blockNumber,
    entry.transactionHash,
    entry.transactionIndex,
    entry.deposit,
  )
}

function movedLog(log: LogEntry, to: Digits): LogEntry {
  const addressAt = to.take(log.text, log.addressAt, log.addressAt + ADDRESS_DIGITS)
  const topicsAt = to.take(log.text, log.topicsAt, log.topicsAt + topicsSize(log.topicCount))
  const dataAt = to.take(log.text, log.dataAt, log.dataEnd)
  return new LogEntry(
    log.address,
    log.topic,
    log.blockHash,
    log.blockNumber,
    log.transactionHash,
    log.transactionIndex,
    log.logIndex,
    to.view,
    addressAt,
    topicsAt,
    log.topicCount,
    dataAt,
    dataAt + log.dataEnd - log.dataAt,
    log.timeS,
  )
}
