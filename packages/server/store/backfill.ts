/**
 * What a back-fill needs of a store: its progress, and pool events of old blocks, written beside the steps of the
 * engine.
 */
import type { PoolEventDraft } from './port.ts'

export type BackfillPosition = {
  readonly fromBlock: number
  /** The final block when the back-fill began. */
  readonly toBlock: number
  /** All blocks below are done; past `toBlock` the back-fill is complete. */
  readonly nextBlock: number
  readonly events: number
  readonly startedAtMs: number
}

export type BackfillCommit = {
  readonly chainId: number
  readonly atMs: number
  /** Events of final blocks. Writing the same event twice has no effect. */
  readonly events: readonly PoolEventDraft[]
  /** Pools created by a listed factory, to be loaded by the chain's worker. */
  readonly foundPools: readonly string[]
  readonly position: BackfillPosition
}

export type BackfillStore = {
  readBackfill(chainId: number): Promise<BackfillPosition | null>
  writeBackfill(commit: BackfillCommit): Promise<void>
  /** Pools that back-fills found and that are not loaded: those not among the known ones. */
  readFoundPools(chainId: number): Promise<readonly string[]>
}
