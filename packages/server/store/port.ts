/**
 * What the service needs of a store. One transaction per step contains the chain's position, the engine's entities,
 * current prices, pool events and the appended stream records. Nothing is visible before it is durable, and everything
 * that is published is read from the store.
 *
 * Bodies are wire JSON text, serialised once. A sequence is below 2^53 and global over chains; epoch n starts at n ×
 * 2^40. Every read of several things at once comes from one read transaction.
 */
import type { QuoteJson } from '@assay/engine'
import type { CandleStore } from './candles.ts'
import type { Unsealed } from './envelope.ts'
import type { HistoryStore } from './history.ts'
import type { OperatorStore } from './operator.ts'
import type { AuditRow, LogRecord, Sequence, TokenFacts, TokenRow } from './rows.ts'
import type { WebhookStore } from './webhooks.ts'
import type { WithdrawalStore } from './withdrawals.ts'

export type { AuditRow, LogRecord, RecordDraft, Sequence, TokenFacts, TokenRow } from './rows.ts'

/** The result of one engine step, made durable as a whole or not at all. */
export type StepCommit = {
  readonly chainId: number
  /** The engine's step number; the stored one must be exactly one less, otherwise the commit conflicts. */
  readonly step: number
  readonly tip: { readonly number: number; readonly hash: string; readonly timeMs: number } | null
  /** The tip hash the stored position must have, null before the first block. */
  readonly previousTipHash: string | null
  readonly atMs: number
  /** In the order of their sequences. */
  readonly records: readonly Unsealed[]
  /** Engine entities as text; null deletes. */
  readonly entities: readonly { readonly key: string; readonly text: string | null }[]
  /** Pools and tokens for the snapshot, without prices: those follow from the records. */
  readonly pools: readonly PoolFacts[]
  readonly removedPools: readonly string[]
  readonly tokens: readonly TokenFacts[]
  readonly events: readonly PoolEventDraft[]
  /** Blocks orphaned by this step: their events are marked. */
  readonly orphanedBlocks: readonly string[]
  /** Events of blocks up to this number are marked finalized. */
  readonly finalizedNumber: number | null
  /** The input that caused this step, if it did not come from the chain; stored with it. */
  readonly input: string | null
}

export type PoolFacts = {
  readonly poolAddress: string
  readonly family: string
  readonly deploymentId: string
  readonly feePpm: number
  readonly token0: string
  readonly token1: string
  readonly createdBlock: number | null
}

export type PoolEventDraft = {
  readonly poolAddress: string
  readonly kind: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly logIndex: number
  /** Wire JSON of the values without a field above; the store adds `finality`. */
  readonly body: string
}

export type Committed = {
  readonly outcome: 'committed' | 'already'
  readonly first: Sequence | null
  readonly last: Sequence
}
/** The stored position is not the one this step builds on: there is another writer, or a bug. */
export type Conflict = {
  readonly outcome: 'conflict'
  readonly storedStep: number
  readonly storedTipHash: string | null
}

export type Checkpoint = {
  readonly step: number
  readonly tip: StepCommit['tip']
  readonly entities: readonly (readonly [key: string, text: string])[]
}

export type LogBounds = { readonly epoch: number; readonly oldest: Sequence; readonly head: Sequence }

/** A row of the pool snapshot; `state` is the wire state, null before the first record. */
export type PoolRow = PoolFacts & {
  readonly chainId: number
  readonly state: string | null
  readonly sequence: Sequence | null
  readonly prices: { readonly token0: string | null; readonly token1: string | null }
}
export type QuoteRow = {
  readonly sequence: Sequence
  /** The compact state of the same record, as in its token's row. */
  readonly price: string
  readonly quote: QuoteJson
  /** Length of `quote` in UTF-8, which a database knows without counting. */
  readonly bytes: number
}
export type EventRow = PoolEventDraft & {
  readonly chainId: number
  readonly finality: 'canonical' | 'finalized' | 'orphaned'
}

export type ChainStore = {
  readCheckpoint(chainId: number): Promise<Checkpoint | null>
  commit(commit: StepCommit): Promise<Committed | Conflict>
}

export type LogStore = {
  readBounds(): Promise<LogBounds>
  /** Records with a sequence above `after`, ascending, at most `limit`; chain null means all. */
  readLog(after: Sequence, limit: number, chainId: number | null): Promise<readonly LogRecord[]>
}

/** Read from the engine's entities as of the last commit. */
export type Verified = {
  /** JSON of the chain's ranges of proven blocks; null before its first block. */
  readonly proven: string | null
  readonly pools: readonly {
    readonly poolAddress: string
    readonly verifiedMs: number
    readonly verifiedNumber: number
    /** Since when its events are followed and stored without a gap; null in a text that does not contain it. */
    readonly followedSinceMs: number | null
    /** Null when its creation was not observed. */
    readonly createdMs: number | null
  }[]
}

export type SnapshotStore = {
  readPools(query: {
    chainId: number | null
    tokenAddress: string | null
    after: { chainId: number; poolAddress: string } | null
    limit: number
  }): Promise<{ readonly pools: readonly PoolRow[]; readonly snapshotSequence: Sequence }>
  readPool(chainId: number, poolAddress: string): Promise<PoolRow | null>
  readEvents(query: {
    chainId: number
    poolAddress: string
    kind: string | null
    fromBlock: number | null
    toBlock: number | null
    before: { blockNumber: number; logIndex: number; blockHash: string } | null
    limit: number
  }): Promise<readonly EventRow[]>
  readTokens(query: { chainId: number; after: string | null; limit: number }): Promise<readonly TokenRow[]>
  readToken(chainId: number, tokenAddress: string): Promise<TokenRow | null>
  /** The full quote of the token's last record; null if it has none. */
  readQuote(chainId: number, tokenAddress: string): Promise<QuoteRow | null>
  /** Tokens and pools with this address, over all chains. */
  search(
    address: string,
  ): Promise<{ readonly tokens: readonly TokenRow[]; readonly pools: readonly PoolRow[] }>
  /** Tokens of any chain whose symbol or name contains the text, ignoring case, deepest first. */
  searchTokens(text: string, limit: number): Promise<readonly TokenRow[]>
  /**
   * Microdollars that move the pools of each token by 2%, summed over its pools; null when no pool has a known depth.
   */
  readDepths(chainId: number, tokens: readonly string[]): Promise<readonly (string | null)[]>
  /** When each of these pools was last verified, and the ranges of proven blocks that have covered them since. */
  readVerified(chainId: number, pools: readonly string[]): Promise<Verified>
  /** The latest FEED_HEALTH payload of a chain. */
  readHealth(chainId: number): Promise<string | null>
}

export type KeyRow = {
  readonly keyId: string
  readonly consumer: string
  readonly name: string
  readonly secretHash: Uint8Array
  readonly scopes: readonly string[]
  readonly createdAtMs: number
  readonly expiresAtMs: number | null
  readonly revokedAtMs: number | null
}
export type SessionRow = {
  readonly idHash: Uint8Array
  readonly keyId: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly lastUsedAtMs: number
}

export type AccessStore = {
  insertKey(key: KeyRow): Promise<void>
  readKey(keyId: string): Promise<KeyRow | null>
  /** Zeros for an unknown id, so that a wrong id takes as long and reveals as little as a wrong secret. */
  readSecretHash(keyId: string): Promise<Uint8Array>
  listKeys(): Promise<readonly KeyRow[]>
  revokeKey(keyId: string, atMs: number): Promise<boolean>
  insertSession(session: SessionRow): Promise<void>
  readSession(idHash: Uint8Array): Promise<SessionRow | null>
  touchSession(idHash: Uint8Array, atMs: number): Promise<void>
  deleteSession(idHash: Uint8Array): Promise<boolean>
  countSessions(consumer: string, atMs: number): Promise<number>
  /** Ends the consumer's least recently used session. */
  retireSession(consumer: string): Promise<void>
  audit(row: AuditRow): Promise<void>
  /** A secret of the database itself (cursor signing), made on first use. */
  readSecret(name: string): Promise<Uint8Array>
}

export type Store = ChainStore &
  LogStore &
  SnapshotStore &
  HistoryStore &
  WithdrawalStore &
  CandleStore &
  AccessStore &
  OperatorStore &
  WebhookStore & { close(): Promise<void> }
