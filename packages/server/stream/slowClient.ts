/**
 * When a client is too slow to be served. During a replay: no byte has left its socket for ten seconds. Behind live
 * records: its socket has not finished a write for ten seconds, or the oldest record it lacks is that old.
 */
import type { Clock } from '../ops/clock.ts'

const SLOW_MS = 10_000

export class SlowClient {
  readonly #clock: Clock
  readonly #slowMs: number
  readonly #undrained: () => number
  /** What the socket had not accepted when it was last measured. */
  #lastUndrained = 0
  /** When bytes last left a socket that had not accepted everything. */
  #drainedAtMs: number

  /** `undrained`: what the socket has not accepted yet, a measure that falls with every byte. */
  constructor(undrained: () => number, clock: Clock, slowMs = SLOW_MS) {
    this.#undrained = undrained
    this.#clock = clock
    this.#slowMs = slowMs
    this.#drainedAtMs = clock.monotonicMs()
  }

  /** A write is complete, or the first one waits: the time starts again. */
  restart(): void {
    this.#drainedAtMs = this.#clock.monotonicMs()
  }

  isTooLong(ms: number): boolean {
    return ms > this.#slowMs
  }

  /** Whether no write was completed for too long. */
  hasFinishedNothing(): boolean {
    return this.isTooLong(this.#clock.monotonicMs() - this.#drainedAtMs)
  }

  /**
   * Whether no byte has left for too long, however few are waiting: a small receive window accepts less than any
   * buffer of ours.
   */
  hasTakenNothing(): boolean {
    const undrained = this.#undrained()
    if (undrained < this.#lastUndrained) this.restart()
    this.#lastUndrained = undrained
    return this.hasFinishedNothing()
  }
}
