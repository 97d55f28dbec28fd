/**
 * One subscriber: a position in the log and at most 256 KiB in its socket. It replays from the store, then lives
 * from the ring; nothing is sent twice and nothing is skipped. A consumer that cannot keep up is told where it
 * stands and closed.
 */
import type { WebSocket } from 'ws'
import type { Clock } from '../ops/clock.ts'
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import { isWanted, type Subscription } from '../stream/filter.ts'
import type { Hub } from '../stream/hub.ts'

/** What may wait in a socket. */
const MAX_BUFFERED = 256 * 1024
/** A live record older than this that could not be sent, or a replay that drained nothing, is too slow. */
const SLOW_MS = 10_000
const REPLAY_PAGE = 500
/** A close frame queues behind the backlog; after this the socket goes. */
const DESTROY_MS = 5000
const CHECK_MS = 500

export type ConnectionContext = {
  readonly hub: Hub
  readonly store: LogStore
  readonly clock: Clock
  readonly maxBuffered?: number
  readonly slowMs?: number
}

export class Connection {
  readonly #socket: WebSocket
  readonly #subscription: Subscription
  readonly #context: ConnectionContext
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
    socket: WebSocket,
    subscription: Subscription,
    after: Sequence,
    isReplaying: boolean,
    context: ConnectionContext,
  ) {
    this.#socket = socket
    this.#subscription = subscription
    this.#context = context
    this.#position = after
    this.#written = after
    this.#isReplaying = isReplaying
    this.#drainedAtMs = context.clock.monotonicMs()
    this.#unlisten = context.hub.listen(() => this.#pump())
    this.#check = setInterval(() => this.#watch(), CHECK_MS)
    this.#check.unref()
    socket.once('close', () => this.stop())
    this.#pump()
  }

  /** While it replays: how far it has read. */
  get replayed(): Sequence | null {
    return this.#isReplaying && this.#isOpen ? this.#position : null
  }

  stop(): void {
    this.#isOpen = false
    this.#unlisten()
    clearInterval(this.#check)
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.stop()
    this.#socket.close(code, reason)
    setTimeout(() => this.#socket.terminate(), DESTROY_MS).unref()
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
    const { chainIds } = this.#subscription
    while (this.#isOpen && this.#hasRoom()) {
      const page = this.#isReplaying
        ? await this.#context.store.readLog(
            this.#position,
            REPLAY_PAGE,
            chainIds.length === 1 ? (chainIds[0] as number) : null,
          )
        : this.#context.hub.after(this.#position)
      if (page === null) return this.#tooSlow()
      if (page.length === 0) {
        if (!this.#isReplaying) return
        // The store had nothing more: from here the ring, which may already be ahead.
        this.#isReplaying = this.#context.hub.after(this.#position) === null
        if (this.#isReplaying) await this.#skipTo(this.#context.hub.head)
        continue
      }
      for (const record of page) {
        if (!this.#isOpen || !this.#hasRoom()) return
        this.#deliver(record)
      }
    }
  }

  /** Other chains' records moved the head past the ring: nothing of ours lies between. */
  async #skipTo(head: Sequence): Promise<void> {
    const { chainIds } = this.#subscription
    const missed = await this.#context.store.readLog(
      this.#position,
      1,
      chainIds.length === 1 ? (chainIds[0] as number) : null,
    )
    if (missed.length === 0) this.#position = Math.max(this.#position, head)
  }

  #deliver(record: LogRecord): void {
    this.#position = record.sequence
    if (!isWanted(this.#subscription, record)) return
    this.#socket.send(record.envelope, () => {
      this.#written = record.sequence
      this.#drainedAtMs = this.#context.clock.monotonicMs()
      if (this.#isOpen && this.#hasRoom()) this.#pump()
    })
  }

  #hasRoom(): boolean {
    return this.#socket.bufferedAmount < (this.#context.maxBuffered ?? MAX_BUFFERED)
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
    this.close(1013, `last_sequence=${this.#socket.bufferedAmount === 0 ? this.#position : this.#written}`)
  }
}
