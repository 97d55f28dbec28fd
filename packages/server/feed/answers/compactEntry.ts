/**
 * Copies entries out of the bytes they were read from. An entry refers to its digits in the buffer of the answer, so
 * keeping one log would keep all of a large answer in memory. A copied entry refers to a buffer that contains only
 * digits of entries.
 */
import { ADDRESS_DIGITS, BLOOM_DIGITS, HASH_DIGITS, LogEntry, ReceiptEntry, TOPIC_STEP } from './entry.ts'

/** The same list; an item that is neither a log nor a receipt stays unchanged. */
export function compactEntries(entries: readonly unknown[]): unknown[] {
  const size = entries.reduce((sum: number, entry) => sum + digitsOf(entry), 0)
  const to = new Digits(size)
  return entries.map(entry => moved(entry, to))
}

class Digits {
  readonly view: DataView
  readonly #bytes: Buffer
  #at = 0
  /**
   * View of the previous entry, which usually shares its buffer: a new object for each copy would be most of the
   * garbage.
   */
  #source: Buffer = NOTHING

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size)
    this.view = new DataView(this.#bytes.buffer)
  }

  /** Copies the bytes between two offsets and returns their new offset. */
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

/** Topics keep their spacing, so the bytes between two of them are copied too. */
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
