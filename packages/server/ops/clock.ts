/** Time, injected everywhere: the wall clock for ages and expiry, the monotonic one for limits and timeouts. */
export type Clock = {
  /** Unix milliseconds. */
  nowMs(): number
  /** Milliseconds that never run back; the origin means nothing. */
  monotonicMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
