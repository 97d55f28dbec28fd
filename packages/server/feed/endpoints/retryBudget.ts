/**
 * A budget of retries for a chain's endpoints: an initial amount, refilled at a fixed rate. When every provider fails
 * at the same time, retries would otherwise multiply a load they already cannot take.
 */
import type { Clock } from '../../ops/clock.ts'

/** Enough for a burst of blocks that one endpoint refuses, and for the calls that load a pool. */
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

  /** Takes one; false when the budget is empty. */
  spend(): boolean {
    const nowMs = this.#clock.monotonicMs()
    this.#left = Math.min(MOST, this.#left + ((nowMs - this.#atMs) * PER_SECOND) / 1000)
    this.#atMs = nowMs
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
