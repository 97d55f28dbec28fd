/**
 * How many second tries a chain's endpoints are asked for: so many at once, and then so many a second. When every provider
 * fails at the same time, retries would otherwise multiply what they already cannot bear. It fills up by itself.
 */
import type { Clock } from '../../ops/clock.ts'

/** A burst of blocks that one endpoint refuses, and the calls of a pool's loading, fit in. */
const MOST = 256
const PER_SECOND = 32

export class RetryBudget {
  readonly #clock: Clock
  #left = MOST
  #atMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#atMs = clock.monotonicMs()
  }

  /** Takes one; false when there is none. */
  spend(): boolean {
    const nowMs = this.#clock.monotonicMs()
    this.#left = Math.min(MOST, this.#left + ((nowMs - this.#atMs) * PER_SECOND) / 1000)
    this.#atMs = nowMs
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
