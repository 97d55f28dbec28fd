/**
 * How much an endpoint is given: so many calls at once, and after it asked us to slow down so many a second. Both grow a
 * little with every good call and are halved when it is too much. Providers do not say what they bear, and it changes.
 */
import type { Clock } from '../ops/clock.ts'
import { FeedError } from './feedError.ts'

const START = 16
/** A local node answers eth_call in a millisecond; more at once only lengthens its queue. */
export const MOST = 64
/** About what an endpoint answers within one deadline at the widest window. */
const MAX_WAITING = 4096
/** Past this the window alone decides. */
const UNLIMITED_PER_SECOND = 500
/** From one call a second back to a hundred in half a minute. */
const GROWTH_PER_SECOND = 4

export class Flow {
  readonly #name: string
  readonly #clock: Clock
  #window = START
  #inFlight = 0
  readonly #waiting: (() => void)[] = []
  /** Infinite until the endpoint asks us to slow down. */
  #perSecond = Number.POSITIVE_INFINITY
  #nextAtMs = Number.NEGATIVE_INFINITY
  /** When the latest calls began, for the rate that was too high; no more than a second of them counts. */
  #begun: number[] = []
  #isTimerSet = false

  constructor(name: string, clock: Clock) {
    this.#name = name
    this.#clock = clock
  }

  /** Waits for a place; the caller gives it back with `leave`. */
  async enter(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length === 0 && this.#waitMs() === 0) {
      this.#begin()
      return
    }
    if (this.#waiting.length >= MAX_WAITING)
      throw new FeedError('ENDPOINT_BUSY', this.#name, `${MAX_WAITING} calls wait for it already`)
    await new Promise<void>((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(go)
      this.#admit()
    })
  }

  /** Hands the place on to whoever waits longest. */
  leave(): void {
    this.#inFlight--
    this.#admit()
  }

  /** One more at once for a whole window of good calls, some more a second for a second of them. */
  widen(): void {
    this.#window = Math.min(this.#window + 1 / this.#window, MOST)
    this.#perSecond += GROWTH_PER_SECOND / this.#perSecond
    if (this.#perSecond > UNLIMITED_PER_SECOND) this.#perSecond = Number.POSITIVE_INFINITY
  }

  narrow(): void {
    this.#window = Math.max(this.#window / 2, 1)
    const rate = Number.isFinite(this.#perSecond) ? this.#perSecond : this.#recent()
    this.#perSecond = Math.max(rate / 2, 1)
  }

  /** Calls a second it is held to; infinite where only the window counts. */
  get perSecond(): number {
    return this.#perSecond
  }

  #admit(): void {
    while (this.#waiting.length > 0) {
      const waitMs = this.#waitMs()
      if (waitMs === 0) {
        this.#begin()
        this.#waiting.shift()?.()
        continue
      }
      // A full window is followed by a `leave`; time is followed by nothing but time.
      if (waitMs !== Number.POSITIVE_INFINITY && !this.#isTimerSet) {
        this.#isTimerSet = true
        setTimeout(() => {
          this.#isTimerSet = false
          this.#admit()
        }, waitMs).unref()
      }
      return
    }
  }

  /** Milliseconds until another may begin; infinite while the window is full. */
  #waitMs(): number {
    if (this.#inFlight >= Math.floor(this.#window)) return Number.POSITIVE_INFINITY
    if (!Number.isFinite(this.#perSecond)) return 0
    // What fits into the window may begin at once; the rate holds over time.
    const burstMs = (1000 * Math.floor(this.#window)) / this.#perSecond
    return Math.max(0, this.#nextAtMs - burstMs - this.#clock.monotonicMs())
  }

  #begin(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#inFlight++
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs) + 1000 / this.#perSecond
    this.#begun.push(nowMs)
    if (this.#begun.length > UNLIMITED_PER_SECOND) this.#begun = this.#begun.slice(-MOST)
  }

  #recent(): number {
    const sinceMs = this.#clock.monotonicMs() - 1000
    return this.#begun.filter(atMs => atMs >= sinceMs).length
  }
}
