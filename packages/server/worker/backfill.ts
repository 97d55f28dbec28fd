/**
 * The opt-in full scan of a chain's past: pools from the factories' own logs, and events of pools from blocks that
 * proved themselves. It stands beside the engine, which never needs an old swap.
 *
 * Its position is stored with the events it stands for, so a killed one goes on where it was. A transaction is kept
 * short, for live commits wait while it runs.
 */
import { count, type Input, ms } from '@assay/engine'
import type { EndpointSet } from '../feed/endpointSet.ts'
import type { VerifiedBlock } from '../feed/feed.ts'
import { finalizedNumber, type HistoryPart, type HistoryQuery, readHistory } from '../feed/history.ts'
import { TOPIC } from '../market/abi.ts'
import { decodeBlock } from '../market/decode.ts'
import type { Clock } from '../ops/clock.ts'
import type { Address, ChainConfig } from '../ops/config.ts'
import type { BackfillPosition, BackfillStore } from '../store/backfill.ts'
import type { PoolEventDraft, SnapshotStore } from '../store/port.ts'
import { poolEventDrafts } from './poolEvents.ts'

export type BackfillProgress = {
  readonly chain_id: number
  readonly from_block: number
  readonly to_block: number
  readonly next_block: number
  readonly events: number
  readonly pools_found: number
  readonly range_blocks: number
  readonly blocks_per_s: number
  /** Null before there is a rate to tell it by. */
  readonly eta_s: number | null
  readonly done: boolean
}

export type BackfillOptions = {
  readonly chain: ChainConfig
  readonly endpoints: EndpointSet
  readonly store: BackfillStore & Pick<SnapshotStore, 'readPools' | 'readTokens'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Left out, the first deployment block. Only for a new scan: one that was cut short keeps its own bounds. */
  readonly fromBlock?: number
  /** Left out, the finalized block; never beyond it. */
  readonly toBlock?: number
  readonly onProgress?: (progress: BackfillProgress) => void
}

/** The longest a transaction should hold the database. */
const TRANSACTION_MS = 20
const BATCH = { first: 200, least: 20, most: 5000 } as const
const PAGE = 1000
/** Blocks whose creations are looked for before their events. */
const SEGMENT = 50_000

export async function runBackfill(options: BackfillOptions): Promise<BackfillProgress> {
  return new Backfill(options, await positionOf(options)).run()
}

/** Where one that was cut short stood, or a new one. */
async function positionOf(options: BackfillOptions): Promise<BackfillPosition> {
  const { chain, clock, endpoints, signal, store } = options
  const stored = await store.readBackfill(chain.chainId)
  if (stored !== null && stored.nextBlock <= stored.toBlock) return stored
  const final = await finalizedNumber(chain, endpoints, signal)
  const first = Math.min(...chain.deployments.map(({ deploymentBlock }) => deploymentBlock))
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
  readonly #known = new Set<Address>()
  readonly #wanted = new Set<Address>()
  readonly #anchors: ReadonlySet<Address>
  readonly #factories: readonly Address[]
  readonly #startedMs: number
  readonly #firstBlock: number
  #position: BackfillPosition
  #batch: number = BATCH.first
  #poolsFound = 0
  #rangeBlocks = 0

  constructor(options: BackfillOptions, position: BackfillPosition) {
    const { chain, clock } = options
    this.#options = options
    this.#position = position
    this.#firstBlock = position.nextBlock
    this.#startedMs = clock.monotonicMs()
    this.#factories = chain.deployments.map(({ factoryAddress }) => factoryAddress)
    this.#anchors = new Set([
      ...chain.stables.map(({ tokenAddress }) => tokenAddress),
      ...chain.routingAssets,
    ])
  }

  async run(): Promise<BackfillProgress> {
    await this.#readKnown()
    const { toBlock } = this.#position
    while (this.#position.nextBlock <= toBlock) {
      const from = this.#position.nextBlock
      const to = Math.min(toBlock, from + SEGMENT - 1)
      await this.#discover(from, to)
      await this.#gather(from, to)
    }
    return this.#progress()
  }

  /** Creations of a stretch come first: the filter for its events must hold every pool made in it. */
  async #discover(from: number, to: number): Promise<void> {
    const topics = [TOPIC.v2PairCreated, TOPIC.v3PoolCreated]
    for await (const part of this.#history({ from, to, topics, addresses: this.#factories })) {
      const found: string[] = []
      for (const block of part.blocks)
        for (const { event, pool } of this.#decoded(block).events)
          if (event.kind === 'CREATED' && !this.#known.has(pool)) {
            this.#known.add(pool)
            found.push(pool)
          }
      this.#poolsFound += found.length
      if (found.length > 0) await this.#commit([], found, this.#position)
    }
  }

  async #gather(from: number, to: number): Promise<void> {
    const addresses = [...this.#factories, ...this.#known]
    const query = { from, to, topics: Object.values(TOPIC), addresses }
    for await (const part of this.#history(query)) {
      this.#rangeBlocks = part.rangeSize
      await this.#write(part.blocks, part.to + 1)
      this.#options.onProgress?.(this.#progress())
    }
  }

  async *#history(query: HistoryQuery): AsyncGenerator<HistoryPart> {
    const { endpoints, signal } = this.#options
    for await (const part of readHistory(endpoints, query, signal)) {
      signal.throwIfAborted()
      yield part
    }
  }

  /** Pools and tokens the service knows by now, and those of the configuration. */
  async #readKnown(): Promise<void> {
    const { chain, store } = this.#options
    const { chainId } = chain
    for (const pool of [...chain.pools, ...(await store.readFoundPools(chainId))])
      this.#known.add(pool as Address)
    for (let after: string | null = null; ; ) {
      const { pools } = await store.readPools({
        chainId,
        tokenAddress: null,
        after: after === null ? null : { chainId, poolAddress: after },
        limit: PAGE,
      })
      for (const { poolAddress } of pools) this.#known.add(poolAddress as Address)
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

  /** In transactions short enough; the position moves with the last of them. */
  async #write(blocks: readonly VerifiedBlock[], nextBlock: number): Promise<void> {
    const drafts = blocks.flatMap(block =>
      poolEventDrafts(this.#options.chain.chainId, this.#decoded(block), pool => this.#known.has(pool)),
    )
    const before = this.#position
    let written = 0
    do {
      const batch = drafts.slice(written, written + this.#batch)
      written += batch.length
      const isLast = written >= drafts.length
      await this.#commit(batch, [], {
        ...before,
        ...(isLast ? { nextBlock, events: before.events + drafts.length } : {}),
      })
    } while (written < drafts.length)
  }

  async #commit(
    events: readonly PoolEventDraft[],
    foundPools: readonly string[],
    position: BackfillPosition,
  ): Promise<void> {
    const { chain, clock, store } = this.#options
    const startedMs = clock.monotonicMs()
    await store.writeBackfill({ chainId: chain.chainId, atMs: clock.nowMs(), events, foundPools, position })
    this.#position = position
    const tookMs = clock.monotonicMs() - startedMs
    if (tookMs > TRANSACTION_MS) this.#batch = Math.max(BATCH.least, this.#batch >> 1)
    else if (events.length === this.#batch && tookMs < TRANSACTION_MS / 2)
      this.#batch = Math.min(BATCH.most, this.#batch + (this.#batch >> 2))
  }

  #decoded(block: VerifiedBlock): Extract<Input, { kind: 'block' }>['block'] {
    const events = decodeBlock(
      this.#options.chain.deployments,
      block,
      pool => this.#known.has(pool),
      (token0, token1) =>
        (this.#anchors.has(token0) || this.#anchors.has(token1)) &&
        this.#wanted.has(token0) &&
        this.#wanted.has(token1),
    )
    return {
      number: count(block.number),
      hash: block.hash,
      timeMs: ms(block.timeMs),
      parentHash: block.parentHash,
      proof: block.proof,
      events,
    }
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
      done: left === 0,
    }
  }
}
