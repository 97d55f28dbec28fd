/**
 * The opt-in full scan of a chain's past: pools from the logs of factories, and pool events from proven blocks. It runs
 * beside the engine, which never needs an old swap.
 *
 * Its position is stored together with the events up to it, so a scan that was killed resumes there. Transactions are
 * kept short, because live commits wait for them.
 */
import { type Input, isFamily } from '@assay/engine'
import { pause } from '../../feed/conditionVariable.ts'
import { BackfillRange } from '../../feed/history/backfillRange.ts'
import type { EndpointSet } from '../../feed/endpoints/endpointSet.ts'
import type { VerifiedBlock } from '../../feed/feed.ts'
import { type FeedErrorCode, isFeedError } from '../../feed/feedError.ts'
import {
  finalizedNumber,
  type HistoryPart,
  type HistoryQuery,
  readHistory,
} from '../../feed/history/history.ts'
import type { LogFilter } from '../../feed/history/logFilter.ts'
import { decodeBlock } from '../../market/decode.ts'
import { HELD_TOPICS, isHeldByOne, marketOf, OWN_CREATIONS, OWN_TOPICS } from '../../market/families.ts'
import type { PoolFamily } from '../../market/market.ts'
import type { Clock } from '../../ops/clock.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Address, Hex } from '../../ops/hex.ts'
import type { BackfillPosition, BackfillStore } from '../../store/backfill.ts'
import type { SnapshotStore } from '../../store/port.ts'
import { engineBlock } from '../engineBlock.ts'
import { BackfillWriter } from './backfillWriter.ts'
import { poolEventDrafts } from '../poolEvents.ts'

export type BackfillProgress = {
  readonly chain_id: number
  readonly from_block: number
  readonly to_block: number
  readonly next_block: number
  readonly events: number
  readonly pools_found: number
  readonly range_blocks: number
  readonly blocks_per_s: number
  /** Null until there is a rate to estimate it from. */
  readonly eta_s: number | null
  /** Why it is waiting: a full disk, or no reachable endpoint; null while it runs. */
  readonly waiting: string | null
  readonly done: boolean
}

export type BackfillOptions = {
  readonly chain: ChainConfig
  readonly endpoints: EndpointSet
  readonly store: BackfillStore & Pick<SnapshotStore, 'readPools' | 'readTokens'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Left out, the first deployment block. Only for a new scan: an interrupted one keeps its own bounds. */
  readonly fromBlock?: number
  /** Left out, the finalized block; never beyond it. */
  readonly toBlock?: number
  readonly onProgress?: (progress: BackfillProgress) => void
}

const PAGE = 1000
/** Characters of `0x` and 20 bytes. */
const ADDRESS_LENGTH = 42
/** Blocks per segment: pool creations of a segment are read before its events. */
const SEGMENT = 50_000
/** No endpoint is reachable, which says nothing about the past: the scan waits, with growing pauses. */
const AWAY = [
  'NO_ENDPOINT',
  'ENDPOINT_UNREACHABLE',
  'ENDPOINT_TIMEOUT',
  'ENDPOINT_BUSY',
  'ENDPOINT_LIMITED',
] as const satisfies readonly FeedErrorCode[]
const PATIENCE_MS = { first: 1000, most: 30_000 } as const

export async function runBackfill(options: BackfillOptions): Promise<BackfillProgress> {
  return new Backfill(options, await positionOf(options)).run()
}

/** The stored position of an interrupted scan, or the start of a new one. */
async function positionOf(options: BackfillOptions): Promise<BackfillPosition> {
  const { chain, clock, endpoints, signal, store } = options
  const stored = await store.readBackfill(chain.chainId)
  if (stored !== null && stored.nextBlock <= stored.toBlock) return stored
  const final = await finalizedNumber(chain, endpoints, signal)
  const first = Math.min(...chain.deployments.map(({ deploymentBlock }) => deploymentBlock ?? 0))
  const fromBlock = options.fromBlock ?? (Number.isFinite(first) ? first : 0)
  return {
    fromBlock,
    toBlock: Math.min(options.toBlock ?? final, final),
    nextBlock: fromBlock,
    events: 0,
    startedAtMs: clock.nowMs(),
  }
}

class Backfill {
  readonly #options: BackfillOptions
  readonly #known = new Map<Address, PoolFamily>()
  readonly #wanted = new Set<Address>()
  readonly #anchors: ReadonlySet<Address>
  /** One range for creations, which are few, and one for all events. */
  readonly #ranges = { creations: new BackfillRange(), events: new BackfillRange() }
  readonly #writer: BackfillWriter
  readonly #startedMs: number
  readonly #firstBlock: number
  #position: BackfillPosition
  #poolsFound = 0
  #rangeBlocks = 0
  #waiting: string | null = null

  constructor(options: BackfillOptions, position: BackfillPosition) {
    const { chain, clock, signal, store } = options
    this.#options = options
    this.#writer = new BackfillWriter({
      chainId: chain.chainId,
      clock,
      store,
      signal,
      onWaiting: reason => this.#waitsFor(reason),
    })
    this.#position = position
    this.#firstBlock = position.nextBlock
    this.#startedMs = clock.monotonicMs()
    this.#anchors = new Set([
      ...chain.stables.map(({ tokenAddress }) => tokenAddress),
      ...chain.routingAssets,
    ])
  }

  async run(): Promise<BackfillProgress> {
    await this.#readKnown()
    const { signal } = this.#options
    let waitMs: number = PATIENCE_MS.first
    while (this.#position.nextBlock <= this.#position.toBlock) {
      const { nextBlock } = this.#position
      try {
        await this.#scan()
      } catch (failure) {
        if (signal.aborted || !isFeedError(failure, ...AWAY)) throw failure
        if (this.#position.nextBlock > nextBlock) waitMs = PATIENCE_MS.first
        this.#waitsFor(failure.message)
        await pause(waitMs, signal)
        signal.throwIfAborted()
        waitMs = Math.min(waitMs * 2, PATIENCE_MS.most)
      }
    }
    return this.#progress()
  }

  /** Scans the next stretch. */
  async #scan(): Promise<void> {
    const { nextBlock: from, toBlock } = this.#position
    const to = Math.min(toBlock, from + SEGMENT - 1)
    await this.#discover(from, to)
    await this.#gather(from, to)
  }

  #waitsFor(reason: string | null): void {
    this.#waiting = reason
    this.#options.onProgress?.(this.#progress())
  }

  /** Reads the creations of a stretch first: the filter for its events must contain every pool created in it. */
  async #discover(from: number, to: number): Promise<void> {
    const filters = [...this.#own([], OWN_CREATIONS), ...this.#heldCreations()]
    for await (const part of this.#history({ from, to, filters }, this.#ranges.creations)) {
      const found: string[] = []
      for (const block of part.blocks)
        for (const { event, pool, family } of this.#decoded(block).events)
          if (event.kind === 'CREATED' && !this.#known.has(pool)) {
            this.#known.set(pool, family)
            found.push(pool)
          }
      this.#poolsFound += found.length
      await this.#writer.writePools(found, this.#position)
    }
  }

  async #gather(from: number, to: number): Promise<void> {
    const filters = [...this.#own(this.#pools(false), OWN_TOPICS), ...this.#heldEvents()]
    for await (const part of this.#history({ from, to, filters }, this.#ranges.events)) {
      this.#rangeBlocks = part.rangeSize
      await this.#write(part.blocks, part.to + 1)
      this.#waitsFor(null)
    }
  }

  /** Logs of factories, and of pools that are contracts of their own. */
  #own(pools: readonly Address[], topics: readonly Hex[]): readonly LogFilter[] {
    const factories = this.#options.chain.deployments.filter(({ family }) => !isHeldByOne(family))
    const addresses = [...factories.map(({ factoryAddress }) => factoryAddress), ...pools]
    return addresses.length === 0 ? [] : [{ addresses, topics: [topics] }]
  }

  /** Creations of pools in contracts that hold many: only those of tokens that are wanted. */
  #heldCreations(): readonly LogFilter[] {
    return this.#options.chain.deployments.flatMap(deployment => {
      const topics = marketOf(deployment.family).holder?.creationsOf(deployment, [...this.#wanted])
      return topics === undefined ? [] : [{ addresses: [deployment.factoryAddress], topics }]
    })
  }

  /** Logs of the contracts that hold many pools: only those of pools that are known. */
  #heldEvents(): readonly LogFilter[] {
    const ids = this.#pools(true)
    const holders = this.#options.chain.deployments.filter(({ family }) => isHeldByOne(family))
    // No values at all would match every log.
    if (ids.length === 0 || holders.length === 0) return []
    return [{ addresses: holders.map(({ factoryAddress }) => factoryAddress), topics: [HELD_TOPICS, ids] }]
  }

  /** Known pools that are contracts of their own, or those held by another. */
  #pools(areHeld: boolean): readonly Address[] {
    return [...this.#known.keys()].filter(pool => pool.length > ADDRESS_LENGTH === areHeld)
  }

  async *#history(query: HistoryQuery, range: BackfillRange): AsyncGenerator<HistoryPart> {
    const { endpoints, signal } = this.#options
    for await (const part of readHistory(endpoints, query, range, signal)) {
      signal.throwIfAborted()
      yield part
    }
  }

  /** Pools and tokens the service knows by now, and those of the configuration. */
  async #readKnown(): Promise<void> {
    const { chain, store } = this.#options
    const { chainId } = chain
    for (const pool of [...chain.pools, ...(await store.readFoundPools(chainId))])
      this.#known.set(pool as Address, 'UNTOLD')
    for (let after: string | null = null; ; ) {
      const { pools } = await store.readPools({
        chainId,
        tokenAddress: null,
        after: after === null ? null : { chainId, poolAddress: after },
        limit: PAGE,
      })
      for (const { poolAddress, family } of pools)
        this.#known.set(poolAddress as Address, isFamily(family) ? family : 'UNTOLD')
      after = pools.at(-1)?.poolAddress ?? null
      if (after === null || pools.length < PAGE) break
    }
    for (const token of [...this.#anchors, ...chain.tokens]) this.#wanted.add(token)
    for (let after: string | null = null; ; ) {
      const tokens = await store.readTokens({ chainId, after, limit: PAGE })
      for (const { tokenAddress, enrolledAtMs } of tokens)
        if (enrolledAtMs !== null) this.#wanted.add(tokenAddress as Address)
      after = tokens.at(-1)?.tokenAddress ?? null
      if (after === null || tokens.length < PAGE) break
    }
  }

  async #write(blocks: readonly VerifiedBlock[], nextBlock: number): Promise<void> {
    const drafts = blocks.flatMap(block =>
      poolEventDrafts(this.#decoded(block), pool => this.#known.has(pool)),
    )
    const before = this.#position
    const after = { ...before, nextBlock, events: before.events + drafts.length }
    await this.#writer.writeEvents(drafts, before, after)
    this.#position = after
  }

  #decoded(block: VerifiedBlock): Extract<Input, { kind: 'block' }>['block'] {
    const events = decodeBlock(
      this.#options.chain.deployments,
      block,
      pool => this.#known.get(pool) ?? null,
      (token0, token1) =>
        (this.#anchors.has(token0) || this.#anchors.has(token1)) &&
        this.#wanted.has(token0) &&
        this.#wanted.has(token1),
    )
    return engineBlock(block, events)
  }

  #progress(): BackfillProgress {
    const { chain, clock } = this.#options
    const { fromBlock, toBlock, nextBlock, events } = this.#position
    const seconds = Math.max(0.001, (clock.monotonicMs() - this.#startedMs) / 1000)
    const rate = (nextBlock - this.#firstBlock) / seconds
    const left = Math.max(0, toBlock - nextBlock + 1)
    return {
      chain_id: chain.chainId,
      from_block: fromBlock,
      to_block: toBlock,
      next_block: nextBlock,
      events,
      pools_found: this.#poolsFound,
      range_blocks: this.#rangeBlocks,
      blocks_per_s: Math.round(rate * 10) / 10,
      eta_s: left === 0 ? 0 : rate === 0 ? null : Math.ceil(left / rate),
      waiting: this.#waiting,
      done: left === 0,
    }
  }
}
