/** What a back-fill needs of a store: how far it is, and pool events of old blocks, beside the steps of the engine. */
import type { PoolEventDraft } from './port.ts'

export type BackfillPosition = {
  readonly fromBlock: number
  /** Final when the back-fill began. */
  readonly toBlock: number
  /** Everything below is done; past `toBlock` all of it is. */
  readonly nextBlock: number
  readonly events: number
  readonly startedAtMs: number
}

export type BackfillCommit = {
  readonly chainId: number
  readonly atMs: number
  /** Of final blocks. The same event twice is one. */
  readonly events: readonly PoolEventDraft[]
  /** Pools a listed factory created, to be loaded by the chain's worker. */
  readonly foundPools: readonly string[]
  readonly position: BackfillPosition
}

export type BackfillStore = {
  readBackfill(chainId: number): Promise<BackfillPosition | null>
  writeBackfill(commit: BackfillCommit): Promise<void>
  /** Pools that back-fills found and nobody has loaded: those not among the known ones. */
  readFoundPools(chainId: number): Promise<readonly string[]>
}
