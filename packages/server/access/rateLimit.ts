/**
 * GCRA per consumer: a quota of units per window with a burst, exact at every instant, with one number of state. Keys
 * and sessions of a consumer share it. Time is monotonic: a clock step neither blocks a consumer nor frees one.
 */
import type { Clock } from '../ops/clock.ts'

export type Quota = { readonly units: number; readonly windowMs: number; readonly burst: number }

export const DEFAULT_QUOTA: Quota = { units: 600, windowMs: 60_000, burst: 60 }

export type Verdict = {
  readonly allowed: boolean
  /** Units available right now. */
  readonly remaining: number
  /** After a refusal, the time until enough units are free; otherwise the time until the burst is full again. */
  readonly waitMs: number
}

/** Charges requests to a consumer's quota. */
export interface Limiter {
  /** The quota of consumers without one of their own. */
  readonly quota: Quota
  /**
   * Decides from local state only: a refusal may just mean that the store must be consulted. A caller that has just
   * read the monotonic clock passes its value.
   */
  take(consumer: string, cost?: number, quota?: Quota, nowMs?: number): Verdict
  /** The verdict, from memory or from the database. */
  spend(consumer: string, cost?: number, quota?: Quota): Promise<Verdict>
  /** Returns units just spent on a request that was then refused; call at most once per spending. */
  giveBack(consumer: string, units: number, quota?: Quota): void
}

/**
 * When all units spent so far are earned back, at the rate that applied when they were spent: another quota counts the
 * same units.
 */
type Debt = { earnedAtMs: number; unitMs: number }

export class RateLimit implements Limiter {
  readonly quota: Quota
  readonly #clock: Clock
  readonly #debts = new Map<string, Debt>()

  constructor(clock: Clock, quota: Quota = DEFAULT_QUOTA) {
    this.#clock = clock
    this.quota = quota
  }

  /** `quota` is the consumer's own, if an operator set one. */
  take(
    consumer: string,
    cost = 1,
    quota: Quota = this.quota,
    nowMs: number = this.#clock.monotonicMs(),
  ): Verdict {
    const unitMs = quota.windowMs / quota.units
    const burstMs = quota.burst * unitMs
    const debt = this.#debtOf(consumer, unitMs)
    const owedMs = Math.max(debt.earnedAtMs - nowMs, 0) * (unitMs / debt.unitMs)
    const nextMs = owedMs + cost * unitMs
    if (nextMs > burstMs)
      return { allowed: false, remaining: left(burstMs - owedMs, unitMs), waitMs: nextMs - burstMs }
    debt.earnedAtMs = nowMs + nextMs
    debt.unitMs = unitMs
    return { allowed: true, remaining: left(burstMs - nextMs, unitMs), waitMs: nextMs }
  }

  #debtOf(consumer: string, unitMs: number): Debt {
    const known = this.#debts.get(consumer)
    if (known !== undefined) return known
    const debt: Debt = { earnedAtMs: 0, unitMs }
    this.#debts.set(consumer, debt)
    return debt
  }

  async spend(consumer: string, cost = 1, quota: Quota = this.quota): Promise<Verdict> {
    return this.take(consumer, cost, quota)
  }

  giveBack(consumer: string, units: number): void {
    const debt = this.#debts.get(consumer)
    if (debt !== undefined) debt.earnedAtMs -= units * debt.unitMs
  }
}

const left = (restMs: number, unitMs: number): number => Math.floor(restMs / unitMs)
