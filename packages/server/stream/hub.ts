/**
 * The tail of the log, shared by everyone who listens. The hub reads what is committed, keeps the newest records
 * in one ring, and wakes its listeners; it is never handed a record ahead of its commit.
 */
import type { Clock } from '../ops/clock.ts'
import { epochOf } from '../store/epoch.ts'
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import type { Subscription } from './filter.ts'

/** Records kept for live listeners: a minute or more of a busy service. */
const RING_RECORDS = 20_000
/** Read at most this much at a time, so that one page never holds up the event loop. */
const PAGE = 1000
/** Even if every wake-up is lost, a commit is seen within this time. */
const POLL_MS = 250

/** Thousands of them: an object each, and no function of its own beside it. */
export type Listener = { wake(): void; readonly subscription?: Subscription }

/** Before the address in an id: `0x` and twelve bytes of zeros. */
const ID_PADDING = 26

/** Up to which record the hub had read at a moment. */
type Mark = { readonly last: Sequence; readonly atMs: number }

export class Hub {
  readonly #store: LogStore
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()
  #ring: LogRecord[] = []
  /** One for each page of the ring, oldest first. */
  #marks: Mark[] = []
  #head: Sequence
  #isReading = false
  #isWoken = false
  #poll: NodeJS.Timeout | null = null

  private constructor(store: LogStore, clock: Clock, head: Sequence) {
    this.#store = store
    this.#clock = clock
    this.#head = head
  }

  static async open(store: LogStore, clock: Clock): Promise<Hub> {
    const hub = new Hub(store, clock, (await store.readBounds()).head)
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

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tokens that the filter of an open stream names. One of a whole chain names none. */
  *streamed(): Iterable<{ readonly chainId: number; readonly tokenAddress: string }> {
    for (const { subscription } of this.#listeners) {
      if (subscription === undefined) continue
      for (const chainId of subscription.chainIds)
        for (const id of subscription.tokenIds) yield { chainId, tokenAddress: `0x${id.slice(ID_PADDING)}` }
    }
  }

  /** Records above `after`, or null when they have left the ring. */
  after(after: Sequence): readonly LogRecord[] | null {
    if (after >= this.#head) return []
    const oldest = this.#ring[0]
    if (oldest === undefined || oldest.sequence > after + 1) return null
    const first = firstWhere(this.#ring, ({ sequence }) => sequence > after)
    return this.#ring.slice(first, first + PAGE)
  }

  /** Whether `after` gives what follows this place, and not null. */
  reaches(after: Sequence): boolean {
    const oldest = this.#ring[0]
    return after >= this.#head || (oldest !== undefined && oldest.sequence <= after + 1)
  }

  /** For how long a record of the ring could have been sent, by the clock that no step of the time moves. */
  ageMs(sequence: Sequence): number {
    const mark = this.#marks[firstWhere(this.#marks, ({ last }) => last >= sequence)]
    return mark === undefined ? 0 : this.#clock.monotonicMs() - mark.atMs
  }

  close(): void {
    if (this.#poll !== null) clearInterval(this.#poll)
  }

  async #read(): Promise<void> {
    this.#isReading = true
    try {
      while (this.#isWoken) {
        this.#isWoken = false
        // A page that is not full was the last one: a later commit wakes the hub.
        for (let count = PAGE; count === PAGE; ) {
          const page = await this.#store.readLog(this.#head, PAGE, null)
          count = page.length
          if (count === 0) break
          this.#take(page)
          for (const listener of this.#listeners) listener.wake()
        }
      }
    } finally {
      this.#isReading = false
    }
  }

  #take(page: readonly LogRecord[]): void {
    const head = (page.at(-1) as LogRecord).sequence
    if (epochOf(head) === epochOf(this.#head)) this.#ring.push(...page)
    else {
      // The log restarted: no subscriber continues across that point, so earlier records are dropped.
      this.#ring = page.filter(({ sequence }) => epochOf(sequence) === epochOf(head))
      this.#marks = []
    }
    this.#marks.push({ last: head, atMs: this.#clock.monotonicMs() })
    this.#head = head
    if (this.#ring.length > RING_RECORDS + PAGE) this.#shorten()
  }

  #shorten(): void {
    this.#ring = this.#ring.slice(-RING_RECORDS)
    const { sequence: oldest } = this.#ring[0] as LogRecord
    this.#marks = this.#marks.slice(firstWhere(this.#marks, ({ last }) => last >= oldest))
  }
}

/** The place of the first that is so, where all after it are so too. */
function firstWhere<Item>(sorted: readonly Item[], isSo: (item: Item) => boolean): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isSo(sorted[middle] as Item)) high = middle
    else low = middle + 1
  }
  return low
}
