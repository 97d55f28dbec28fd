/**
 * Collects the bytes of one answer as they arrive and decodes them. A small answer is kept whole and parsed at once,
 * which is fastest; a larger list of receipts or logs is parsed as a stream.
 */
import { AnswerStream, AnswerTooLarge, NotAnAnswer } from './answerStream.ts'
import { scanAnswer } from './answerScanner.ts'
import { FeedError } from '../feedError.ts'

export type Answer = { readonly id?: unknown; readonly result?: unknown; readonly error?: unknown }
type AnswerFields = Answer & Readonly<Record<string, unknown>>

/** A smaller answer is parsed in a few milliseconds and takes little memory. */
export const STREAM_FROM = 1024 * 1024

export type AnswerLimits = {
  /** For an ordinary answer, after decompression. */
  readonly bodyBytes: number
  /** For blocks, receipts and logs. */
  readonly answerBytes: number
}

const STREAMED: ReadonlySet<string> = new Set([
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
  'eth_getLogs',
])
const LARGE: ReadonlySet<string> = new Set([...STREAMED, 'eth_getBlockByHash', 'eth_getBlockByNumber'])

/** Anyone can make a block large, so answers about a block may be large too. */
export const mayBeLarge = (method: string): boolean => LARGE.has(method)

/** The most bytes an answer to this method may have. */
export const mostBytesOf = (method: string, { bodyBytes, answerBytes }: AnswerLimits): number =>
  mayBeLarge(method) ? answerBytes : bodyBytes

export class AnswerReader {
  readonly mostBytes: number
  readonly #limits: AnswerLimits
  readonly #isStreamed: boolean
  #chunks: Buffer[] = []
  #size = 0
  #stream: AnswerStream | null = null

  constructor(method: string, limits: AnswerLimits) {
    this.#limits = limits
    this.mostBytes = mostBytesOf(method, limits)
    this.#isStreamed = STREAMED.has(method)
  }

  /** Bytes received so far, after decompression. */
  get bytes(): number {
    return this.#size
  }

  /** Throws AnswerTooLarge before anything past the limit is kept. */
  push(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.mostBytes) throw new AnswerTooLarge()
    if (this.#stream !== null) return this.#stream.push(chunk)
    this.#chunks.push(chunk)
    if (!this.#isStreamed || this.#size <= STREAM_FROM) return
    this.#stream = new AnswerStream(this.#limits.bodyBytes)
    for (const each of this.#chunks.splice(0)) this.#stream.push(each)
  }

  /** Whether an answer of the declared size may be read at all. */
  mayBe(size: number): boolean {
    return size <= this.mostBytes
  }

  /** The decoded answer; throws NotAnAnswer when the bytes are not JSON. */
  end(): unknown {
    if (this.#stream === null) return parsed(Buffer.concat(this.#chunks, this.#size))
    return this.#stream.end()
  }

  /** Whether the answer begins like an HTML page. */
  get isPage(): boolean {
    const [first] = this.#chunks
    return first !== undefined && /^\s*</.test(first.toString('latin1', 0, 64))
  }
}

/** Decodes lists of logs and receipts as entries where possible. Throws NotAnAnswer. */
function parsed(bytes: Buffer): unknown {
  const scanned = scanAnswer(bytes)
  if (scanned !== null) return scanned
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new NotAnAnswer()
  }
}

/** The object in an answer; anything else is the endpoint's fault. */
export function toAnswer(value: unknown, name: string): AnswerFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FeedError('ANSWER_MALFORMED', name, 'answered with JSON that is no JSON-RPC object')
  return value as AnswerFields
}

export function parseAnswer(bytes: Buffer, name: string): AnswerFields {
  let value: unknown
  try {
    value = parsed(bytes)
  } catch (error) {
    if (error instanceof NotAnAnswer) throw notJson(name)
    throw error
  }
  return toAnswer(value, name)
}

export const notJson = (name: string, httpStatus?: number): FeedError =>
  new FeedError(
    'ANSWER_MALFORMED',
    name,
    'answered with something that is not JSON',
    httpStatus === undefined ? {} : { httpStatus },
  )
