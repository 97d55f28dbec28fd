/**
 * Records on their way out: framed once for everyone, and a block's records joined into one write for all who stand
 * at the same place with the same filter. The cost of a stream is its system calls.
 */
import type { LogRecord, Sequence } from '../store/port.ts'
import { isWanted, type Subscription } from './filter.ts'
import type { Hub } from './hub.ts'

/** One write: large enough for a block, small enough that a slow socket is noticed. */
const BATCH_BYTES = 64 * 1024
/** Places remembered for a filter: where its subscribers stand, more or less. */
const REMEMBERED = 16

export type Batch = {
  /** Null when nothing of it is wanted. */
  readonly bytes: Buffer | null
  /** How many of the page it covers. */
  readonly records: number
  readonly last: Sequence
  /** The last record of it that is in `bytes`; 0 when there is none. */
  readonly lastWanted: Sequence
}

/** How a record looks in one of the stream's forms: what stands before and after its envelope. */
export type Framing = {
  readonly head: (record: LogRecord) => Buffer
  readonly tail: Buffer
}

export class Batches {
  readonly #framingOf: (subscription: Subscription) => Framing
  readonly #framed = new WeakMap<Framing, (record: LogRecord) => Buffer>()
  readonly #lanes = new Map<string, Lane>()

  /** One framing for all, or one for each filter where the form of a record depends on it. */
  constructor(framing: Framing | ((subscription: Subscription) => Framing)) {
    this.#framingOf = typeof framing === 'function' ? framing : () => framing
  }

  /** The lane of a filter, shared by all who have it; it is left with `leave`. */
  join(subscription: Subscription): Lane {
    const { key } = subscription
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      const framing = this.#framingOf(subscription)
      lane = new Lane(subscription, framing, this.#framedOnce(framing), () => this.#lanes.delete(key))
      this.#lanes.set(key, lane)
    }
    lane.enter()
    return lane
  }

  /** What is in the ring goes to many: one frame for all who have it in the same form. */
  #framedOnce(framing: Framing): (record: LogRecord) => Buffer {
    const known = this.#framed.get(framing)
    if (known !== undefined) return known
    const frames = new WeakMap<LogRecord, Buffer>()
    const frameOf = (record: LogRecord): Buffer => {
      let frame = frames.get(record)
      if (frame === undefined) {
        frame = framed([record], framing)
        frames.set(record, frame)
      }
      return frame
    }
    this.#framed.set(framing, frameOf)
    return frameOf
  }
}

/** Everyone with the same filter. */
export class Lane {
  readonly subscription: Subscription
  readonly #framing: Framing
  readonly #framedOnce: (record: LogRecord) => Buffer
  readonly #onEmpty: () => void
  readonly #known = new Map<Sequence, Batch>()
  #users = 0

  constructor(
    subscription: Subscription,
    framing: Framing,
    framedOnce: (record: LogRecord) => Buffer,
    onEmpty: () => void,
  ) {
    this.subscription = subscription
    this.#framing = framing
    this.#framedOnce = framedOnce
    this.#onEmpty = onEmpty
  }

  enter(): void {
    this.#users += 1
  }

  leave(): void {
    this.#users -= 1
    if (this.#users === 0) this.#onEmpty()
  }

  /**
   * The next write from the ring for a subscriber at `after`: null when there is none, LEFT when what follows has
   * left the ring. What follows a position only grows, so a known shorter batch stays correct.
   */
  ofRing(hub: Hub, after: Sequence): Batch | 'LEFT' | null {
    if (after >= hub.head) return null
    const known = this.#known.get(after)
    if (known !== undefined) return known
    const page = hub.after(after)
    if (page === null) return 'LEFT'
    const batch = this.#ofShared(page)
    this.#known.set(after, batch)
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value as Sequence)
    return batch
  }

  /** The first write of a page of the store that is not empty. It is one reader's own, and nothing of it is kept. */
  of(page: readonly LogRecord[]): Batch {
    const { wanted, ...covered } = this.#first(page, ({ bytes }) => bytes)
    return { bytes: wanted.length === 0 ? null : framed(wanted, this.#framing), ...covered }
  }

  #ofShared(page: readonly LogRecord[]): Batch {
    const { wanted, ...covered } = this.#first(page, record => this.#framedOnce(record).length)
    const frames = wanted.map(this.#framedOnce)
    return { bytes: frames.length > 1 ? Buffer.concat(frames) : (frames[0] ?? null), ...covered }
  }

  /** As much of a page as makes a write. */
  #first(page: readonly LogRecord[], sizeOf: (record: LogRecord) => number) {
    const wanted: LogRecord[] = []
    let bytes = 0
    let records = 0
    for (const record of page) {
      records += 1
      if (!isWanted(this.subscription, record)) continue
      wanted.push(record)
      bytes += sizeOf(record)
      if (bytes >= BATCH_BYTES) break
    }
    const last = (page[records - 1] as LogRecord).sequence
    return { wanted, records, last, lastWanted: wanted.at(-1)?.sequence ?? 0 }
  }
}

/** The frames of records, one behind the other, written into one buffer. */
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
    // Where every letter is a byte, none has to be looked at.
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
