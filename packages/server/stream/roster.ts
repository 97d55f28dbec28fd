/**
 * The open streams, WebSocket and server-sent events: how many connections a consumer has, and how fast new ones
 * are admitted. After an outage all clients reconnect at once; beyond a burst each gets a different retry time, so
 * that replays never starve the feed.
 */
import type { Clock } from '../ops/clock.ts'
import type { Sequence } from '../store/port.ts'

export type RosterOptions = {
  /** Connections open at once, of everyone together. */
  readonly most?: number
  /** New connections let in at once, and how many more each second. */
  readonly burst?: number
  readonly perSecond?: number
}

const MOST = 2000
const BURST = 400
const PER_SECOND = 200
/** Those turned away come back over this much time. */
const SPREAD_MS = 4000

/** How far a replay has read; null while it does not get on. */
type Replaying = { readonly isReplaying: boolean; readonly replayed: Sequence | null }

export class Roster {
  readonly #clock: Clock
  readonly #most: number
  readonly #burst: number
  readonly #perSecond: number
  readonly #byConsumer = new Map<string, number>()
  /** Those that replay, and until the next look those that have done so. */
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

  /** Of each consumer that has any. */
  get streams(): ReadonlyMap<string, number> {
    return this.#byConsumer
  }

  /** Whether a consumer that may have `most` streams may open another; asked right before it enters. */
  async hasRoom(_consumer: string, _most: number): Promise<boolean> {
    // There is no other node to ask, and `countOf` is right at the moment somebody enters.
    return true
  }

  /** Null: come in. Otherwise how long to stay away. */
  admit(): number | null {
    const nowMs = this.#clock.monotonicMs()
    this.#room = Math.min(this.#burst, this.#room + ((nowMs - this.#atMs) * this.#perSecond) / 1000)
    this.#atMs = nowMs
    if (this.#open >= this.#most || this.#room < 1) return 1000 + Math.random() * SPREAD_MS
    this.#room -= 1
    return null
  }

  /** What it has not read yet is to be kept. */
  note(subscriber: Replaying): void {
    if (subscriber.isReplaying) this.#replays.add(subscriber)
  }

  /** How far the slowest of the replays that get on has read; null when there is none. */
  replayed(): Sequence | null {
    let least: Sequence | null = null
    for (const subscriber of this.#replays) {
      if (!subscriber.isReplaying) this.#replays.delete(subscriber)
      const { replayed } = subscriber
      if (replayed !== null && (least === null || replayed < least)) least = replayed
    }
    return least
  }

  /** Counts one in; the returned function counts it out, once. */
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
