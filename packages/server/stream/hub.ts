/**
 * The tail of the log, shared by all listeners. The hub reads what is committed, keeps the newest records in one ring,
 * and wakes its listeners; it never receives a record before its commit.
 */
import type { Clock } from '../ops/clock.ts'
import { epochOf } from '../store/epoch.ts'
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import type { Subscription } from './filter.ts'

/** Records kept for live listeners: a minute or more of a busy service. */
const RING_RECORDS = 20_000
/** Records per read, so that one page never blocks the event loop for long. */
const PAGE = 1000
/** Even if every wake-up is lost, a commit is seen within this time. */
const POLL_MS = 250

/** An object without a closure of its own, because there are thousands of them. */
export type Listener = { wake(): void; readonly subscription?: Subscription }

/** Position of the address in an id: after `0x` and twelve bytes of zeros. */
const ID_PADDING = 26

/** The last record the hub had read at a moment. */
type Mark = { readonly last: Sequence; readonly atMs: number }

export class Hub {
  readonly #store: LogStore
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()
  #ring: LogRecord[] = []
  /** One mark per page of the ring, oldest first. */
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

  /** There may be new records. */
  wake(): void {
    this.#isWoken = true
    if (!this.#isReading) this.#read().catch(() => undefined)
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tokens named by the filters of open streams. A stream of a whole chain names none. */
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

  /** Whether `after` returns records rather than null for this position. */
  reaches(after: Sequence): boolean {
    const oldest = this.#ring[0]
    return after >= this.#head || (oldest !== undefined && oldest.sequence <= after + 1)
  }

  /** How long a record of the ring could have been sent, by the monotonic clock. */
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

/** Index of the first item that satisfies the predicate, when all items after it do too. */
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
