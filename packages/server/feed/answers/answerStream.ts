/**
 * Parses a large answer while it arrives. `result` is a list of receipts or logs, or one receipt. Each stretch of
 * complete entries is parsed and its bytes are released; a receipt that is large on its own is parsed log by log. So
 * memory holds at most one stretch of the response besides the entries.
 *
 * This file only finds where values begin and end. The parser of a stretch decides whether they are valid JSON.
 */
import { scanAnswer } from './answerScanner.ts'
import { FieldError } from './answer.ts'
import { compactEntries } from './compactEntry.ts'
import { toLogEntry, toReceiptEntry } from './entry.ts'

/** Entries are parsed in stretches of this many bytes: about a millisecond of work each. */
const STRETCH = 256 * 1024
/**
 * One log, or one receipt without its logs, may take this many times the limit of an ordinary answer: more would cost
 * gigagas.
 */
const ENTRY_FACTOR = 4

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c]
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]
const HEAD = Buffer.from('{"jsonrpc":"2.0","id":0,"result":[')
const TAIL = Buffer.from(']}')

/** One value has more bytes than may be kept in memory. */
export class AnswerTooLarge extends Error {}
/** The bytes are not JSON, or do not have the form of an answer. */
export class NotAnAnswer extends Error {}

/** What the current bytes belong to: the part around the result, its entries, or the logs of one receipt. */
type Level = 'envelope' | 'entries' | 'logs'

export class AnswerStream {
  readonly #bodyBytes: number
  readonly #stretch: number
  #bytes = Buffer.allocUnsafeSlow(2 * STRETCH)
  /** `#bytes` begins with the first byte not consumed; `#at` is the next byte to scan; the data ends at `#end`. */
  #at = 0
  #end = 0
  #scratch = Buffer.allocUnsafeSlow(2 * STRETCH)
  #level: Level = 'envelope'
  #depth = 0
  #isInString = false
  #isEscaped = false
  #stringAt = 0
  #stringEnd = 0
  /** Depth of the braces around an entry: 2 in a list, 1 when the result is a single entry. */
  #entriesDepth = 0
  #isFirst = true
  /** Just past the last complete value of the current level that is not consumed yet. */
  #wholeEnd = 0
  /** For the current entry: the offset after the bracket that opens its logs, 0 before that bracket. */
  #logsAt = 0
  #logsWholeEnd = 0
  readonly #envelope: Buffer[] = []
  /** The bytes around the logs of a receipt whose logs are parsed one by one. */
  #shell: Buffer[] = []
  #logs: unknown[] = []
  #entries: unknown[] = []
  #single: unknown = null

  /** `bodyBytes`: the most bytes kept that belong to no entry. A receipt of at least `stretch` bytes is split. */
  constructor(bodyBytes: number, stretch = STRETCH) {
    this.#bodyBytes = bodyBytes
    this.#stretch = stretch
  }

  push(chunk: Buffer): void {
    this.#append(chunk)
    this.#look()
    if (this.#level === 'entries' && this.#wholeEnd > 0) this.#takeEntries()
    else if (this.#level === 'entries' && this.#logsWholeEnd > 0 && this.#end > this.#stretch)
      this.#takeApart()
    else if (this.#level === 'logs' && this.#wholeEnd > 0) this.#takeLogs()
    const limit = this.#level === 'envelope' ? this.#bodyBytes : ENTRY_FACTOR * this.#bodyBytes
    if (this.#end > limit) throw new AnswerTooLarge()
  }

  /** The answer with its entries; throws NotAnAnswer when it is incomplete. */
  end(): Readonly<Record<string, unknown>> {
    if (this.#depth !== 0 || this.#isInString || this.#level !== 'envelope') throw new NotAnAnswer()
    this.#envelope.push(this.#taken(this.#end))
    const envelope = parsed(Buffer.concat(this.#envelope)) as Record<string, unknown>
    if (this.#entriesDepth === 0) return envelope
    return { ...envelope, result: this.#entriesDepth === 2 ? this.#entries : this.#single }
  }

  #append(chunk: Buffer): void {
    if (this.#end + chunk.length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (this.#end + chunk.length))
      this.#bytes.copy(larger, 0, 0, this.#end)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, this.#end)
    this.#end += chunk.length
  }

  #look(): void {
    while (this.#at < this.#end) {
      const byte = this.#bytes[this.#at++] as number
      if (this.#isInString) this.#inString(byte)
      else if (byte === QUOTE) {
        this.#isInString = true
        this.#stringAt = this.#at
      } else if (byte === OPEN || byte === OPEN_LIST) this.#open(byte)
      else if (byte === CLOSE || byte === CLOSE_LIST) this.#close(byte)
    }
  }

  /** Skips to the next quote or backslash in one step: most of an answer is hex. */
  #inString(first: number): void {
    let byte = first
    for (;;) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) {
        this.#isInString = false
        this.#stringEnd = this.#at - 1
        return
      }
      if (this.#at === this.#end) return
      byte = this.#bytes[this.#at++] as number
    }
  }

  #open(byte: number): void {
    const depth = this.#depth++
    if (this.#level === 'envelope') {
      if (depth !== 1 || this.#entriesDepth !== 0 || this.#key() !== 'result') return
      const isList = byte === OPEN_LIST
      this.#entriesDepth = isList ? 2 : 1
      this.#level = 'entries'
      // The bracket belongs to the envelope, the brace to the entry.
      this.#envelope.push(this.#taken(isList ? this.#at : this.#at - 1))
    } else if (this.#level === 'entries' && depth === this.#entriesDepth + 1 && byte === OPEN_LIST)
      if (this.#logsAt === 0 && this.#key() === 'logs') this.#logsAt = this.#at
  }

  #close(byte: number): void {
    const depth = --this.#depth
    if (depth < 0) throw new NotAnAnswer()
    if (this.#level === 'envelope') return
    const logsDepth = this.#entriesDepth + 2
    if (this.#level === 'logs') {
      if (depth === logsDepth) this.#wholeEnd = this.#at
      if (depth !== logsDepth - 1) return
      this.#closeLogs()
    } else if (depth === logsDepth && this.#logsAt > 0) this.#logsWholeEnd = this.#at
    else if (depth === logsDepth - 1 && byte === CLOSE_LIST) {
      this.#logsAt = 0
      this.#logsWholeEnd = 0
    } else if (depth === this.#entriesDepth && this.#entriesDepth === 2) this.#closeEntry()
    else if (depth === 1) this.#closeResult(byte)
  }

  /** Completes an entry. One that was split is rebuilt from its shell and its logs. */
  #closeEntry(): void {
    this.#logsAt = 0
    this.#logsWholeEnd = 0
    if (this.#shell.length === 0) this.#wholeEnd = this.#at
    else {
      this.#entries.push(this.#receipt())
      this.#isFirst = false
    }
  }

  #closeResult(byte: number): void {
    if (this.#entriesDepth === 1) {
      this.#single =
        this.#shell.length > 0 ? this.#receipt() : compactEntries([entryOf(parsed(this.#taken(this.#at)))])[0]
      this.#envelope.push(Buffer.from('null'))
    } else {
      if (byte !== CLOSE_LIST) throw new NotAnAnswer()
      if (this.#wholeEnd > 0) this.#takeEntries()
      if (!isBlank(this.#taken(this.#at - 1))) throw new NotAnAnswer()
    }
    this.#level = 'envelope'
  }

  #takeEntries(): void {
    for (const entry of this.#made(this.#wholeEnd)) this.#entries.push(entry)
  }

  /** Splits a large receipt: parses the logs it has so far, then the others as they arrive. */
  #takeApart(): void {
    if (this.#entriesDepth === 2) this.#dropComma()
    this.#shell.push(this.#taken(this.#logsAt))
    this.#wholeEnd = this.#logsWholeEnd
    this.#level = 'logs'
    this.#isFirst = true
    this.#takeLogs()
  }

  #takeLogs(): void {
    for (const log of this.#made(this.#wholeEnd)) this.#logs.push(log)
  }

  #closeLogs(): void {
    if (this.#wholeEnd > 0) this.#takeLogs()
    if (!isBlank(this.#taken(this.#at - 1))) throw new NotAnAnswer()
    this.#level = 'entries'
  }

  /** Joins the shell, whose list of logs is empty, with the logs taken out of it. */
  #receipt(): unknown {
    const shell = parsed(Buffer.concat([...this.#shell, this.#taken(this.#at)])) as Record<string, unknown>
    const receipt = { ...shell, logs: this.#logs }
    this.#shell = []
    this.#logs = []
    return entryOf(receipt)
  }

  /** Parses the bytes up to an offset as entries: whole values with commas between them. */
  #made(end: number): unknown[] {
    const start = this.#isFirst ? 0 : this.#afterComma()
    this.#isFirst = false
    const size = end - start
    const whole = HEAD.length + size + TAIL.length
    if (this.#scratch.length < whole) this.#scratch = Buffer.allocUnsafeSlow(2 * whole)
    HEAD.copy(this.#scratch)
    this.#bytes.copy(this.#scratch, HEAD.length, start, end)
    TAIL.copy(this.#scratch, HEAD.length + size)
    const text = this.#scratch.subarray(0, whole)
    const entries = scanAnswer(text)?.result ?? (parsed(text) as { result: unknown[] }).result.map(entryOf)
    this.#drop(end)
    return compactEntries(entries)
  }

  #dropComma(): void {
    if (!this.#isFirst) this.#drop(this.#afterComma())
  }

  #afterComma(): number {
    let at = 0
    while (at < this.#end && isSpace(this.#bytes[at] as number)) at++
    if (this.#bytes[at] !== COMMA) throw new NotAnAnswer()
    return at + 1
  }

  /** Copies the bytes up to an offset and consumes them. */
  #taken(end: number): Buffer {
    const bytes = Buffer.from(this.#bytes.subarray(0, end))
    this.#drop(end)
    return bytes
  }

  #drop(end: number): void {
    this.#bytes.copyWithin(0, end, this.#end)
    this.#at -= end
    this.#end -= end
    this.#stringAt -= end
    this.#stringEnd -= end
    this.#wholeEnd = 0
    this.#logsAt = Math.max(0, this.#logsAt - end)
    this.#logsWholeEnd = Math.max(0, this.#logsWholeEnd - end)
  }

  /** The last string, which is the key of the value that opens. */
  #key(): string {
    return this.#stringAt < 0 ? '' : this.#bytes.toString('latin1', this.#stringAt, this.#stringEnd)
  }
}

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const isBlank = (bytes: Buffer): boolean => bytes.every(isSpace)

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new NotAnAnswer()
  }
}

/** Passes on a value that cannot be an entry, so that the decoder reports it. */
function entryOf(item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item
  try {
    return 'logs' in item ? toReceiptEntry(item) : 'topics' in item ? toLogEntry(item) : item
  } catch (error) {
    if (error instanceof FieldError) return item
    throw error
  }
}
