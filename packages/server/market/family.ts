/**
 * What the market asks of a pool family: its logs, the way its factory names pools, and how a pool is read at a block.
 * One implementation per family; nothing outside its folder knows a topic, a selector or a layout of words of it.
 */
import type { AmmEvent, Family, LoadedPool, NewPool, PoolEvent } from '@assay/engine'
import type { LogEntry } from '../feed/answers/entry.ts'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { Address, DeploymentConfig, Hex } from '../ops/config.ts'
import type { KnownTicks, TickSpan } from './market.ts'

/** Reads at one block, in the turn of the present caller. */
export type Reader = { readonly rpc: ChainRpc; readonly block: BlockRef; readonly signal: AbortSignal }

/** The two tokens of a pool; the first has the lower address. */
export type Pair = readonly [Address, Address]

export type PoolLog = { readonly pool: Address; readonly event: PoolEvent['event'] }

export type ConfigOf<F extends Family> = Extract<DeploymentConfig, { readonly family: F }>

export interface MarketFamily<F extends Family> {
  /** Signatures by topic: of its pools' logs and of its factory's. Tests derive the topics independently. */
  readonly signatures: Readonly<Record<Hex, string>>
  /** The topics among them that tell of a new pool. */
  readonly creations: readonly Hex[]
  /** What logs of a pool's own address say, by topic. */
  readonly logs: ReadonlyMap<string, (log: LogEntry) => AmmEvent>
  /**
   * A log of a deployment's factory: a new pool whose tokens are wanted, where its address follows from its factory; or,
   * where one contract holds all pools, what happened to one of them. The log of a creation may say both.
   */
  factoryLog(
    log: LogEntry,
    deployment: ConfigOf<F>,
    wants: (token0: Address, token1: Address) => boolean,
  ): readonly PoolLog[]
  /** The address that follows for a pool of the pair at a fee; null where the init code hash is not known. */
  derived(deployment: ConfigOf<F>, pair: Pair, feePpm: bigint): Address | null
  /** All pools of the pair that the factory names, at every place it may have one. */
  find(reader: Reader, deployment: ConfigOf<F>, pair: Pair): Promise<readonly NewPool[]>
  /** The pool of the pair that calls itself `pool`, by the factory's own word. */
  identify(reader: Reader, deployment: ConfigOf<F>, pair: Pair, pool: Address): Promise<NewPool | null>
  /** Complete state. A RangeError when the contract's answer is not what such a pool answers. */
  load(
    reader: Reader,
    deployment: ConfigOf<F> | undefined,
    pool: NewPool,
    known: KnownTicks | undefined,
    span: TickSpan | undefined,
  ): Promise<Pick<LoadedPool, 'state' | 'ticks' | 'tradedByMs'>>
  /** Its state without its ticks. */
  readState(reader: Reader, deployment: ConfigOf<F> | undefined, pool: Address): Promise<LoadedPool['state']>
}
