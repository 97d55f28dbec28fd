/**
 * GCRA per consumer: a quota of units per window with a burst, exact at every instant, one number of state.
 * Keys and sessions of a consumer share it. Time is monotonic: a clock step neither locks out nor lets in.
 */
import type { Clock } from '../ops/clock.ts'

export type Quota = { readonly units: number; readonly windowMs: number; readonly burst: number }

export const DEFAULT_QUOTA: Quota = { units: 600, windowMs: 60_000, burst: 60 }

export type Verdict = {
  readonly allowed: boolean
  /** Units that could be spent right now. */
  readonly remaining: number
  /** Until the next unit is free, when refused; until the burst is full again, when allowed. */
  readonly waitMs: number
}

export class RateLimit {
  readonly quota: Quota
  readonly #clock: Clock
  /** Per consumer: when all units spent so far are earned back. */
  readonly #earnedAtMs = new Map<string, number>()

  constructor(clock: Clock, quota: Quota = DEFAULT_QUOTA) {
    this.#clock = clock
    this.quota = quota
  }

  /** `quota` is the consumer's own, where an operator gave it one. */
  take(consumer: string, cost = 1, quota: Quota = this.quota): Verdict {
    const nowMs = this.#clock.monotonicMs()
    const perUnitMs = quota.windowMs / quota.units
    const burstMs = quota.burst * perUnitMs
    const earnedAtMs = Math.max(this.#earnedAtMs.get(consumer) ?? 0, nowMs)
    const nextMs = earnedAtMs + cost * perUnitMs
    if (nextMs - nowMs > burstMs)
      return { allowed: false, remaining: left(quota, earnedAtMs, nowMs), waitMs: nextMs - nowMs - burstMs }
    this.#earnedAtMs.set(consumer, nextMs)
    return { allowed: true, remaining: left(quota, nextMs, nowMs), waitMs: nextMs - nowMs }
  }
}

function left({ units, windowMs, burst }: Quota, earnedAtMs: number, nowMs: number): number {
  const perUnitMs = windowMs / units
  return Math.floor((burst * perUnitMs - (earnedAtMs - nowMs)) / perUnitMs)
}
