/**
 * One subscriber: a position in the log and at most 256 KiB in its socket. It replays from the store, then lives
 * from the ring; nothing is sent twice and nothing is skipped. A consumer that cannot keep up is told where it
 * stands and closed.
 */
import type { Clock } from '../ops/clock.ts'
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import type { Batch, Batches } from './batches.ts'
import type { Subscription } from './filter.ts'
import type { Hub } from './hub.ts'

/** What may wait in a socket. */
const MAX_BUFFERED = 256 * 1024
/** A live record older than this that could not be sent, or a replay that drained nothing, is too slow. */
const SLOW_MS = 10_000
const REPLAY_PAGE = 500
/** A close frame queues behind the backlog; after this the socket goes. */
const DESTROY_MS = 5000
const CHECK_MS = 500

/** Where records go: the socket behind a WebSocket, or the body of an event stream. */
export type Sink = {
  /** `done` once these bytes have left the process. */
  write(bytes: Buffer, done: () => void): void
  /** Bytes that have not. */
  buffered(): number
  /** Says why, then ends; what is buffered goes first. */
  close(code: number, reason: string): void
  destroy(): void
}

export type SubscriberContext = {
  readonly hub: Hub
  readonly store: LogStore
  readonly clock: Clock
  readonly batches: Batches
  readonly maxBuffered?: number
  readonly slowMs?: number
}

export class Subscriber {
  readonly #sink: Sink
  readonly #subscription: Subscription
  readonly #context: SubscriberContext
  readonly #unlisten: () => void
  readonly #check: NodeJS.Timeout
  /** Handed to the socket up to here; `#written` has left it whole. */
  #position: Sequence
  #written: Sequence
  #isReplaying: boolean
  #isPumping = false
  #isWoken = false
  #isOpen = true
  #drainedAtMs: number

  /** `after` is where to start: the cursor's sequence, or the head for live-only. */
  constructor(
    sink: Sink,
    subscription: Subscription,
    after: Sequence,
    isReplaying: boolean,
    context: SubscriberContext,
  ) {
    this.#sink = sink
    this.#subscription = subscription
    this.#context = context
    this.#position = after
    this.#written = after
    this.#isReplaying = isReplaying
    this.#drainedAtMs = context.clock.monotonicMs()
    this.#unlisten = context.hub.listen(() => this.#pump())
    this.#check = setInterval(() => this.#watch(), CHECK_MS)
    this.#check.unref()
    this.#pump()
  }

  /** While it replays: how far it has read. */
  get replayed(): Sequence | null {
    return this.#isReplaying && this.#isOpen ? this.#position : null
  }

  /** The connection is gone. */
  stop(): void {
    this.#isOpen = false
    this.#unlisten()
    clearInterval(this.#check)
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.stop()
    this.#sink.close(code, reason)
    setTimeout(() => this.#sink.destroy(), DESTROY_MS).unref()
  }

  #pump(): void {
    this.#isWoken = true
    if (this.#isPumping) return
    this.#isPumping = true
    void this.#drive()
  }

  /** Sends until nobody has woken it since it last looked: a wake-up is never lost between looking and ending. */
  async #drive(): Promise<void> {
    try {
      while (this.#isWoken && this.#isOpen) {
        this.#isWoken = false
        await this.#send()
      }
    } catch {
      this.close(1011, 'the log could not be read')
    } finally {
      this.#isPumping = false
    }
  }

  async #send(): Promise<void> {
    while (this.#isOpen && this.#hasRoom()) {
      const isDone = this.#isReplaying ? await this.#replay() : this.#follow()
      if (isDone) return
    }
  }

  /** One write from the ring; true when there is nothing to write. */
  #follow(): boolean {
    const { hub, batches } = this.#context
    const page = hub.after(this.#position)
    if (page === null) this.#tooSlow()
    if (page === null || page.length === 0) return true
    this.#deliver(batches.ofRing(this.#position, page, this.#subscription))
    return false
  }

  /** A page of the store, as far as there is room; what is left of it is read again. */
  async #replay(): Promise<boolean> {
    const { hub, store, batches } = this.#context
    let page: readonly LogRecord[] = await store.readLog(this.#position, REPLAY_PAGE, this.#chain)
    if (page.length === 0) {
      // The store had nothing more: from here the ring, which may already be ahead.
      this.#isReplaying = hub.after(this.#position) === null
      if (this.#isReplaying) await this.#skipTo(hub.head)
    }
    while (page.length > 0 && this.#isOpen && this.#hasRoom()) {
      const batch = batches.of(page, this.#subscription)
      this.#deliver(batch)
      page = page.slice(batch.records)
    }
    return false
  }

  /** The store reads one chain's records faster than everyone's. */
  get #chain(): number | null {
    const { chainIds } = this.#subscription
    return chainIds.length === 1 ? (chainIds[0] as number) : null
  }

  /** Other chains' records moved the head past the ring: nothing of ours lies between. */
  async #skipTo(head: Sequence): Promise<void> {
    const missed = await this.#context.store.readLog(this.#position, 1, this.#chain)
    if (missed.length === 0) this.#position = Math.max(this.#position, head)
  }

  #deliver({ bytes, last }: Batch): void {
    this.#position = last
    if (bytes === null) return
    this.#sink.write(bytes, () => {
      this.#written = last
      this.#drainedAtMs = this.#context.clock.monotonicMs()
      if (this.#isOpen && this.#hasRoom()) this.#pump()
    })
  }

  #hasRoom(): boolean {
    return this.#sink.buffered() < (this.#context.maxBuffered ?? MAX_BUFFERED)
  }

  #watch(): void {
    const slowMs = this.#context.slowMs ?? SLOW_MS
    if (this.#hasRoom()) this.#pump()
    else if (this.#context.clock.monotonicMs() - this.#drainedAtMs > slowMs) this.#tooSlow()
    else if (!this.#isReplaying) {
      const next = this.#context.hub.after(this.#position)
      if (next === null || (next[0] !== undefined && this.#context.clock.nowMs() - next[0].timeMs > slowMs))
        this.#tooSlow()
    }
  }

  #tooSlow(): void {
    this.close(1013, `last_sequence=${this.#sink.buffered() === 0 ? this.#position : this.#written}`)
  }
}
