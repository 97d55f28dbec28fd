/**
 * Writes what a back-fill found in transactions so short that no chain's commit waits long behind one. How much
 * fits into one depends on the disk and on what else is written, so each goes by how long the last one took.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../ops/clock.ts'
import type { BackfillCommit, BackfillPosition, BackfillStore } from '../../store/backfill.ts'
import type { PoolEventDraft } from '../../store/port.ts'
import { StoreError } from '../../store/storeError.ts'

/** The longest a transaction should hold the database. */
export const TRANSACTION_MS = 20
/**
 * The pause between two transactions. SQLite's lock is polled every few milliseconds, so a writer that releases
 * and retakes it at once starves the others.
 */
const GIVE_WAY_MS = 4
/** Between two tries of a store that may take it later, as when its disk is full. */
const PATIENCE_MS = { first: 500, most: 10_000 } as const
/** Rows of a transaction. */
export const BATCH = { first: 200, least: 20, most: 5000 } as const

export type BackfillWriterOptions = {
  readonly chainId: number
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>
  readonly store: Pick<BackfillStore, 'writeBackfill'>
  /** Left out, a few milliseconds. */
  readonly giveWay?: () => Promise<void>
  /** Ends a wait for the store. */
  readonly signal?: AbortSignal
  /** What it waits for; null when it goes on. */
  readonly onWaiting?: (reason: string | null) => void
}

export class BackfillWriter {
  readonly #options: BackfillWriterOptions
  readonly #giveWay: () => Promise<void>
  #batch: number = BATCH.first

  constructor(options: BackfillWriterOptions) {
    this.#options = options
    this.#giveWay = options.giveWay ?? (() => pause(GIVE_WAY_MS))
  }

  /** The position moves with the last transaction: one that was cut short is done again, and twice is once. */
  async writeEvents(
    events: readonly PoolEventDraft[],
    before: BackfillPosition,
    after: BackfillPosition,
  ): Promise<void> {
    let written = 0
    do {
      if (written > 0) await this.#giveWay()
      const batch = events.slice(written, written + this.#rowsOf(events.length - written))
      written += batch.length
      await this.#commit(batch, [], written >= events.length ? after : before)
    } while (written < events.length)
  }

  async writePools(found: readonly string[], position: BackfillPosition): Promise<void> {
    for (let written = 0; written < found.length; ) {
      if (written > 0) await this.#giveWay()
      const batch = found.slice(written, written + this.#rowsOf(found.length - written))
      written += batch.length
      await this.#commit([], batch, position)
    }
  }

  /** So many of those that are left. A small rest goes along: a transaction of its own costs a sync and a wait. */
  #rowsOf(left: number): number {
    return left <= this.#batch + (this.#batch >> 2) ? left : this.#batch
  }

  async #commit(
    events: readonly PoolEventDraft[],
    foundPools: readonly string[],
    position: BackfillPosition,
  ): Promise<void> {
    const { chainId, clock } = this.#options
    const startedMs = clock.monotonicMs()
    await this.#write({ chainId, atMs: clock.nowMs(), events, foundPools, position })
    const tookMs = clock.monotonicMs() - startedMs
    const isFull = events.length + foundPools.length >= this.#batch
    if (tookMs > TRANSACTION_MS) this.#batch = Math.max(BATCH.least, this.#batch >> 1)
    else if (isFull && tookMs < TRANSACTION_MS / 2)
      this.#batch = Math.min(BATCH.most, this.#batch + (this.#batch >> 2))
  }

  /** What the store may take later is kept in hand until it does: twice is once, so a lost answer does no harm. */
  async #write(commit: BackfillCommit): Promise<void> {
    const { store, signal, onWaiting } = this.#options
    for (let waitMs: number = PATIENCE_MS.first; ; waitMs = Math.min(waitMs * 2, PATIENCE_MS.most)) {
      try {
        await store.writeBackfill(commit)
        if (waitMs > PATIENCE_MS.first) onWaiting?.(null)
        return
      } catch (failure) {
        if (!(failure instanceof StoreError) || !failure.retryable) throw failure
        onWaiting?.(failure.message)
        await pause(waitMs, undefined, signal === undefined ? {} : { signal })
      }
    }
  }
}
