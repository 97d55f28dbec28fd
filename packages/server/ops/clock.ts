/** Time, injected everywhere: the wall clock for ages and expiry, the monotonic one for limits and timeouts. */
export type Clock = {
  /** Unix milliseconds. */
  nowMs(): number
  /** Milliseconds that never run back; the origin has no meaning. */
  monotonicMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
