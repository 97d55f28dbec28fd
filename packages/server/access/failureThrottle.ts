/**
 * Failed credentials per address: ten a minute, then 429. It never refuses a valid key: it is asked only after a
 * credential has failed. IPv6 counts by /64, which is what one subscriber has.
 */
import { isIPv6 } from 'node:net'
import type { Clock } from '../ops/clock.ts'
import { RateLimit } from './rateLimit.ts'

const FAILURES = 10
/** Addresses remembered at most; beyond that the oldest are forgotten. */
const MAX_ADDRESSES = 100_000

export class FailureThrottle {
  #limit: RateLimit
  readonly #clock: Clock
  #seen = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#limit = this.#fresh()
  }

  /** Counts a failure. Null: answer it as a failure. Otherwise: too many, wait this long. */
  fail(address: string): number | null {
    if (++this.#seen > MAX_ADDRESSES) {
      this.#seen = 0
      this.#limit = this.#fresh()
    }
    const verdict = this.#limit.take(prefixOf(address))
    return verdict.allowed ? null : verdict.waitMs
  }

  #fresh(): RateLimit {
    return new RateLimit(this.#clock, { units: FAILURES, windowMs: 60_000, burst: FAILURES })
  }
}

function prefixOf(given: string): string {
  // A socket that listens on both families writes IPv4 like this; all of them would share one /64.
  const address = given.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups =
    tail === undefined
      ? left
      : [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return groups.slice(0, 4).join(':')
}
