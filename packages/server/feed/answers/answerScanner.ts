/**
 * Reads lists of logs and receipts straight from the bytes of an answer. This is faster than JSON.parse, which makes an
 * object of every entry and a string of every field before we read any of them.
 *
 * It understands what nodes write: compact JSON, hex in lower case, no escapes, every key once. On anything else it
 * abandons the whole answer and returns null, which means "parse it". So it either agrees with the strict decoder in
 * `entry.ts` or abstains.
 */
import type { Hex } from '../../ops/hex.ts'
import {
  AnswerCursor,
  CLOSE,
  CLOSE_LIST,
  COLON,
  FALSE,
  NOT_UNDERSTOOD,
  OPEN,
  OPEN_LIST,
  QUOTE,
} from './answerCursor.ts'
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

const MAX_TOPICS = 4

const NONE: Hex = '0x'
const NO_LOGS: readonly LogEntry[] = []

class Scanner {
  readonly #cursor = new AnswerCursor()
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
    this.#cursor.open(bytes)
    let seen = 0
    let id = 0
    let result: readonly Entry[] = []
    let key = OTHER
    this.#cursor.take(OPEN)
    do {
      key = this.#key(key)
      if (key === OTHER || (seen & key.bit) !== 0) throw NOT_UNDERSTOOD
      seen |= key.bit
      if (key.bit === BIT.jsonrpc) this.#cursor.skipString()
      else if (key.bit === BIT.id) id = this.#cursor.decimal()
      else if (key.bit === BIT.result) result = this.#list(true)
      else throw NOT_UNDERSTOOD
    } while (this.#cursor.goesOn(CLOSE))
    if (seen !== ENVELOPE || result.length === 0) throw NOT_UNDERSTOOD
    this.#cursor.end()
    return { id, result }
  }

  /** After an answer, keeps nothing of it but single hashes and addresses. */
  forget(): void {
    this.#cursor.close()
  }

  #list(mayBeReceipts: true): readonly Entry[]
  #list(mayBeReceipts: false): readonly LogEntry[]
  #list(mayBeReceipts: boolean): readonly Entry[] {
    const entries: Entry[] = []
    this.#cursor.take(OPEN_LIST)
    if (this.#cursor.bytes[this.#cursor.at] === CLOSE_LIST) {
      this.#cursor.at++
      return entries
    }
    do entries.push(this.#entry(mayBeReceipts))
    while (this.#cursor.goesOn(CLOSE_LIST))
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
    this.#cursor.take(OPEN)
    do {
      key = this.#key(key)
      if (key === OTHER) {
        this.#cursor.skipValue()
        continue
      }
      if ((seen & key.bit) !== 0) throw NOT_UNDERSTOOD
      seen |= key.bit
      switch (key.bit) {
        case BIT.address:
          addressAt = this.#cursor.at + 3
          address = this.#seen(this.#addresses)
          break
        case BIT.topics:
          this.#topics()
          break
        case BIT.data:
          dataAt = this.#cursor.at + 3
          if (this.#cursor.hexDigits() % 2 !== 0) throw NOT_UNDERSTOOD
          dataEnd = this.#cursor.at - 1
          break
        case BIT.blockHash:
          blockHash = this.#seen(this.#hashes)
          break
        case BIT.blockNumber:
          blockNumber = this.#cursor.count()
          break
        case BIT.transactionHash:
          transactionHash = this.#seen(this.#hashes)
          break
        case BIT.transactionIndex:
          transactionIndex = this.#cursor.count()
          break
        case BIT.logIndex:
          logIndex = this.#cursor.count()
          break
        case BIT.blockTimestamp:
          // Some nodes write a plain number, of seconds or of another unit.
          if (this.#cursor.bytes[this.#cursor.at] === QUOTE) timeS = this.#cursor.count()
          else this.#cursor.skipValue()
          break
        case BIT.removed:
          this.#cursor.takeWord(FALSE)
          break
        case BIT.logs:
          if (!mayBeReceipt) throw NOT_UNDERSTOOD
          logs = this.#list(false)
          break
        case BIT.logsBloom:
          bloomAt = this.#cursor.at + 3
          if (this.#cursor.hexDigits() !== BLOOM_DIGITS) throw NOT_UNDERSTOOD
          break
        case BIT.status:
          status = this.#cursor.count()
          break
        case BIT.type:
          type = this.#cursor.count()
          break
        case BIT.cumulativeGasUsed:
          cumulativeGasUsed = this.#cursor.quantity()
          break
        case BIT.depositNonce:
          depositNonce = this.#cursor.quantity()
          break
        case BIT.depositReceiptVersion:
          depositVersion = this.#cursor.quantity()
          break
        default:
          throw NOT_UNDERSTOOD
      }
    } while (this.#cursor.goesOn(CLOSE))
    if ((seen & LOG) === LOG && (seen & ~LOG_KEYS) === 0)
      return new LogEntry(
        address,
        this.#topic,
        blockHash,
        blockNumber,
        transactionHash,
        transactionIndex,
        logIndex,
        this.#cursor.view,
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
        this.#cursor.view,
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
    this.#cursor.take(OPEN_LIST)
    this.#topicsAt = this.#cursor.at + 3
    if (this.#cursor.bytes[this.#cursor.at] === CLOSE_LIST) {
      this.#cursor.at++
      return
    }
    do {
      if (this.#topicCount === MAX_TOPICS) throw NOT_UNDERSTOOD
      if (this.#topicCount++ === 0) this.#topic = this.#seen(this.#firstTopics)
      else if (this.#cursor.hexDigits() !== HASH_DIGITS) throw NOT_UNDERSTOOD
    } while (this.#cursor.goesOn(CLOSE_LIST))
  }

  /** The cached string, or a new one after a check. */
  #seen(known: SeenHex): Hex {
    const start = this.#cursor.at
    const text = known.find(this.#cursor.view, start)
    if (text !== null) {
      this.#cursor.at = start + known.size
      return text
    }
    if (this.#cursor.hexDigits() !== known.size - 4) throw NOT_UNDERSTOOD
    return known.keep(this.#cursor.view, start, this.#cursor.text(start + 1))
  }

  /**
   * Reads a key and its colon. Entries list their keys in a fixed order, so the key that followed `last` before is
   * tried first.
   */
  #key(last: Key): Key {
    const expected = this.#after[last.place] as Key
    if (expected !== OTHER && isKeyAt(this.#cursor.view, this.#cursor.at, expected)) {
      this.#cursor.at += expected.length
      return expected
    }
    const start = this.#cursor.at
    this.#cursor.skipString()
    this.#cursor.take(COLON)
    const known = candidate(this.#cursor.at - start, this.#cursor.bytes[start + 1] as number)
    if (known === OTHER || !isKeyAt(this.#cursor.view, start, known)) return OTHER
    this.#after[last.place] = known
    return known
  }
}

function depositOf(seen: number, nonce: Hex, version: Hex): Deposit | null {
  if ((seen & BIT.depositReceiptVersion) === 0) return null
  if ((seen & BIT.depositNonce) === 0) throw NOT_UNDERSTOOD
  return { nonce, version }
}

/** One scanner for all answers: scanning is synchronous. */
const scanner = new Scanner()
