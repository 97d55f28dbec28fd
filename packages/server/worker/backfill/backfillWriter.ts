/**
 * Writes the results of a back-fill in transactions so short that no chain's commit waits long for one. How much fits
 * into a transaction depends on the disk and on other writers, so each is sized by the duration of the last.
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
/** Pause between attempts when the store may accept the write later, for example when the disk is full. */
const PATIENCE_MS = { first: 500, most: 10_000 } as const
/** Rows per transaction. */
export const BATCH = { first: 200, least: 20, most: 5000 } as const

export type BackfillWriterOptions = {
  readonly chainId: number
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>
  readonly store: Pick<BackfillStore, 'writeBackfill'>
  /** Pauses between transactions; left out, for a few milliseconds. */
  readonly giveWay?: () => Promise<void>
  /** Aborts waiting for the store. */
  readonly signal?: AbortSignal
  /** Receives the reason for waiting, or null when writing continues. */
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

  /**
   * The position moves with the last transaction. An interrupted write is repeated in full; writing an event twice has
   * no effect.
   */
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

  /** Rows of the next transaction. A small rest is included: a transaction of its own would cost a sync and a wait. */
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

  /** Retries until the store accepts the commit. Repeating a commit has no effect, so a lost answer does no harm. */
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
