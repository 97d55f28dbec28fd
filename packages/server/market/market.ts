/**
 * What the worker asks of the market: which pools there are, what they hold at a block, what tokens and
 * stables say of themselves. A pool counts only when a listed factory answers for it.
 */
import type { Family, Input, PoolBalances, UnpricedPool } from '@assay/engine'
import type { BlockRef, VerifiedBlock } from '../feed/feed.ts'
import type { Address, Hex } from '../ops/config.ts'

type Of<Kind extends Input['kind']> = Extract<Input, { kind: Kind }>
export type PoolEvents = Of<'block'>['block']['events']
export type LoadedPool = Of<'load'>['pools'][number]
export type RecheckedPool = Of<'recheck'>['pools'][number]
export type TokenFacts = Of<'token_facts'>['facts'][number]
export type StableReading = Pick<Of<'stable'>, 'answers' | 'sequencer'>

/**
 * Which contracts log new answers. `isComplete` when every configured feed has an aggregator, whose logs then have every
 * answer. `others` log what has to be read: the sequencer's feed and its aggregator, and feeds without an aggregator.
 */
export type AnswerSources = {
  /** With the tokens whose feeds they answer. */
  readonly aggregators: ReadonlyMap<Address, readonly Address[]>
  readonly others: ReadonlySet<Address>
  readonly isComplete: boolean
}

/** Whose state is to be read. */
export type PoolName = { readonly address: Address; readonly deploymentId: string; readonly family: Family }

/** What we know of a pool: reading around it takes one round of calls while it is true. */
export type KnownTicks = { readonly at: number; readonly set: readonly number[] }

/** Where the price of a concentrated pool has been. */
export type TickSpan = { readonly lowest: number; readonly highest: number }

export type PoolIdentity =
  | { readonly kind: 'pool'; readonly pool: LoadedPool['pool'] }
  /** Looks like a pool of a factory we do not list; its family where that is known by name. */
  | { readonly kind: 'unsupported'; readonly factory: Address; readonly family: string | null }
  | { readonly kind: 'not_a_pool' }

/** A pool that events count of: its family, or that nobody noted it. */
export type PoolFamily = Family | 'UNTOLD'

export interface Market {
  /** Events of the block's logs: creations by listed factories whose tokens `wants`, and events of pools with a family. */
  decode(
    block: VerifiedBlock,
    familyOf: (pool: Address) => PoolFamily | null,
    wants: (token0: Address, token1: Address) => boolean,
  ): PoolEvents
  /** Every pool of the token with a stable or routing asset, over all deployments and fee tiers, by factory look-up. */
  discover(token: Address, block: BlockRef, signal: AbortSignal): Promise<readonly LoadedPool['pool'][]>
  /** Its pools of families that are known by name and not priced: for a token without another. */
  elsewhere(token: Address, block: BlockRef, signal: AbortSignal): Promise<readonly UnpricedPool[]>
  /** Complete state at the block hash. A pool that cannot be read is left out and named in `failed`. */
  load(
    pools: readonly LoadedPool['pool'][],
    block: BlockRef,
    signal: AbortSignal,
    known?: ReadonlyMap<Address, KnownTicks>,
    spans?: ReadonlyMap<Address, TickSpan>,
  ): Promise<{
    readonly loaded: readonly LoadedPool[]
    readonly failed: readonly { readonly pool: Address; readonly reason: string }[]
  }>
  recheck(pools: readonly PoolName[], block: BlockRef, signal: AbortSignal): Promise<readonly RecheckedPool[]>
  /** What each pool has of its two tokens; one whose tokens do not say is left out. */
  balances(
    pools: readonly Pick<LoadedPool['pool'], 'address' | 'token0' | 'token1'>[],
    block: BlockRef,
    signal: AbortSignal,
  ): Promise<readonly PoolBalances[]>
  /**
   * Null when there is no token at this address (no code, or no ERC-20 that answers). With the hash of an earlier block
   * decimals are read there too, and count only when both say the same.
   */
  readToken(token: Address, block: BlockRef, signal: AbortSignal, earlier?: Hex): Promise<TokenFacts | null>
  readAnswerSources(block: BlockRef, signal: AbortSignal): Promise<AnswerSources>
  readStables(block: BlockRef, signal: AbortSignal): Promise<StableReading>
  identify(pool: Address, block: BlockRef, signal: AbortSignal): Promise<PoolIdentity>
}
