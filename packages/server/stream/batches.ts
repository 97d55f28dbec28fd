/**
 * Records on their way out: framed once for everyone, and a block's records joined into one write for all who stand
 * at the same place with the same filter. The cost of a stream is its system calls.
 */
import type { LogRecord, Sequence } from '../store/port.ts'
import { isWanted, type Subscription } from './filter.ts'

/** One write: large enough for a block, small enough that a slow socket is noticed. */
const BATCH_BYTES = 64 * 1024
/** Places and filters remembered: those of one block, more or less. */
const REMEMBERED = 64

export type Batch = {
  /** Null when nothing of it is wanted. */
  readonly bytes: Buffer | null
  /** How many of the page it covers. */
  readonly records: number
  readonly last: Sequence
}

export class Batches {
  readonly #frame: (record: LogRecord) => Buffer
  readonly #framed = new WeakMap<LogRecord, Buffer>()
  readonly #known = new Map<string, Batch>()

  constructor(frame: (record: LogRecord) => Buffer) {
    this.#frame = frame
  }

  /** The first write of a live page, shared. What follows `after` only ever grows: a shorter one known stays right. */
  ofRing(after: Sequence, page: readonly LogRecord[], subscription: Subscription): Batch {
    const key = `${after} ${subscription.key}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const batch = this.of(page, subscription)
    this.#known.set(key, batch)
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value as string)
    return batch
  }

  /** The first write of a page that is not empty. */
  of(page: readonly LogRecord[], subscription: Subscription): Batch {
    const frames: Buffer[] = []
    let bytes = 0
    let records = 0
    for (const record of page) {
      records += 1
      if (!isWanted(subscription, record)) continue
      const frame = this.#framedOf(record)
      frames.push(frame)
      bytes += frame.length
      if (bytes >= BATCH_BYTES) break
    }
    const last = (page[records - 1] as LogRecord).sequence
    const [only] = frames
    if (only === undefined) return { bytes: null, records, last }
    return { bytes: frames.length === 1 ? only : Buffer.concat(frames, bytes), records, last }
  }

  #framedOf(record: LogRecord): Buffer {
    let frame = this.#framed.get(record)
    if (frame === undefined) {
      frame = this.#frame(record)
      this.#framed.set(record, frame)
    }
    return frame
  }
}

const SHORT = 126
const LONG = 65_536

/** An unmasked text frame of a server (RFC 6455 §5.2), whole. */
export function webSocketFrame({ envelope }: Pick<LogRecord, 'envelope'>): Buffer {
  const length = Buffer.byteLength(envelope)
  const header = length < SHORT ? 2 : length < LONG ? 4 : 10
  const frame = Buffer.allocUnsafe(header + length)
  frame[0] = 0x81
  if (header === 2) frame[1] = length
  else if (header === 4) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  frame.write(envelope, header)
  return frame
}
