/**
 * Throttles failed credentials per address: ten a minute, then 429. It never refuses a valid key, because it runs only
 * after a credential has failed. IPv6 counts by /64, the size of one subscriber's network.
 */
import type { Clock } from '../ops/clock.ts'
import { networkOf } from './clientAddress.ts'
import { RateLimit } from './rateLimit.ts'

const FAILURES = 10
/** Addresses kept; beyond this the oldest are dropped. */
const MAX_ADDRESSES = 100_000

export class FailureThrottle {
  #limit: RateLimit
  readonly #clock: Clock
  #seen = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#limit = this.#fresh()
  }

  /** Counts a failure. Null: answer it as a failed credential. Otherwise there were too many: wait this long. */
  fail(address: string): number | null {
    if (++this.#seen > MAX_ADDRESSES) {
      this.#seen = 0
      this.#limit = this.#fresh()
    }
    const verdict = this.#limit.take(networkOf(address))
    return verdict.allowed ? null : verdict.waitMs
  }

  #fresh(): RateLimit {
    return new RateLimit(this.#clock, { units: FAILURES, windowMs: 60_000, burst: FAILURES })
  }
}
