/**
 * How a chain starts once it has a first block. Anchors come first, because nothing has a price without them; then the
 * pools and tokens of the configuration. Each part is retried while the chain cannot be read: a node is down, or the
 * tip was just orphaned.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { isFeedError } from '../feed/feedError.ts'
import type { ChainConfig } from '../config/config.ts'
import type { Address } from '../ops/hex.ts'
import type { Log } from '../ops/log.ts'
import type { BackfillStore } from '../store/backfill.ts'
import type { CoverageWatch } from './readings/coverageWatch.ts'
import type { Enrolments } from './readings/enrolments.ts'
import { readApart } from './readings/readApart.ts'
import type { Upkeep } from './readings/upkeep.ts'

type BootstrapOptions = {
  readonly chain: ChainConfig
  readonly coverage: CoverageWatch
  readonly store: Pick<BackfillStore, 'readFoundPools'>
  readonly enrolments: Enrolments
  readonly upkeep: Upkeep
  readonly inLane: (task: () => Promise<void>) => Promise<void>
  /** The anchors are known. */
  readonly onAnchored: () => void
  readonly signal: AbortSignal
  readonly log: Log
}

/** Pause between two attempts. */
const PATIENCE_MS = { first: 250, most: 10_000 } as const

export async function bootstrap(options: BootstrapOptions): Promise<void> {
  const { chain, coverage, enrolments, store, upkeep, inLane, onAnchored } = options
  const anchors = [...chain.stables.map(({ tokenAddress }) => tokenAddress), ...chain.routingAssets]
  await Promise.all([eachOf(anchors, some => enrolments.know(some), options), upkeep.readStables()])
  await inLane(() => coverage.start())
  onAnchored()
  const found = (await store.readFoundPools(chain.chainId)) as readonly Address[]
  await Promise.all([
    eachOf([...chain.pools, ...found], some => knowPools(some, options), options),
    eachOf(chain.tokens, some => enrolments.enrolNow(some), options),
  ])
}

/** Processes all items; those that cannot be read are retried after the others. */
async function eachOf(
  addresses: readonly Address[],
  task: (some: readonly Address[]) => Promise<unknown>,
  options: BootstrapOptions,
): Promise<void> {
  const left = new Set(addresses)
  const read = async (some: readonly Address[]): Promise<void> => {
    await task(some)
    for (const address of some) left.delete(address)
  }
  await untilAnswered(() => readApart([...left], read, options.signal), options)
}

async function knowPools(pools: readonly Address[], { enrolments, log }: BootstrapOptions): Promise<void> {
  for (const [pool, outcome] of await enrolments.knowPools(pools))
    log.warn('a configured pool is not a pool', { pool_address: pool, outcome })
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
      log.warn('the chain cannot be reached yet', { chain_id: chain.chainId, error: failure.message })
      await pause(waitMs, undefined, { signal })
    }
  }
}
