/**
 * How much load an endpoint gets: a window of concurrent calls and, after it asked us to slow down, a rate. Both grow a
 * little with every successful call and shrink on overload. Providers do not publish what they can take, and it
 * changes.
 *
 * Waiting calls are admitted by purpose, blocks first, then by time. Calls that can wait never take the last quarter of
 * the window, so a block always finds a place.
 */
import type { Clock } from '../../ops/clock.ts'
import { FeedError } from '../feedError.ts'
import { type Purpose, RANK } from './purpose.ts'

const START = 16
/** A local node answers eth_call in a millisecond; more concurrent calls only lengthen its queue. */
export const MOST = 64
/** About as many as an endpoint answers within one deadline at the widest window. */
const MAX_WAITING = 4096
/** Above this rate the window alone decides. */
const UNLIMITED_PER_SECOND = 500
/** Recovers from one call a second to a hundred in half a minute. */
const GROWTH_PER_SECOND = 4
/** Growth close to the last refused rate: it is reached once in several seconds, and a lifted limit is found. */
const CAREFUL_GROWTH_PER_SECOND = 0.2
const CAREFUL_SHARE = 0.9
/** A refusal this old says nothing about the current limit. */
const CEILING_MS = 5 * 60_000
/**
 * Share of the refused rate to keep: half of the rate we happened to send, then three quarters of the rate we enforced.
 */
const [FIRST_CUT, CUT] = [0.5, 0.75]
/** Refusals this close together count as one, because their calls were in flight together. */
const SAME_REFUSAL_MS = 1000
/** Pause after a refusal, so that the provider's counting window can move on. */
const LEAST_PAUSE_MS = 250
/** Burst allowed under a rate limit, in seconds of that rate: providers count over about a second. */
const BURST_S = 0.25
/** Share of the window reserved for calls that cannot wait. */
const RESERVED_SHARE = 0.25
/** Calls of this rank and above can wait. */
const PATIENT_RANK = RANK.state

type Waiter = { readonly calls: number; readonly go: () => void }

export class LoadLimit {
  readonly #name: string
  readonly #clock: Clock
  #window = START
  #inFlight = 0
  /** One queue per rank, in order of time. */
  readonly #waiting: Waiter[][] = [[], [], [], []]
  #waitingCount = 0
  /** Infinite until the endpoint asks us to slow down. */
  #perSecond = Number.POSITIVE_INFINITY
  /** The rate that was last refused. */
  #ceiling = Number.POSITIVE_INFINITY
  #refusedAtMs = Number.NEGATIVE_INFINITY
  #nextAtMs = Number.NEGATIVE_INFINITY
  /** Start times of the latest calls, at most a second's worth, to compute the rate that was refused. */
  #begun: number[] = []
  #isTimerSet = false

  constructor(name: string, clock: Clock) {
    this.#name = name
    this.#clock = clock
  }

  /** Waits for a place; the caller releases it with `leave`. A batch takes one place and counts each of its calls. */
  async enter(signal: AbortSignal, purpose: Purpose = 'state', calls = 1): Promise<void> {
    signal.throwIfAborted()
    const rank = RANK[purpose]
    const isFirst = this.#waiting.every((queue, at) => at > rank || queue.length === 0)
    if (isFirst && this.#waitMs(rank) === 0) {
      this.#begin(calls)
      return
    }
    if (this.#waitingCount >= MAX_WAITING)
      throw new FeedError('ENDPOINT_BUSY', this.#name, `${MAX_WAITING} calls are already waiting for it`)
    const queue = this.#waiting[rank] as Waiter[]
    await new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        calls,
        go: () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      const onAbort = (): void => {
        queue.splice(queue.indexOf(waiter), 1)
        this.#waitingCount--
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      queue.push(waiter)
      this.#waitingCount++
      this.#admit()
    })
  }

  /** Passes the place to the first caller in the queue. */
  leave(): void {
    this.#inFlight--
    this.#admit()
  }

  /** Allows one more concurrent call per window of successful calls, and a higher rate per second of them. */
  widen(calls = 1): void {
    this.#window = Math.min(this.#window + 1 / this.#window, MOST)
    if (!Number.isFinite(this.#perSecond)) return
    if (this.#clock.monotonicMs() - this.#refusedAtMs > CEILING_MS) this.#ceiling = Number.POSITIVE_INFINITY
    const isNear = this.#perSecond >= CAREFUL_SHARE * this.#ceiling
    const growth = isNear ? CAREFUL_GROWTH_PER_SECOND : GROWTH_PER_SECOND
    this.#perSecond += (growth * calls) / this.#perSecond
    if (this.#perSecond > UNLIMITED_PER_SECOND) this.#perSecond = Number.POSITIVE_INFINITY
  }

  /** The endpoint is overloaded: fewer concurrent calls. */
  narrow(): void {
    this.#window = Math.max(this.#window / 2, 1)
  }

  /** The endpoint asked us to slow down: a lower rate, and no calls for as long as it says. */
  limited(waitMs = 0): void {
    const nowMs = this.#clock.monotonicMs()
    const isSame = nowMs - this.#refusedAtMs < SAME_REFUSAL_MS
    if (!isSame) {
      const isHeld = Number.isFinite(this.#perSecond)
      this.#ceiling = isHeld ? this.#perSecond : this.#recent()
      this.#perSecond = Math.max(this.#ceiling * (isHeld ? CUT : FIRST_CUT), 1)
      this.#refusedAtMs = nowMs
    }
    this.#hold(Math.max(waitMs, LEAST_PAUSE_MS, 1000 / this.#perSecond), nowMs)
  }

  /** The enforced rate in calls per second; infinite when only the window limits. */
  get perSecond(): number {
    return this.#perSecond
  }

  #admit(): void {
    while (this.#waitingCount > 0) {
      const rank = this.#waiting.findIndex(queue => queue.length > 0)
      const waitMs = this.#waitMs(rank)
      if (waitMs === 0) {
        const waiter = this.#waiting[rank]?.shift() as Waiter
        this.#waitingCount--
        this.#begin(waiter.calls)
        waiter.go()
        continue
      }
      // A full window wakes the queue through `leave`; a rate limit needs a timer.
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

  /** Milliseconds until another call of this rank may start; infinite while the window is full. */
  #waitMs(rank: number): number {
    const window = Math.floor(this.#window)
    const reserved = rank < PATIENT_RANK ? 0 : Math.floor(window * RESERVED_SHARE)
    if (this.#inFlight >= window - reserved) return Number.POSITIVE_INFINITY
    if (!Number.isFinite(this.#perSecond)) return 0
    return Math.max(0, this.#nextAtMs - this.#burstMs() - this.#clock.monotonicMs())
  }

  #hold(waitMs: number, nowMs: number): void {
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs + waitMs + this.#burstMs())
  }

  /** How far calls may run ahead of their rate. */
  #burstMs(): number {
    const calls = Math.max(1, Math.min(this.#perSecond * BURST_S, this.#window))
    return Number.isFinite(this.#perSecond) ? (1000 * (calls - 1)) / this.#perSecond : 0
  }

  #begin(calls: number): void {
    const nowMs = this.#clock.monotonicMs()
    this.#inFlight++
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs) + (1000 * calls) / this.#perSecond
    for (let n = 0; n < calls; n++) this.#begun.push(nowMs)
    if (this.#begun.length > 2 * UNLIMITED_PER_SECOND) this.#begun = this.#begun.slice(-UNLIMITED_PER_SECOND)
  }

  #recent(): number {
    const sinceMs = this.#clock.monotonicMs() - 1000
    return Math.max(1, this.#begun.filter(atMs => atMs >= sinceMs).length)
  }
}
