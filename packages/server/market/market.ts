/**
 * What the worker needs of the market: which pools exist, their state at a block, and what tokens and stables report. A
 * pool counts only when a listed factory confirms it.
 */
import type { Family, Input, PoolBalances, UnpricedPool } from '@assay/engine'
import type { BlockRef, VerifiedBlock } from '../feed/feed.ts'
import type { Address, Hex } from '../ops/hex.ts'

type Of<Kind extends Input['kind']> = Extract<Input, { kind: Kind }>
export type PoolEvents = Of<'block'>['block']['events']
export type LoadedPool = Of<'load'>['pools'][number]
export type RecheckedPool = Of<'recheck'>['pools'][number]
export type TokenFacts = Of<'token_facts'>['facts'][number]
export type StableReading = Pick<Of<'stable'>, 'answers' | 'sequencer'>

/**
 * Which contracts log new answers. `isComplete` when every configured feed has an aggregator, whose logs then contain
 * every answer. `others` log events that require a read: the sequencer's feed and its aggregator, and feeds without an
 * aggregator.
 */
export type AnswerSources = {
  /** Aggregators, with the tokens whose feeds they answer. */
  readonly aggregators: ReadonlyMap<Address, readonly Address[]>
  readonly others: ReadonlySet<Address>
  readonly isComplete: boolean
}

/** A pool whose state is to be read. */
export type PoolName = { readonly address: Address; readonly deploymentId: string; readonly family: Family }

/** Known ticks of a pool: while they are correct, reading around them takes one round of calls. */
export type KnownTicks = { readonly at: number; readonly set: readonly number[] }

/** The range of a concentrated pool's price. */
export type TickSpan = { readonly lowest: number; readonly highest: number }

export type PoolIdentity =
  | { readonly kind: 'pool'; readonly pool: LoadedPool['pool'] }
  /** Looks like a pool of an unlisted factory, with its family if we recognise it. */
  | { readonly kind: 'unsupported'; readonly factory: Address; readonly family: string | null }
  | { readonly kind: 'not_a_pool' }

/** The family of a pool whose events count, or `UNTOLD` when it is unknown. */
export type PoolFamily = Family | 'UNTOLD'

export interface Market {
  /**
   * Events of the block's logs: creations by listed factories of pools whose tokens `wants` accepts, and events of
   * pools with a family.
   */
  decode(
    block: VerifiedBlock,
    familyOf: (pool: Address) => PoolFamily | null,
    wants: (token0: Address, token1: Address) => boolean,
  ): PoolEvents
  /** Every pool of the token with a stable or routing asset, over all deployments and fee tiers, by factory look-up. */
  discover(token: Address, block: BlockRef, signal: AbortSignal): Promise<readonly LoadedPool['pool'][]>
  /** The token's pools of recognised but unpriced families, for a token without any other pool. */
  elsewhere(token: Address, block: BlockRef, signal: AbortSignal): Promise<readonly UnpricedPool[]>
  /** Complete state at the block hash. A pool that cannot be read is left out and listed in `failed`. */
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
  /** The balances of each pool in its two tokens; a pool whose tokens do not answer is left out. */
  balances(
    pools: readonly Pick<LoadedPool['pool'], 'address' | 'token0' | 'token1'>[],
    block: BlockRef,
    signal: AbortSignal,
  ): Promise<readonly PoolBalances[]>
  /**
   * Null when there is no token at this address (no code, or no ERC-20 that answers). With the hash of an earlier
   * block, decimals are read there too, and count only when both agree.
   */
  readToken(token: Address, block: BlockRef, signal: AbortSignal, earlier?: Hex): Promise<TokenFacts | null>
  readAnswerSources(block: BlockRef, signal: AbortSignal): Promise<AnswerSources>
  readStables(block: BlockRef, signal: AbortSignal): Promise<StableReading>
  identify(pool: Address, block: BlockRef, signal: AbortSignal): Promise<PoolIdentity>
}
