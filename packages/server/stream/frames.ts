/** The bytes of records on a stream: an envelope between a head and a tail, and the newest of them kept for all subscribers. */
import type { LogRecord } from '../store/port.ts'

/** Some thousands of records. Subscribers that keep up are together at the newest; one far behind is framed for again. */
const KEPT_BYTES = 8 * 1024 * 1024

/** The form of a record on one kind of stream: the bytes before and after its envelope. */
export type Framing = {
  readonly head: (record: LogRecord) => Buffer
  readonly tail: Buffer
}

/**
 * Frames of the newest records in one framing, each made once. Law: a kept frame equals a new one, but for the time at
 * which the cursor in the id of a Server-Sent Event was issued.
 */
export class Frames {
  readonly #framing: Framing
  readonly #mostBytes: number
  /** The oldest first. */
  readonly #kept = new Map<LogRecord, Buffer>()
  #bytes = 0

  constructor(framing: Framing, mostBytes = KEPT_BYTES) {
    this.#framing = framing
    this.#mostBytes = mostBytes
  }

  of(record: LogRecord): Buffer {
    const known = this.#kept.get(record)
    if (known !== undefined) return known
    const frame = framed([record], this.#framing)
    this.#kept.set(record, frame)
    this.#bytes += frame.length
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= this.#mostBytes) break
      this.#kept.delete(oldest)
      this.#bytes -= length
    }
    return frame
  }
}

/** The frames of the records, joined in one buffer. */
export function framed(records: readonly LogRecord[], { head, tail }: Framing): Buffer {
  const heads = records.map(head)
  let length = 0
  for (const [index, { bytes }] of records.entries())
    length += (heads[index] as Buffer).length + bytes + tail.length
  const joined = Buffer.allocUnsafe(length)
  let at = 0
  for (const [index, { envelope, bytes }] of records.entries()) {
    joined.set(heads[index] as Buffer, at)
    at += (heads[index] as Buffer).length
    // When every character is one byte, the faster copy is correct.
    at += joined.write(envelope, at, bytes === envelope.length ? 'latin1' : 'utf8')
    if (tail.length > 0) joined.set(tail, at)
    at += tail.length
  }
  return joined
}

const SHORT = 126
const LONG = 65_536

/** Unmasked text frames of a server (RFC 6455 §5.2). */
export const WEB_SOCKET: Framing = {
  head({ bytes }) {
    if (bytes < SHORT) return Buffer.of(0x81, bytes)
    if (bytes < LONG) return Buffer.of(0x81, 126, bytes >> 8, bytes & 0xff)
    const head = Buffer.allocUnsafe(10)
    head[0] = 0x81
    head[1] = 127
    head.writeBigUInt64BE(BigInt(bytes), 2)
    return head
  },
  tail: Buffer.alloc(0),
}
