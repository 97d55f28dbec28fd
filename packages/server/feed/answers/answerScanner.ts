/**
 * Reads lists of logs and receipts straight from the bytes of an answer. This is faster than JSON.parse, which makes an
 * object of every entry and a string of every field before we read any of them.
 *
 * It understands what nodes write: compact JSON, hex in lower case, no escapes, every key once. On anything else it
 * abandons the whole answer and returns null, which means "parse it". So it either agrees with the strict decoder in
 * `entry.ts` or abstains.
 */
import type { Hex } from '../../ops/hex.ts'
import { DIGIT, oddAt } from '../../ops/hexDigits.ts'
import {
  BIT,
  candidate,
  ENVELOPE,
  isKeyAt,
  type Key,
  KEYS,
  LOG,
  LOG_KEYS,
  OTHER,
  RECEIPT,
  RECEIPT_KEYS,
} from './answerKeys.ts'
import {
  BLOOM_DIGITS,
  type Deposit,
  DEPOSIT_TYPE,
  HASH_DIGITS,
  LogEntry,
  MAX_TYPE,
  ReceiptEntry,
} from './entry.ts'
import { SeenHex } from './seenHex.ts'

type Entry = LogEntry | ReceiptEntry
export type ScannedAnswer = { readonly id: number; readonly result: readonly Entry[] }

/** Null unless the answer is a non-empty list of logs or of receipts and the scanner understands every byte. */
export function scanAnswer(bytes: Buffer): ScannedAnswer | null {
  try {
    return scanner.answerIn(bytes)
  } catch (reason) {
    if (reason === NOT_UNDERSTOOD) return null
    throw reason
  } finally {
    scanner.forget()
  }
}

/** Not an Error: most answers are not for this scanner, and no caller needs the position where it gave up. */
const NOT_UNDERSTOOD = Symbol('not understood')

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN = 0x7b
const CLOSE = 0x7d
const ZERO = 0x30
const X = 0x78

/** So few digits always stay below 2^53. */
const MAX_COUNT_DIGITS = 13
const MAX_TOPICS = 4

const NONE: Hex = '0x'
const NOTHING = Buffer.alloc(0)
const NO_VIEW = new DataView(new ArrayBuffer(0))
const NO_LOGS: readonly LogEntry[] = []
const [TRUE, FALSE, NULL] = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')]

class Scanner {
  #bytes: Buffer = NOTHING
  #view: DataView = NO_VIEW
  #at = 0
  readonly #hashes = new SeenHex(32, 16)
  readonly #firstTopics = new SeenHex(32, 64)
  readonly #addresses = new SeenHex(20, 1024)
  /** The topics read last: the first topic, the offset of its digits, and the number of topics. */
  #topic: Hex | null = null
  #topicsAt = 0
  #topicCount = 0
  /** For each key, by its index, the key that last followed it. */
  readonly #after: Key[] = Array.from({ length: KEYS.length + 1 }, () => OTHER)

  answerIn(bytes: Buffer): ScannedAnswer {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = 0
    let seen = 0
    let id = 0
    let result: readonly Entry[] = []
    let key = OTHER
    this.#take(OPEN)
    do {
      key = this.#key(key)
      if (key === OTHER || (seen & key.bit) !== 0) throw NOT_UNDERSTOOD
      seen |= key.bit
      if (key.bit === BIT.jsonrpc) this.#skipString()
      else if (key.bit === BIT.id) id = this.#decimal()
      else if (key.bit === BIT.result) result = this.#list(true)
      else throw NOT_UNDERSTOOD
    } while (this.#goesOn(CLOSE))
    if (seen !== ENVELOPE || result.length === 0) throw NOT_UNDERSTOOD
    // Some answers end with a line feed.
    for (; this.#at < this.#bytes.length; this.#at++) if (this.#bytes[this.#at] !== 0x0a) throw NOT_UNDERSTOOD
    return { id, result }
  }

  /** After an answer, keeps nothing of it but single hashes and addresses. */
  forget(): void {
    this.#bytes = NOTHING
    this.#view = NO_VIEW
  }

  #list(mayBeReceipts: true): readonly Entry[]
  #list(mayBeReceipts: false): readonly LogEntry[]
  #list(mayBeReceipts: boolean): readonly Entry[] {
    const entries: Entry[] = []
    this.#take(OPEN_LIST)
    if (this.#bytes[this.#at] === CLOSE_LIST) {
      this.#at++
      return entries
    }
    do entries.push(this.#entry(mayBeReceipts))
    while (this.#goesOn(CLOSE_LIST))
    return entries
  }

  #entry(mayBeReceipt: boolean): Entry {
    let seen = 0
    let address = NONE
    let addressAt = 0
    let dataAt = 0
    let dataEnd = 0
    let blockHash = NONE
    let blockNumber = 0
    let transactionHash = NONE
    let transactionIndex = 0
    let logIndex = 0
    let timeS: number | null = null
    let status = 0
    let type: number | null = null
    let depositNonce = NONE
    let depositVersion = NONE
    let bloomAt = 0
    let cumulativeGasUsed = NONE
    let logs: readonly LogEntry[] = NO_LOGS
    let key = OTHER
    this.#take(OPEN)
    do {
      key = this.#key(key)
      if (key === OTHER) {
        this.#skipValue()
        continue
      }
      if ((seen & key.bit) !== 0) throw NOT_UNDERSTOOD
      seen |= key.bit
      switch (key.bit) {
        case BIT.address:
          addressAt = this.#at + 3
          address = this.#seen(this.#addresses)
          break
        case BIT.topics:
          this.#topics()
          break
        case BIT.data:
          dataAt = this.#at + 3
          if (this.#hexDigits() % 2 !== 0) throw NOT_UNDERSTOOD
          dataEnd = this.#at - 1
          break
        case BIT.blockHash:
          blockHash = this.#seen(this.#hashes)
          break
        case BIT.blockNumber:
          blockNumber = this.#count()
          break
        case BIT.transactionHash:
          transactionHash = this.#seen(this.#hashes)
          break
        case BIT.transactionIndex:
          transactionIndex = this.#count()
          break
        case BIT.logIndex:
          logIndex = this.#count()
          break
        case BIT.blockTimestamp:
          // Some nodes write a plain number, of seconds or of another unit.
          if (this.#bytes[this.#at] === QUOTE) timeS = this.#count()
          else this.#skipValue()
          break
        case BIT.removed:
          this.#takeWord(FALSE)
          break
        case BIT.logs:
          if (!mayBeReceipt) throw NOT_UNDERSTOOD
          logs = this.#list(false)
          break
        case BIT.logsBloom:
          bloomAt = this.#at + 3
          if (this.#hexDigits() !== BLOOM_DIGITS) throw NOT_UNDERSTOOD
          break
        case BIT.status:
          status = this.#count()
          break
        case BIT.type:
          type = this.#count()
          break
        case BIT.cumulativeGasUsed:
          cumulativeGasUsed = this.#quantity()
          break
        case BIT.depositNonce:
          depositNonce = this.#quantity()
          break
        case BIT.depositReceiptVersion:
          depositVersion = this.#quantity()
          break
        default:
          throw NOT_UNDERSTOOD
      }
    } while (this.#goesOn(CLOSE))
    if ((seen & LOG) === LOG && (seen & ~LOG_KEYS) === 0)
      return new LogEntry(
        address,
        this.#topic,
        blockHash,
        blockNumber,
        transactionHash,
        transactionIndex,
        logIndex,
        this.#view,
        addressAt,
        this.#topicsAt,
        this.#topicCount,
        dataAt,
        dataEnd,
        timeS,
      )
    if (
      (seen & RECEIPT) === RECEIPT &&
      (seen & ~RECEIPT_KEYS) === 0 &&
      status <= 1 &&
      (type ?? 0) <= MAX_TYPE
    )
      return new ReceiptEntry(
        type,
        { status },
        cumulativeGasUsed,
        this.#view,
        bloomAt,
        logs,
        blockHash,
        blockNumber,
        transactionHash,
        transactionIndex,
        type === DEPOSIT_TYPE ? depositOf(seen, depositNonce, depositVersion) : null,
      )
    throw NOT_UNDERSTOOD
  }

  #topics(): void {
    this.#topic = null
    this.#topicCount = 0
    this.#take(OPEN_LIST)
    this.#topicsAt = this.#at + 3
    if (this.#bytes[this.#at] === CLOSE_LIST) {
      this.#at++
      return
    }
    do {
      if (this.#topicCount === MAX_TOPICS) throw NOT_UNDERSTOOD
      if (this.#topicCount++ === 0) this.#topic = this.#seen(this.#firstTopics)
      else if (this.#hexDigits() !== HASH_DIGITS) throw NOT_UNDERSTOOD
    } while (this.#goesOn(CLOSE_LIST))
  }

  /** The text from `start` to just before the last quote read. */
  #text(start: number): Hex {
    return this.#bytes.toString('latin1', start, this.#at - 1) as Hex
  }

  /** The cached string, or a new one after a check. */
  #seen(known: SeenHex): Hex {
    const start = this.#at
    const text = known.find(this.#view, start)
    if (text !== null) {
      this.#at = start + known.size
      return text
    }
    if (this.#hexDigits() !== known.size - 4) throw NOT_UNDERSTOOD
    return known.keep(this.#view, start, this.#text(start + 1))
  }

  #quantity(): Hex {
    const start = this.#at + 1
    if (this.#hexDigits() === 0) throw NOT_UNDERSTOOD
    return this.#text(start)
  }

  #count(): number {
    const digits = this.#hexDigits()
    if (digits === 0 || digits > MAX_COUNT_DIGITS) throw NOT_UNDERSTOOD
    let value = 0
    for (let at = this.#at - 1 - digits; at < this.#at - 1; at++)
      value = 16 * value + (DIGIT[this.#bytes[at] as number] as number)
    return value
  }

  /** Skips a string of `0x` and digits and returns the number of digits. */
  #hexDigits(): number {
    const bytes = this.#bytes
    let at = this.#at
    if (bytes[at] !== QUOTE || bytes[at + 1] !== ZERO || bytes[at + 2] !== X) throw NOT_UNDERSTOOD
    at += 3
    const first = at
    const view = this.#view
    const last = bytes.length - 16
    while (at <= last && oddAt(view, at) === 0) at += 16
    while ((DIGIT[bytes[at] as number] as number) < 16) at++
    if (bytes[at] !== QUOTE) throw NOT_UNDERSTOOD
    this.#at = at + 1
    return at - first
  }

  #decimal(): number {
    const first = this.#at
    let value = 0
    for (; this.#at - first < MAX_COUNT_DIGITS; this.#at++) {
      const digit = DIGIT[this.#bytes[this.#at] as number] as number
      if (digit > 9) break
      value = 10 * value + digit
    }
    // JSON allows no leading zero.
    const hasZero = this.#bytes[first] === ZERO && this.#at - first > 1
    if (this.#at === first || hasZero) throw NOT_UNDERSTOOD
    return value
  }

  /**
   * Reads a key and its colon. Entries list their keys in a fixed order, so the key that followed `last` before is
   * tried first.
   */
  #key(last: Key): Key {
    const expected = this.#after[last.place] as Key
    if (expected !== OTHER && isKeyAt(this.#view, this.#at, expected)) {
      this.#at += expected.length
      return expected
    }
    const start = this.#at
    this.#skipString()
    this.#take(COLON)
    const known = candidate(this.#at - start, this.#bytes[start + 1] as number)
    if (known === OTHER || !isKeyAt(this.#view, start, known)) return OTHER
    this.#after[last.place] = known
    return known
  }

  /** Skips a plain string, a word or a whole number. Any other value in an unused field is left to the parser. */
  #skipValue(): void {
    const byte = this.#bytes[this.#at]
    if (byte === QUOTE) this.#skipString()
    else if (byte === FALSE[0]) this.#takeWord(FALSE)
    else if (byte === TRUE[0]) this.#takeWord(TRUE)
    else if (byte === NULL[0]) this.#takeWord(NULL)
    else this.#decimal()
  }

  #skipString(): void {
    const bytes = this.#bytes
    this.#take(QUOTE)
    let at = this.#at
    for (; ; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) break
      if (byte === undefined || byte === BACKSLASH || byte < 0x20 || byte > 0x7e) throw NOT_UNDERSTOOD
    }
    this.#at = at + 1
  }

  #takeWord(word: Buffer): void {
    for (const byte of word) this.#take(byte)
  }

  /** True after a comma, false after the bracket or brace that closes the list or object. */
  #goesOn(close: number): boolean {
    const byte = this.#bytes[this.#at++]
    if (byte === COMMA) return true
    if (byte === close) return false
    throw NOT_UNDERSTOOD
  }

  #take(byte: number): void {
    if (this.#bytes[this.#at++] !== byte) throw NOT_UNDERSTOOD
  }
}

function depositOf(seen: number, nonce: Hex, version: Hex): Deposit | null {
  if ((seen & BIT.depositReceiptVersion) === 0) return null
  if ((seen & BIT.depositNonce) === 0) throw NOT_UNDERSTOOD
  return { nonce, version }
}

/** One scanner for all answers: scanning is synchronous. */
const scanner = new Scanner()
