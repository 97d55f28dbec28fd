/**
 * Prepares records for sending: each is framed once for all subscribers, and a block's records are joined into one
 * write for all at the same position with the same filter. The cost of a stream is its system calls.
 */
import type { LogRecord, Sequence } from '../store/port.ts'
import { isWanted, type Subscription } from './filter.ts'
import { framed, Frames, type Framing } from './frames.ts'
import type { Hub } from './hub.ts'

/** Size of one write: large enough for a block, small enough to notice a slow socket. */
const BATCH_BYTES = 64 * 1024
/** Batches cached per filter: its subscribers are mostly at about the same position. */
const REMEMBERED = 16

export type Batch = {
  /** Null when none of its records are wanted. */
  readonly bytes: Buffer | null
  /** Number of records of the page that it covers. */
  readonly records: number
  readonly last: Sequence
  /** Sequence of the last record in `bytes`; 0 when there is none. */
  readonly lastWanted: Sequence
}

export class Batches {
  readonly #framingOf: (subscription: Subscription) => Framing
  readonly #frames = new WeakMap<Framing, Frames>()
  readonly #lanes = new Map<string, Lane>()

  /** One framing for all, or one per filter when the form of a record depends on it. */
  constructor(framing: Framing | ((subscription: Subscription) => Framing)) {
    this.#framingOf = typeof framing === 'function' ? framing : () => framing
  }

  /** The lane of a filter, shared by all its subscribers; release it with `leave`. */
  join(subscription: Subscription): Lane {
    const { key } = subscription
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      const framing = this.#framingOf(subscription)
      lane = new Lane(subscription, framing, this.#framesOf(framing), () => this.#lanes.delete(key))
      this.#lanes.set(key, lane)
    }
    lane.enter()
    return lane
  }

  #framesOf(framing: Framing): Frames {
    let frames = this.#frames.get(framing)
    if (frames === undefined) {
      frames = new Frames(framing)
      this.#frames.set(framing, frames)
    }
    return frames
  }
}

/** All subscribers with the same filter. */
export class Lane {
  readonly subscription: Subscription
  readonly #framing: Framing
  readonly #frames: Frames
  readonly #onEmpty: () => void
  readonly #known = new Map<Sequence, Batch>()
  #users = 0

  constructor(subscription: Subscription, framing: Framing, frames: Frames, onEmpty: () => void) {
    this.subscription = subscription
    this.#framing = framing
    this.#frames = frames
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
   * The next write from the ring for a subscriber at `after`: null when there is none, LEFT when the records after it
   * have left the ring. The records after a position only grow, so a cached shorter batch stays correct.
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

  /** The first non-empty write of a page of the store. It belongs to one reader and is not cached. */
  of(page: readonly LogRecord[]): Batch {
    const { wanted, ...covered } = this.#first(page, ({ bytes }) => bytes)
    return { bytes: wanted.length === 0 ? null : framed(wanted, this.#framing), ...covered }
  }

  #ofShared(page: readonly LogRecord[]): Batch {
    const { wanted, ...covered } = this.#first(page, record => this.#frames.of(record).length)
    const frames = wanted.map(record => this.#frames.of(record))
    return { bytes: frames.length > 1 ? Buffer.concat(frames) : (frames[0] ?? null), ...covered }
  }

  /** As much of a page as fits into one write. */
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
