/**
 * What the market needs of a pool family: its logs, how its factory returns pools, and how to read a pool at a block.
 * One implementation per family; nothing outside its folder knows its topics, selectors or word layouts.
 */
import type { AmmEvent, Family, LoadedPool, NewPool, PoolEvent } from '@assay/engine'
import type { LogEntry } from '../feed/answers/entry.ts'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { DeploymentConfig } from '../config/config.ts'
import type { Address, Hex } from '../ops/hex.ts'
import type { KnownTicks, TickSpan } from './market.ts'

/** Reads at one block, scheduled for the present caller. */
export type Reader = { readonly rpc: ChainRpc; readonly block: BlockRef; readonly signal: AbortSignal }

/** The two tokens of a pool; the first has the lower address. */
export type Pair = readonly [Address, Address]

export type PoolLog = { readonly pool: Address; readonly event: PoolEvent['event'] }

export type ConfigOf<F extends Family> = Extract<DeploymentConfig, { readonly family: F }>

/** Values that a log's topics may have, by position; null for any. */
export type TopicFilter = readonly (readonly Hex[] | null)[]

/** One contract holds all pools of a deployment and emits their logs; the second topic is the id of the pool. */
export type Holder<F extends Family> = {
  /** The topics of a creation of a pool whose tokens are both among these. */
  creationsOf(deployment: ConfigOf<F>, tokens: readonly Address[]): TopicFilter
}

export interface MarketFamily<F extends Family> {
  /** Signatures by topic, of logs of its pools and its factory. Tests derive the topics independently. */
  readonly signatures: Readonly<Record<Hex, string>>
  /** The topics that announce a new pool. */
  readonly creations: readonly Hex[]
  /** Decoders of logs of a pool's own address, by topic. */
  readonly logs: ReadonlyMap<string, (log: LogEntry) => AmmEvent>
  /**
   * Decodes a log of a deployment's factory: a new pool whose tokens are wanted and whose address follows from its
   * factory or, where one contract holds all pools, an event of one that is known. The log of a creation may be both.
   */
  factoryLog(
    log: LogEntry,
    deployment: ConfigOf<F>,
    wants: (token0: Address, token1: Address) => boolean,
    isKnown: (pool: Address) => boolean,
  ): readonly PoolLog[]
  /** Null where every pool is a contract with logs of its own. */
  readonly holder: Holder<F> | null
  /** The address of a pool of the pair at a fee; null when the init code hash is unknown. */
  derived(deployment: ConfigOf<F>, pair: Pair, feePpm: bigint): Address | null
  /** All pools of the pair that the factory returns, over every fee or spacing it supports. */
  find(reader: Reader, deployment: ConfigOf<F>, pair: Pair): Promise<readonly NewPool[]>
  /** The pool `pool` of the pair, if the factory confirms it. */
  identify(reader: Reader, deployment: ConfigOf<F>, pair: Pair, pool: Address): Promise<NewPool | null>
  /** Reads the complete state. A RangeError when the contract's answer does not have the form of such a pool. */
  load(
    reader: Reader,
    deployment: ConfigOf<F> | undefined,
    pool: NewPool,
    known: KnownTicks | undefined,
    span: TickSpan | undefined,
  ): Promise<Pick<LoadedPool, 'state' | 'ticks' | 'tradedByMs'>>
  /** Reads the state without ticks. */
  readState(reader: Reader, deployment: ConfigOf<F> | undefined, pool: Address): Promise<LoadedPool['state']>
}
