/**
 * The open streams, WebSocket and server-sent events: how many connections a consumer has, and how fast new ones
 * are admitted. After an outage all clients reconnect at once; beyond a burst each gets a different retry time, so
 * that replays never starve the feed.
 */
import type { Clock } from '../ops/clock.ts'
import type { Sequence } from '../store/port.ts'

export type RosterOptions = {
  /** Open connections over all consumers. */
  readonly most?: number
  /** New connections admitted at once, and the number added each second. */
  readonly burst?: number
  readonly perSecond?: number
}

const MOST = 2000
const BURST = 400
const PER_SECOND = 200
/** Rejected clients return spread over this much time. */
const SPREAD_MS = 4000

/** The position of a replay; null while it makes no progress. */
type Replaying = { readonly isReplaying: boolean; readonly replayed: Sequence | null }

export class Roster {
  readonly #clock: Clock
  readonly #most: number
  readonly #burst: number
  readonly #perSecond: number
  readonly #byConsumer = new Map<string, number>()
  /** Running replays, and until the next check those that have finished. */
  readonly #replays = new Set<Replaying>()
  #open = 0
  #room: number
  #atMs: number

  constructor(clock: Clock, { most = MOST, burst = BURST, perSecond = PER_SECOND }: RosterOptions = {}) {
    this.#clock = clock
    this.#most = most
    this.#burst = burst
    this.#perSecond = perSecond
    this.#room = burst
    this.#atMs = clock.monotonicMs()
  }

  get size(): number {
    return this.#open
  }

  countOf(consumer: string): number {
    return this.#byConsumer.get(consumer) ?? 0
  }

  /** Number of streams by consumer. */
  get streams(): ReadonlyMap<string, number> {
    return this.#byConsumer
  }

  /** Whether a consumer limited to `most` streams may open another; call right before `enter`. */
  async hasRoom(_consumer: string, _most: number): Promise<boolean> {
    // There is no other node, and `countOf` is exact when the stream enters.
    return true
  }

  /** Null to admit the connection. Otherwise how long the client should wait. */
  admit(): number | null {
    const nowMs = this.#clock.monotonicMs()
    this.#room = Math.min(this.#burst, this.#room + ((nowMs - this.#atMs) * this.#perSecond) / 1000)
    this.#atMs = nowMs
    if (this.#open >= this.#most || this.#room < 1) return 1000 + Math.random() * SPREAD_MS
    this.#room -= 1
    return null
  }

  /** Records the replay has not read yet must be kept. */
  note(subscriber: Replaying): void {
    if (subscriber.isReplaying) this.#replays.add(subscriber)
  }

  /** The position of the slowest replay that makes progress; null when there is none. */
  replayed(): Sequence | null {
    let least: Sequence | null = null
    for (const subscriber of this.#replays) {
      if (!subscriber.isReplaying) this.#replays.delete(subscriber)
      const { replayed } = subscriber
      if (replayed !== null && (least === null || replayed < least)) least = replayed
    }
    return least
  }

  /** Counts a stream; the returned function removes it, once. */
  enter(consumer: string): () => void {
    this.#open += 1
    this.#byConsumer.set(consumer, this.countOf(consumer) + 1)
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      this.#open -= 1
      const left = this.countOf(consumer) - 1
      if (left > 0) this.#byConsumer.set(consumer, left)
      else this.#byConsumer.delete(consumer)
    }
  }
}
