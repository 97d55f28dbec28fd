/**
 * One subscriber: a position in the log and at most 256 KiB in its socket. It replays from the store, then lives
 * from the ring; nothing is sent twice and nothing is skipped. A consumer that cannot keep up is closed with its
 * position.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ResetReason } from '@assay/sdk/wire'
import type { Clock } from '../ops/clock.ts'
import { epochOf } from '../store/epoch.ts'
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import type { Batch, Batches, Lane } from './batches.ts'
import type { Subscription } from './filter.ts'
import type { Hub } from './hub.ts'

/** What may wait in a socket. */
const MAX_BUFFERED = 256 * 1024
/** A live record older than this that could not be sent, or a replay of which no byte drained, is too slow. */
const SLOW_MS = 10_000
/** About as much as a socket takes: what does not fit is read again, and each page is two questions to the store. */
const REPLAY_PAGE = 200
const CHECK_MS = 250
/** A close frame queues behind the backlog: five seconds after it was due, however late that was noticed, the socket is gone. */
const DESTROY_MS = 4500

/** Where records go: the socket behind a WebSocket, or the body of an event stream. */
export type Sink = {
  /** True when these bytes have left the process already; else `done` is called once they have, never before it returns. */
  write(bytes: Buffer, done: () => void): boolean
  /** Bytes that have not. */
  buffered(): number
  /** A measure of them that falls with every byte, also in the middle of a write. */
  undrained(): number
  /** Says why, then ends; what is buffered goes first. */
  close(code: number, reason: string): void
  /** Says that the place it stood at is no more, then ends. */
  reset(reason: ResetReason): void
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
  readonly #chain: number | null
  readonly #lane: Lane
  readonly #context: SubscriberContext
  readonly #unlisten: () => void
  readonly #check: NodeJS.Timeout
  /** Everything up to here was looked at, and what is wanted of it handed to the socket. */
  #position: Sequence
  /** The last record handed to the socket. */
  #sent: Sequence
  /** Writes that are still on their way out. */
  #underWay = 0
  /** What the socket had yet to take at the last look. */
  #undrained = 0
  #isReplaying: boolean
  #isPumping = false
  #isWoken = false
  #isOpen = true
  /** When something last left a socket that had not taken everything. */
  #drainedAtMs: number
  /** When the replay last got on. */
  #readOnAtMs: number

  /** `after` is where to start: the cursor's sequence, or the head for live-only. */
  constructor(
    sink: Sink,
    subscription: Subscription,
    after: Sequence,
    isReplaying: boolean,
    context: SubscriberContext,
  ) {
    this.#sink = sink
    const { chainIds } = subscription
    this.#chain = chainIds.length === 1 ? (chainIds[0] as number) : null
    this.#lane = context.batches.join(subscription)
    this.#context = context
    this.#position = after
    this.#sent = after
    this.#isReplaying = isReplaying
    this.#drainedAtMs = context.clock.monotonicMs()
    this.#readOnAtMs = this.#drainedAtMs
    this.#unlisten = context.hub.listen(this)
    this.#check = setInterval(() => this.#watch(), CHECK_MS)
    this.#check.unref()
    this.#pump()
  }

  get isReplaying(): boolean {
    return this.#isReplaying && this.#isOpen
  }

  /** While it replays: how far it has read. Null when it has not got on for as long as ends a stalled one: nothing waits for it. */
  get replayed(): Sequence | null {
    const isStalled = this.#context.clock.monotonicMs() - this.#readOnAtMs > this.#slowMs
    return this.isReplaying && !isStalled ? this.#position : null
  }

  get subscription(): Subscription {
    return this.#lane.subscription
  }

  /** There may be something new. */
  wake(): void {
    this.#pump()
  }

  /** The connection is gone. */
  stop(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#lane.leave()
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
    this.#isWoken = false
    if (this.#isReplaying) void this.#replay().finally(() => this.#rest())
    else {
      this.#follow()
      this.#rest()
    }
  }

  /** A wake-up is never lost between looking and ending. */
  #rest(): void {
    this.#isPumping = false
    if (this.#isWoken && this.#isOpen) this.#pump()
  }

  /** What the ring has for it, as far as there is room. */
  #follow(): void {
    const { hub } = this.#context
    while (this.#isOpen && this.#hasRoom()) {
      const batch = this.#lane.ofRing(hub, this.#position)
      if (batch === 'LEFT') this.#left()
      if (batch === 'LEFT' || batch === null) return
      this.#deliver(batch)
    }
  }

  /** Pages of the store, as far as there is room, and others get their turn between two of them. */
  async #replay(): Promise<void> {
    try {
      // Only an empty socket is read for: what a fuller one cannot take would be read again.
      while (this.#isOpen && this.#isReplaying && this.#sink.buffered() === 0) {
        await this.#replayPage()
        await nextTurn()
      }
    } catch {
      this.close(1011, 'the log could not be read')
    }
  }

  async #replayPage(): Promise<void> {
    const { hub, store } = this.#context
    let page: readonly LogRecord[] = await store.readLog(this.#position, REPLAY_PAGE, this.#chain)
    // Another node may have pruned records this one has not read yet: a client that reconnects gets a reset, and
    // never skips them.
    const { epoch, oldest } = await store.readBounds()
    if (oldest > this.#position + 1) return epoch > epochOf(this.#position) ? this.#reset() : this.#tooSlow()
    if (page.length === 0) {
      // The store had nothing more: from here the ring, which may already be ahead.
      this.#isReplaying = hub.after(this.#position) === null
      if (this.#isReplaying) await this.#skipTo(hub.head)
      this.#isWoken = true
    }
    while (page.length > 0 && this.#isOpen && this.#hasRoom()) {
      const batch = this.#lane.of(page)
      this.#deliver(batch)
      page = page.slice(batch.records)
    }
  }

  /** Other chains' records moved the head past the ring: nothing of ours lies between. */
  async #skipTo(head: Sequence): Promise<void> {
    const missed = await this.#context.store.readLog(this.#position, 1, this.#chain)
    if (missed.length > 0) return
    if (epochOf(head) > epochOf(this.#position)) this.#reset()
    else this.#position = Math.max(this.#position, head)
  }

  #deliver({ bytes, last, lastWanted }: Batch): void {
    if (epochOf(last) !== epochOf(this.#position)) return this.#reset()
    this.#position = last
    if (this.#isReplaying) this.#readOnAtMs = this.#context.clock.monotonicMs()
    if (bytes === null) return
    this.#sent = lastWanted
    if (this.#sink.write(bytes, this.#onWritten)) return
    if (this.#underWay === 0) this.#drainedAtMs = this.#context.clock.monotonicMs()
    this.#underWay += 1
  }

  readonly #onWritten = (): void => {
    this.#underWay -= 1
    this.#drainedAtMs = this.#context.clock.monotonicMs()
    if (this.#isOpen && this.#hasRoom()) this.#pump()
  }

  /** The log was reset (a restore): records already sent may no longer be part of it. */
  #reset(): void {
    if (!this.#isOpen) return
    this.stop()
    this.#sink.reset('INVALID_CURSOR')
    setTimeout(() => this.#sink.destroy(), DESTROY_MS).unref()
  }

  #left(): void {
    if (epochOf(this.#context.hub.head) === epochOf(this.#position)) this.#tooSlow()
    else this.#reset()
  }

  #hasRoom(): boolean {
    return this.#sink.buffered() < (this.#context.maxBuffered ?? MAX_BUFFERED)
  }

  get #slowMs(): number {
    return this.#context.slowMs ?? SLOW_MS
  }

  #watch(): void {
    const { hub, clock } = this.#context
    if (this.#isReplaying && this.#sink.buffered() > 0) {
      if (this.#hasStalled()) this.#tooSlow()
      return
    }
    if (this.#position >= hub.head) return
    if (this.#hasRoom()) this.#pump()
    else if (clock.monotonicMs() - this.#drainedAtMs > this.#slowMs) this.#tooSlow()
    else if (!this.#isReplaying) {
      const next = hub.after(this.#position)
      if (next === null || (next[0] !== undefined && hub.ageMs(next[0].sequence) > this.#slowMs))
        this.#tooSlow()
    }
  }

  /** Not a byte has left for too long, however little is waiting: a small window takes less than any buffer of ours. */
  #hasStalled(): boolean {
    const nowMs = this.#context.clock.monotonicMs()
    const undrained = this.#sink.undrained()
    if (undrained < this.#undrained) this.#drainedAtMs = nowMs
    this.#undrained = undrained
    return nowMs - this.#drainedAtMs > this.#slowMs
  }

  /**
   * The close is sent after everything already queued: a client that reads it has every record up to the one it
   * names.
   */
  #tooSlow(): void {
    this.close(1013, `last_sequence=${this.#sent}`)
  }
}
