/**
 * How a chain begins once it has a block to stand on. Anchors first: without them nothing has a price; then the pools and
 * tokens of the configuration. Again and again while the chain cannot be asked: a node that is away, or a tip that
 * was just orphaned.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { State } from '@assay/engine'
import { FeedError, isFeedError } from '../feed/feedError.ts'
import type { Address, ChainConfig } from '../ops/config.ts'
import type { Log } from '../ops/log.ts'
import type { BackfillStore } from '../store/backfill.ts'
import type { CoverageWatch } from './coverageWatch.ts'
import type { Enrolments } from './enrolments.ts'
import type { Upkeep } from './upkeep.ts'

type BootstrapOptions = {
  readonly chain: ChainConfig
  readonly coverage: CoverageWatch
  readonly state: State
  readonly store: Pick<BackfillStore, 'readFoundPools'>
  readonly enrolments: Enrolments
  readonly upkeep: Upkeep
  readonly inLane: (task: () => Promise<void>) => Promise<void>
  /** The anchors are known. */
  readonly onAnchored: () => void
  readonly signal: AbortSignal
  readonly log: Log
}

/** Tokens that are asked about in one go: some hundred calls, and blocks wait meanwhile. */
const TOGETHER = 10
/** Between two tries. */
const PATIENCE_MS = { first: 250, most: 10_000 } as const

export async function bootstrap(options: BootstrapOptions): Promise<void> {
  const { chain, enrolments, store, inLane, onAnchored } = options
  const patiently = (task: () => Promise<unknown>) => untilAnswered(task, options)
  const anchors = [...chain.stables.map(({ tokenAddress }) => tokenAddress), ...chain.routingAssets]
  await eachOf(anchors, some => enrolments.know(some), options)
  await inLane(() => valueAnchors(options))
  onAnchored()
  const found = (await store.readFoundPools(chain.chainId)) as readonly Address[]
  for (const pool of [...chain.pools, ...found]) await patiently(() => knowPool(pool, options))
  await eachOf(chain.tokens, some => enrolments.enrolNow(some), options)
}

/** All of them. One that cannot be read is asked for again after the others: it keeps none out. */
async function eachOf(
  tokens: readonly Address[],
  task: (some: readonly Address[]) => Promise<unknown>,
  options: BootstrapOptions,
): Promise<void> {
  const left = new Set(tokens)
  const read = async (some: readonly Address[]): Promise<void> => {
    await task(some)
    for (const token of some) left.delete(token)
  }
  await untilAnswered(async () => {
    let failed: FeedError | null = null
    for (const some of inParts([...left])) {
      if ((await failureOf(() => read(some), options)) === null) continue
      for (const token of some) failed = (await failureOf(() => read([token]), options)) ?? failed
    }
    if (failed !== null) throw failed
  }, options)
}

/** What a node or its answer was at fault for; throws when nobody can be asked, and all else. */
async function failureOf(task: () => Promise<void>, { signal }: BootstrapOptions): Promise<FeedError | null> {
  try {
    await task()
    return null
  } catch (failure) {
    signal.throwIfAborted()
    if (isFeedError(failure) && failure.code !== 'NO_ENDPOINT') return failure
    throw failure
  }
}

const inParts = (tokens: readonly Address[]): readonly (readonly Address[])[] =>
  Array.from({ length: Math.ceil(tokens.length / TOGETHER) }, (_, at) =>
    tokens.slice(at * TOGETHER, (at + 1) * TOGETHER),
  )

async function valueAnchors({ coverage, state, upkeep }: BootstrapOptions): Promise<void> {
  const { tip } = state.chain
  if (tip !== null) await upkeep.readStables(tip)
  await coverage.start()
}

async function knowPool(pool: Address, { enrolments, log }: BootstrapOptions): Promise<void> {
  const { outcome } = await enrolments.lookUpPool(pool, null)
  if (outcome === 'rpc_unavailable')
    throw new FeedError('ENDPOINT_UNREACHABLE', null, `pool ${pool} cannot be asked for`)
  if (outcome !== 'quote') log.warn('a pool of the configuration is none', { pool_address: pool, outcome })
}

export async function untilAnswered(
  task: () => Promise<unknown>,
  { chain, signal, log }: Pick<BootstrapOptions, 'chain' | 'signal' | 'log'>,
): Promise<void> {
  for (let waitMs: number = PATIENCE_MS.first; ; waitMs = Math.min(waitMs * 2, PATIENCE_MS.most)) {
    try {
      await task()
      return
    } catch (failure) {
      signal.throwIfAborted()
      if (!isFeedError(failure)) throw failure
      log.warn('the chain cannot be asked yet', { chain_id: chain.chainId, error: failure.message })
      await pause(waitMs, undefined, { signal })
    }
  }
}
