/**
 * Leader election: which process writes which chain. A process keeps its leases by renewing them, and takes a lease
 * whose holder has not renewed it in time. A process that was suspended may still believe that it holds a lease; the
 * store then refuses its commits.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import type { Lease, LeaseStore, LeaseView } from '../store/cluster.ts'

export type ElectionOptions = {
  readonly leases: LeaseStore
  readonly chainIds: readonly number[]
  /** The name of this process, for logs. */
  readonly owner: string
  readonly clock: Clock
  readonly log: Log
  readonly onWon: (lease: Lease) => void
  /** Resolves once the chain no longer runs in this process. */
  readonly onLost: (lease: Lease) => Promise<void>
}

const BEAT_MS = 1000
/** Four missed renewals: long enough for a database restart, short enough that the chain is back within ten seconds. */
const SILENT_MS = 4000
const POLL_MS = 500
/** How long this process leaves a chain that failed in it to other processes; doubles with each failure. */
const ABSTAIN_MS = { first: 1000, most: 30_000 } as const
/** A chain that ran this long did not fail because of this process. */
const GOOD_TURN_MS = 60_000

type Turn = { readonly lease: Lease; readonly sinceMs: number }
type Seen = { readonly view: LeaseView; readonly sinceMs: number }

export class WriterElection {
  readonly #options: ElectionOptions
  readonly #turns = new Map<number, Turn>()
  readonly #seen = new Map<number, Seen>()
  readonly #abstaining = new Map<number, { readonly untilMs: number; readonly ms: number }>()
  /** Chains that are being stopped: their leases are not taken again until that is done. */
  readonly #leaving = new Map<number, Promise<void>>()
  readonly #abort = new AbortController()
  readonly #loops: readonly Promise<void>[]

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#loops = [this.#every(BEAT_MS, () => this.#beat()), this.#every(POLL_MS, () => this.#look())]
  }

  /** The leases that this process believes it holds. */
  get leases(): readonly Lease[] {
    return [...this.#turns.values()].map(({ lease }) => lease)
  }

  /** Gives a lease up to any other process; this one does not compete for it for a while. */
  async resign(lease: Lease): Promise<void> {
    const { clock, leases } = this.#options
    const turn = this.#turns.get(lease.chainId)
    if (turn?.lease !== lease) return
    const nowMs = clock.monotonicMs()
    const before = nowMs - turn.sinceMs > GOOD_TURN_MS ? undefined : this.#abstaining.get(lease.chainId)
    const ms = before === undefined ? ABSTAIN_MS.first : Math.min(before.ms * 2, ABSTAIN_MS.most)
    this.#abstaining.set(lease.chainId, { untilMs: nowMs + ms, ms })
    await this.#leave(lease, () => leases.leaveLease(lease))
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await Promise.all(this.#loops)
    for (const lease of this.leases) void this.#leave(lease, () => this.#options.leases.leaveLease(lease))
    await Promise.all(this.#leaving.values())
  }

  /** Stops the chain, then frees its lease. Leases of other chains are renewed meanwhile. */
  #leave(lease: Lease, then: () => Promise<void>): Promise<void> {
    this.#turns.delete(lease.chainId)
    const left = this.#options
      .onLost(lease)
      .then(then)
      .catch((failure: unknown) =>
        this.#options.log.warn('a chain was not released cleanly', {
          chain_id: lease.chainId,
          error: String(failure),
        }),
      )
      .finally(() => this.#leaving.delete(lease.chainId))
    this.#leaving.set(lease.chainId, left)
    return left
  }

  async #beat(): Promise<void> {
    const held = this.leases
    if (held.length === 0) return
    const kept = await this.#options.leases.beat(held)
    for (const lease of held) {
      if (kept.some(({ chainId }) => chainId === lease.chainId)) continue
      // Given up by this process meanwhile.
      if (this.#turns.get(lease.chainId)?.lease !== lease) continue
      this.#options.log.warn('another process has taken over a chain', { chain_id: lease.chainId })
      void this.#leave(lease, async () => undefined)
    }
  }

  async #look(): Promise<void> {
    const views = new Map((await this.#options.leases.readLeases()).map(view => [view.chainId, view]))
    await Promise.all(
      this.#options.chainIds
        .filter(chainId => !this.#turns.has(chainId) && !this.#leaving.has(chainId))
        .filter(chainId => this.#isFree(chainId, views.get(chainId)))
        .map(chainId => this.#take(chainId, views.get(chainId) ?? null)),
    )
  }

  #isFree(chainId: number, view: LeaseView | undefined): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    if ((this.#abstaining.get(chainId)?.untilMs ?? 0) > nowMs) return false
    if (view === undefined || view.owner === '') return true
    const seen = this.#seen.get(chainId)
    if (seen?.view.beats === view.beats) return nowMs - seen.sinceMs > SILENT_MS
    this.#seen.set(chainId, { view, sinceMs: nowMs })
    return false
  }

  async #take(chainId: number, seen: LeaseView | null): Promise<void> {
    const { leases, owner, clock, log, onWon } = this.#options
    const lease = await leases.takeLease(chainId, seen, owner)
    if (lease === null) return
    if (this.#abort.signal.aborted) return leases.leaveLease(lease)
    this.#turns.set(chainId, { lease, sinceMs: clock.monotonicMs() })
    log.info('this process writes a chain', { chain_id: chainId, turn: lease.generation })
    onWon(lease)
  }

  /** Retries when the database does not answer; while it is down no renewal is counted for any process. */
  async #every(ms: number, task: () => Promise<void>): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted) {
      await task().catch((failure: unknown) => {
        this.#options.log.warn('leader election failed; trying again', { error: String(failure) })
      })
      await pause(ms, undefined, { signal }).catch(() => undefined)
    }
  }
}
