/**
 * The tail of the log, shared by everyone who listens. The hub reads what is committed, keeps the newest records
 * in one ring, and wakes its listeners; it is never handed a record ahead of its commit.
 */
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'

/** Records kept for live listeners: a minute or more of a busy service. */
const RING_RECORDS = 20_000
/** Read at most this much at a time, so that one page never holds up the event loop. */
const PAGE = 1000
/** Even if every wake-up is lost, a commit is seen within this time. */
const POLL_MS = 250

export class Hub {
  readonly #store: LogStore
  readonly #listeners = new Set<() => void>()
  #ring: LogRecord[] = []
  #head: Sequence
  #isReading = false
  #isWoken = false
  #poll: NodeJS.Timeout | null = null

  private constructor(store: LogStore, head: Sequence) {
    this.#store = store
    this.#head = head
  }

  static async open(store: LogStore): Promise<Hub> {
    const hub = new Hub(store, (await store.readBounds()).head)
    hub.#poll = setInterval(() => hub.wake(), POLL_MS)
    hub.#poll.unref()
    return hub
  }

  /** The last sequence this node has seen. */
  get head(): Sequence {
    return this.#head
  }

  /** There may be something new. */
  wake(): void {
    this.#isWoken = true
    if (!this.#isReading) this.#read().catch(() => undefined)
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Records above `after`, or null when they have left the ring. */
  after(after: Sequence): readonly LogRecord[] | null {
    if (after >= this.#head) return []
    const oldest = this.#ring[0]
    if (oldest === undefined || oldest.sequence > after + 1) return null
    let low = 0
    let high = this.#ring.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ring[middle] as LogRecord).sequence <= after) low = middle + 1
      else high = middle
    }
    return this.#ring.slice(low, low + PAGE)
  }

  close(): void {
    if (this.#poll !== null) clearInterval(this.#poll)
  }

  async #read(): Promise<void> {
    this.#isReading = true
    try {
      while (this.#isWoken) {
        this.#isWoken = false
        for (
          let page = await this.#store.readLog(this.#head, PAGE, null);
          page.length > 0;
          page = await this.#store.readLog(this.#head, PAGE, null)
        ) {
          this.#ring.push(...page)
          if (this.#ring.length > RING_RECORDS + PAGE) this.#ring = this.#ring.slice(-RING_RECORDS)
          this.#head = (page.at(-1) as LogRecord).sequence
          for (const listener of this.#listeners) listener()
        }
      }
    } finally {
      this.#isReading = false
    }
  }
}
