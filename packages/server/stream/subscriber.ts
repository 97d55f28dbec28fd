/**
 * One subscriber: a position in the log and at most 256 KiB in its socket. It replays from the store, then follows the
 * ring; no record is sent twice and none is skipped. A consumer that cannot keep up is closed, with its position in the
 * close frame.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ResetReason } from '@assay/sdk/wire'
import type { Clock } from '../ops/clock.ts'
import { epochOf } from '../store/epoch.ts'
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import type { Batch, Batches, Lane } from './batches.ts'
import type { Subscription } from './filter.ts'
import type { Hub } from './hub.ts'
import { SlowClient } from './slowClient.ts'

/** Bytes that may wait in a socket. */
const MAX_BUFFERED = 256 * 1024
/**
 * About as much as a socket accepts: records that do not fit are read again, and each page takes two reads of the
 * store.
 */
const REPLAY_PAGE = 200
const CHECK_MS = 250
/**
 * A close frame queues behind the backlog: five seconds after it was due, however late that was noticed, the socket is
 * destroyed.
 */
const DESTROY_MS = 4500

/** Where records go: the socket behind a WebSocket, or the body of an event stream. */
export type Sink = {
  /**
   * True when these bytes have already left the process; otherwise `done` is called once they have, never before this
   * returns.
   */
  write(bytes: Buffer, done: () => void): boolean
  /** Bytes that have not left the process. */
  buffered(): number
  /** A measure of them that falls with every byte, even in the middle of a write. */
  undrained(): number
  /** Sends the reason, then ends; buffered records go first. */
  close(code: number, reason: string): void
  /** Reports that its position no longer exists, then ends. */
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
  readonly #slow: SlowClient
  readonly #unlisten: () => void
  readonly #check: NodeJS.Timeout
  /** All records up to here have been examined, and the wanted ones written to the socket. */
  #position: Sequence
  /** The last record written to the socket. */
  #sent: Sequence
  /** Writes that are still in progress. */
  #underWay = 0
  #isReplaying: boolean
  #isPumping = false
  #isWoken = false
  #isOpen = true
  /** When the replay last made progress. */
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
    this.#slow = new SlowClient(() => sink.undrained(), context.clock, context.slowMs)
    this.#readOnAtMs = context.clock.monotonicMs()
    this.#unlisten = context.hub.listen(this)
    this.#check = setInterval(() => this.#watch(), CHECK_MS)
    this.#check.unref()
    this.#pump()
  }

  get isReplaying(): boolean {
    return this.#isReplaying && this.#isOpen
  }

  /**
   * The position of its replay. Null once the replay has stalled for long enough to be ended, so that retention stops
   * waiting for it.
   */
  get replayed(): Sequence | null {
    const isStalled = this.#slow.isTooLong(this.#context.clock.monotonicMs() - this.#readOnAtMs)
    return this.isReplaying && !isStalled ? this.#position : null
  }

  get subscription(): Subscription {
    return this.#lane.subscription
  }

  /** There may be new records. */
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

  /** Ends the loop without losing a wake-up that arrives meanwhile. */
  #rest(): void {
    this.#isPumping = false
    if (this.#isWoken && this.#isOpen) this.#pump()
  }

  /** Sends from the ring, as far as there is room. */
  #follow(): void {
    const { hub } = this.#context
    while (this.#isOpen && this.#hasRoom()) {
      const batch = this.#lane.ofRing(hub, this.#position)
      if (batch === 'LEFT') this.#left()
      if (batch === 'LEFT' || batch === null) return
      this.#deliver(batch)
    }
  }

  /** Sends pages of the store, as far as there is room, and yields between two of them. */
  async #replay(): Promise<void> {
    try {
      // Reads only for an empty socket: records that a fuller one cannot accept would be read again.
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
    // Another node may have pruned records that this one has not read: a client that reconnects gets a reset, and never
    // skips them.
    const { epoch, oldest } = await store.readBounds()
    if (oldest > this.#position + 1) return epoch > epochOf(this.#position) ? this.#reset() : this.#tooSlow()
    if (page.length === 0) {
      // The store had nothing more: continue with the ring, which may already be ahead.
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

  /** Records of other chains moved the head past the ring: there are none of ours in between. */
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
    if (this.#underWay === 0) this.#slow.restart()
    this.#underWay += 1
  }

  readonly #onWritten = (): void => {
    this.#underWay -= 1
    this.#slow.restart()
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

  #watch(): void {
    if (this.#isReplaying && this.#sink.buffered() > 0) {
      if (this.#slow.hasTakenNothing()) this.#tooSlow()
      return
    }
    if (this.#position >= this.#context.hub.head) return
    if (this.#hasRoom()) this.#pump()
    else if (this.#slow.hasFinishedNothing() || (!this.#isReplaying && this.#isOldestTooOld()))
      this.#tooSlow()
  }

  /** Whether the oldest live record that could not be sent is too old, or no longer in the ring. */
  #isOldestTooOld(): boolean {
    const { hub } = this.#context
    const next = hub.after(this.#position)
    return next === null || (next[0] !== undefined && this.#slow.isTooLong(hub.ageMs(next[0].sequence)))
  }

  /**
   * The close frame follows everything already queued: a client that reads it has every record up to the one it names.
   */
  #tooSlow(): void {
    this.close(1013, `last_sequence=${this.#sent}`)
  }
}
