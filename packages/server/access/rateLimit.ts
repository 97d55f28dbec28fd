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

/** What a request is charged to. */
export interface Limiter {
  /** Of consumers without one of their own. */
  readonly quota: Quota
  /**
   * Of what is known here and now: a refusal may only mean that somebody else has to be asked. Who has just read the
   * monotonic clock says what it read.
   */
  take(consumer: string, cost?: number, quota?: Quota, nowMs?: number): Verdict
  /** The verdict, from memory or from the database. */
  spend(consumer: string, cost?: number, quota?: Quota): Promise<Verdict>
  /** Units spent a moment ago on what was then refused; nobody may give them back twice. */
  giveBack(consumer: string, units: number, quota?: Quota): void
}

/** When all units spent so far are earned back, at the pace they were spent at: another quota counts the same units. */
type Debt = { earnedAtMs: number; unitMs: number }

export class RateLimit implements Limiter {
  readonly quota: Quota
  readonly #clock: Clock
  readonly #debts = new Map<string, Debt>()

  constructor(clock: Clock, quota: Quota = DEFAULT_QUOTA) {
    this.#clock = clock
    this.quota = quota
  }

  /** `quota` is the consumer's own, where an operator gave it one. */
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
