/**
 * The quota of consumers that may use any of several nodes. Units are taken from the store before they are spent, a few
 * at a time; a node returns what it has not spent within a second. So over any period, all nodes together allow what
 * one node would, plus at most a second's worth of units.
 */
import type { Clock } from '../ops/clock.ts'
import type { Grant, SpendingStore } from '../store/cluster.ts'
import { DEFAULT_QUOTA, type Limiter, type Quota, type Verdict } from './rateLimit.ts'

/** How long a node may keep unspent units. */
const HOLD_MS = 1000
const SWEEP_MS = 250
/**
 * Taken in advance: what the consumer earns in this time, so that a fast one does not need the store for every request.
 */
const AHEAD_MS = 100

type Account = {
  units: number
  heldSinceMs: number
  /** Value of one unit when these were taken. */
  unitMs: number
  /** Units left for all nodes at the last read of the store. */
  rest: number
  waitMs: number
  /** Until then the store has fewer than `refused` units. */
  refusedUntilMs: number
  refused: number
  /** Units requested from the store and not received yet. */
  wanted: number
  asking: Promise<void> | null
}

export class SharedLimit implements Limiter {
  readonly quota: Quota
  readonly #store: SpendingStore
  readonly #clock: Clock
  readonly #accounts = new Map<string, Account>()
  readonly #timer: NodeJS.Timeout

  constructor(store: SpendingStore, clock: Clock, quota: Quota = DEFAULT_QUOTA) {
    this.#store = store
    this.#clock = clock
    this.quota = quota
    this.#timer = setInterval(() => void this.#sweep(HOLD_MS), SWEEP_MS)
    this.#timer.unref()
  }

  /** Spends from the local units. */
  take(consumer: string, cost = 1): Verdict {
    const nowMs = this.#clock.monotonicMs()
    const account = this.#accounts.get(consumer)
    if (account === undefined) return { allowed: false, remaining: 0, waitMs: 0 }
    const units = nowMs - account.heldSinceMs > HOLD_MS ? 0 : account.units
    if (units >= cost) {
      account.units -= cost
      return { allowed: true, remaining: account.rest + account.units, waitMs: account.waitMs }
    }
    const waitMs = cost >= account.refused ? Math.max(0, account.refusedUntilMs - nowMs) : 0
    return { allowed: false, remaining: units + account.rest, waitMs }
  }

  async spend(consumer: string, cost = 1, quota: Quota = this.quota): Promise<Verdict> {
    for (;;) {
      const verdict = this.take(consumer, cost)
      // Other nodes can only have spent more since the store refused.
      if (verdict.allowed || verdict.waitMs > 0) return verdict
      await this.#fetch(consumer, cost, quota)
    }
  }

  /** Puts the units back; unspent ones return to the store like all others. */
  giveBack(consumer: string, units: number, quota: Quota = this.quota): void {
    const account = this.#account(consumer)
    if (account.units === 0) account.heldSinceMs = this.#clock.monotonicMs()
    account.units += units
    account.unitMs = quota.windowMs / quota.units
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#sweep(0)
  }

  /** However many requests wait for units of a consumer, one caller at a time reads the store for all of them. */
  async #fetch(consumer: string, cost: number, quota: Quota): Promise<void> {
    const account = this.#account(consumer)
    account.wanted += cost
    while (account.asking !== null) {
      await account.asking
      // The units received may be enough; if not, the caller asks again.
      if (account.wanted === 0) return
    }
    const want = account.wanted + Math.floor((quota.units * AHEAD_MS) / quota.windowMs)
    account.wanted = 0
    const unitMs = quota.windowMs / quota.units
    account.asking = this.#store
      .takeUnits(consumer, cost, want, { unitMs, burstMs: quota.burst * unitMs })
      .then(grant => this.#note(consumer, account, cost, unitMs, grant))
      .finally(() => {
        account.asking = null
      })
    await account.asking
  }

  #note(
    consumer: string,
    account: Account,
    cost: number,
    unitMs: number,
    { granted, waitMs, rest }: Grant,
  ): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - account.heldSinceMs > HOLD_MS) void this.#giveBack(consumer, account)
    account.rest = rest
    account.waitMs = waitMs
    if (granted === 0) {
      account.refused = cost
      account.refusedUntilMs = nowMs + waitMs
      return
    }
    account.refusedUntilMs = 0
    if (account.units === 0) account.heldSinceMs = nowMs
    account.units += granted
    account.unitMs = unitMs
  }

  #account(consumer: string): Account {
    const known = this.#accounts.get(consumer)
    if (known !== undefined) return known
    const account: Account = {
      units: 0,
      heldSinceMs: 0,
      unitMs: 0,
      rest: 0,
      waitMs: 0,
      refusedUntilMs: 0,
      refused: 0,
      wanted: 0,
      asking: null,
    }
    this.#accounts.set(consumer, account)
    return account
  }

  /** Returns units held for too long, and drops consumers without any. */
  async #sweep(holdMs: number): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    const returned: Promise<void>[] = []
    for (const [consumer, account] of this.#accounts) {
      if (nowMs - account.heldSinceMs >= holdMs) returned.push(this.#giveBack(consumer, account))
      if (account.units === 0 && account.asking === null && account.refusedUntilMs < nowMs)
        this.#accounts.delete(consumer)
    }
    await Promise.all(returned)
  }

  async #giveBack(consumer: string, account: Account): Promise<void> {
    const { units, unitMs } = account
    if (units === 0) return
    account.units = 0
    // Units lost with the connection are lost to the consumer, but never granted twice.
    await this.#store.returnUnits(consumer, units * unitMs).catch(() => undefined)
  }
}
