/**
 * A position in the bytes of an answer, and the parts of compact JSON that may stand there: punctuation, strings, hex
 * digits, whole numbers. Anything else makes it throw `NOT_UNDERSTOOD`: every byte it passes over has been checked.
 */
import type { Hex } from '../../ops/hex.ts'
import { DIGIT, oddAt } from '../../ops/hexDigits.ts'

/** Not an Error: most answers are not for this scanner, and no caller needs the position where it gave up. */
export const NOT_UNDERSTOOD = Symbol('not understood')

export const QUOTE = 0x22
const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
export const CLOSE_LIST = 0x5d
export const OPEN = 0x7b
export const CLOSE = 0x7d
const ZERO = 0x30
const X = 0x78

/** So few digits always stay below 2^53. */
const MAX_COUNT_DIGITS = 13

const NOTHING = Buffer.alloc(0)
const NO_VIEW = new DataView(new ArrayBuffer(0))
const [TRUE, NULL] = [Buffer.from('true'), Buffer.from('null')]
export const FALSE = Buffer.from('false')

export class AnswerCursor {
  bytes: Buffer = NOTHING
  view: DataView = NO_VIEW
  at = 0

  open(bytes: Buffer): void {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = 0
  }

  /** Keeps nothing of the answer. */
  close(): void {
    this.bytes = NOTHING
    this.view = NO_VIEW
  }

  /** Some answers end with a line feed. */
  end(): void {
    for (; this.at < this.bytes.length; this.at++) if (this.bytes[this.at] !== 0x0a) throw NOT_UNDERSTOOD
  }

  /** The text from `start` to just before the last quote read. */
  text(start: number): Hex {
    return this.bytes.toString('latin1', start, this.at - 1) as Hex
  }

  quantity(): Hex {
    const start = this.at + 1
    if (this.hexDigits() === 0) throw NOT_UNDERSTOOD
    return this.text(start)
  }

  count(): number {
    const digits = this.hexDigits()
    if (digits === 0 || digits > MAX_COUNT_DIGITS) throw NOT_UNDERSTOOD
    let value = 0
    for (let at = this.at - 1 - digits; at < this.at - 1; at++)
      value = 16 * value + (DIGIT[this.bytes[at] as number] as number)
    return value
  }

  /** Skips a string of `0x` and digits and returns the number of digits. */
  hexDigits(): number {
    const bytes = this.bytes
    let at = this.at
    if (bytes[at] !== QUOTE || bytes[at + 1] !== ZERO || bytes[at + 2] !== X) throw NOT_UNDERSTOOD
    at += 3
    const first = at
    const view = this.view
    const last = bytes.length - 16
    while (at <= last && oddAt(view, at) === 0) at += 16
    while ((DIGIT[bytes[at] as number] as number) < 16) at++
    if (bytes[at] !== QUOTE) throw NOT_UNDERSTOOD
    this.at = at + 1
    return at - first
  }

  decimal(): number {
    const first = this.at
    let value = 0
    for (; this.at - first < MAX_COUNT_DIGITS; this.at++) {
      const digit = DIGIT[this.bytes[this.at] as number] as number
      if (digit > 9) break
      value = 10 * value + digit
    }
    // JSON allows no leading zero.
    const hasZero = this.bytes[first] === ZERO && this.at - first > 1
    if (this.at === first || hasZero) throw NOT_UNDERSTOOD
    return value
  }

  /** Skips a plain string, a word or a whole number. Any other value in an unused field is left to the parser. */
  skipValue(): void {
    const byte = this.bytes[this.at]
    if (byte === QUOTE) this.skipString()
    else if (byte === FALSE[0]) this.takeWord(FALSE)
    else if (byte === TRUE[0]) this.takeWord(TRUE)
    else if (byte === NULL[0]) this.takeWord(NULL)
    else this.decimal()
  }

  skipString(): void {
    const bytes = this.bytes
    this.take(QUOTE)
    let at = this.at
    for (; ; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) break
      if (byte === undefined || byte === BACKSLASH || byte < 0x20 || byte > 0x7e) throw NOT_UNDERSTOOD
    }
    this.at = at + 1
  }

  takeWord(word: Buffer): void {
    for (const byte of word) this.take(byte)
  }

  /** True after a comma, false after the bracket or brace that closes the list or object. */
  goesOn(close: number): boolean {
    const byte = this.bytes[this.at++]
    if (byte === COMMA) return true
    if (byte === close) return false
    throw NOT_UNDERSTOOD
  }

  take(byte: number): void {
    if (this.bytes[this.at++] !== byte) throw NOT_UNDERSTOOD
  }
}
