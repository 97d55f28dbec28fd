/**
 * A large answer read while it arrives: `result` is a list of receipts or logs, or one receipt. Entries are parsed
 * from each stretch of complete ones, and the bytes are released. A receipt that is large by itself is parsed log
 * by log. So no more than one stretch of the response is in memory besides the entries.
 *
 * It finds where values begin and end; whether they are JSON is decided by the parser of a stretch.
 */
import { scanAnswer } from './answerScanner.ts'
import { FieldError } from './answer.ts'
import { compactEntries } from './compactEntry.ts'
import { toLogEntry, toReceiptEntry } from './entry.ts'

/** Entries are made of so many bytes at a time: about a millisecond of work. */
const STRETCH = 256 * 1024
/** What one log or the shell of one receipt may need beyond the limit of an ordinary answer: more costs gigagas. */
const ENTRY_FACTOR = 4

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c]
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]
const HEAD = Buffer.from('{"jsonrpc":"2.0","id":0,"result":[')
const TAIL = Buffer.from(']}')

/** More bytes than may be held of one value. */
export class AnswerTooLarge extends Error {}
/** The bytes are no JSON, or not of the form that an answer has. */
export class NotAnAnswer extends Error {}

/** Which values the bytes at hand are: around the result, entries of it, or logs of one receipt. */
type Level = 'envelope' | 'entries' | 'logs'

export class AnswerStream {
  readonly #bodyBytes: number
  readonly #stretch: number
  #bytes = Buffer.allocUnsafeSlow(2 * STRETCH)
  /** In `#bytes`: what is not consumed begins at 0; up to `#at` it was looked at; it ends at `#end`. */
  #at = 0
  #end = 0
  #scratch = Buffer.allocUnsafeSlow(2 * STRETCH)
  #level: Level = 'envelope'
  #depth = 0
  #isInString = false
  #isEscaped = false
  #stringAt = 0
  #stringEnd = 0
  /** The depth of the braces around an entry: 2 in a list, 1 for a result that is one entry. */
  #entriesDepth = 0
  #isFirst = true
  /** Past the last whole value of the level that is not consumed yet. */
  #wholeEnd = 0
  /** Of the entry at hand: past the bracket that opens its logs, 0 before that. */
  #logsAt = 0
  #logsWholeEnd = 0
  readonly #envelope: Buffer[] = []
  /** Of a receipt whose logs are taken one by one: what stands around them. */
  #shell: Buffer[] = []
  #logs: unknown[] = []
  #entries: unknown[] = []
  #single: unknown = null

  /** `bodyBytes`: how much of it may be held that belongs to no entry. A receipt of a `stretch` or more is taken apart. */
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

  /** The answer with its entries; throws NotAnAnswer when it is not whole. */
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

  /** Up to the next quote or backslash at once: most of an answer is hex. */
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
      // The bracket stays outside with its envelope; the brace is the entry's own.
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

  /** The entry is whole; one that was taken apart is made of its shell and its logs. */
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

  /** The receipt at hand is large: its first logs are taken, the others as they come. */
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

  /** From the shell, whose list of logs is empty, and the logs that stood in it. */
  #receipt(): unknown {
    const shell = parsed(Buffer.concat([...this.#shell, this.#taken(this.#at)])) as Record<string, unknown>
    const receipt = { ...shell, logs: this.#logs }
    this.#shell = []
    this.#logs = []
    return entryOf(receipt)
  }

  /** Entries of the bytes up to an offset: whole values with commas between them. */
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

  /** A copy of the bytes up to an offset, which are consumed by that. */
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

  /** The last string, which is the key of a value that opens. */
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

/** A value that cannot be an entry is passed on unchanged, to be reported. */
function entryOf(item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item
  try {
    return 'logs' in item ? toReceiptEntry(item) : 'topics' in item ? toLogEntry(item) : item
  } catch (error) {
    if (error instanceof FieldError) return item
    throw error
  }
}
