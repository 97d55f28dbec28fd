/**
 * The shared parts of a simulation: its time, its random streams, its chains, its store, and the records about them.
 */
import { type Random, SETUP, seeded, TOKENS } from '../../packages/engine/testing/randomMarket.ts'
import type { ChainConfig } from '../../packages/server/config/config.ts'
import type { Address } from '../../packages/server/ops/hex.ts'
import type { HealthStatus } from '../../packages/server/feed/feed.ts'
import { setupOf } from '../../packages/server/worker/setupOf.ts'
import type { Bug } from './bugs.ts'
import { SimChain } from './chain.ts'
import { Ledger } from './ledger.ts'
import { Oracle } from './oracle.ts'
import { type Counts, noCounts } from './report.ts'
import { Reference } from './reference.ts'
import { SimStore } from './store.ts'
import { Tempo } from './tempo.ts'
import { Verdict } from './verdict.ts'
import { VirtualTime } from './virtualTime.ts'

const START_MS = 1_700_000_000_000
/** An Ethereum-like chain and a faster one: their records share one log. */
const CHAINS = [
  { chainId: 1, blockMs: 12_000 },
  { chainId: 56, blockMs: 7_000 },
] as const

/** The present faults of a chain's endpoints, set by the world. */
export type Weather = { status: HealthStatus; stalledUntilMs: number }

export type ChainWorld = {
  readonly chain: SimChain
  readonly config: ChainConfig
  readonly oracle: Oracle
  readonly weather: Weather
  readonly reference: Reference
}

/** In a world with long stops, a feed this far behind starts again at the head: about a minute of a storm. */
const LONG_STOP_BLOCKS = 6
/** One world in this many has long stops; in the others every block is walked. */
const LONG_STOPS_EVERY = 4

export type World = {
  readonly bug: Bug | null
  /** The distance from the head at which a feed restarts there instead of walking. */
  readonly longStopBlocks: number
  readonly time: VirtualTime
  readonly tempo: Tempo
  readonly verdict: Verdict
  readonly ledger: Ledger
  readonly store: SimStore
  readonly chains: readonly ChainWorld[]
  readonly cursorSecret: Uint8Array
  readonly counts: Counts
  /** A separate random stream for each name, so that an additional draw here changes nothing there. */
  readonly randomOf: (name: string) => Random
}

export function createWorld(seed: number, bug: Bug | null): World {
  const randomOf = (name: string): Random => seeded(seed ^ hashOf(name))
  const noise = randomOf('Math.random')
  const time = new VirtualTime(START_MS, () => noise.below(2 ** 30) / 2 ** 30)
  const counts = noCounts()
  const tempo = new Tempo(time, randomOf, () => {
    counts.storms += 1
  })
  const verdict = new Verdict(time)
  const ledger = new Ledger(verdict)
  return {
    bug,
    longStopBlocks: seed % LONG_STOPS_EVERY === 0 ? LONG_STOP_BLOCKS : Number.POSITIVE_INFINITY,
    time,
    tempo,
    verdict,
    ledger,
    store: new SimStore(time, ledger, verdict),
    chains: CHAINS.map(({ chainId, blockMs }) => {
      const config = configOf(chainId, blockMs)
      return {
        chain: new SimChain(chainId, randomOf(`chain ${chainId}`), tempo, START_MS),
        config,
        oracle: new Oracle(time, tempo, randomOf(`oracle ${chainId}`)),
        weather: { status: 'HEALTHY', stalledUntilMs: 0 },
        reference: new Reference(setupOf(config), verdict),
      }
    }),
    cursorSecret: new Uint8Array(32).fill(7),
    counts,
    randomOf,
  }
}

function configOf(chainId: number, blockTimeMs: number): ChainConfig {
  const { stables, routingAssets } = SETUP
  const nowhere: Address = `0x${'0'.repeat(40)}`
  return {
    chainId,
    name: `simulated ${chainId}`,
    endpoints: [],
    genesisHash: `0x${'0'.repeat(64)}`,
    blockTimeMs,
    finality: { kind: 'depth', depth: 24 },
    wrappedNative: nowhere,
    deployments: [],
    stables: stables.map(({ token, feed }) => ({
      tokenAddress: token,
      usdFeed:
        feed === null ? null : { address: nowhere, heartbeatMs: feed.heartbeatMs, graceMs: feed.graceMs },
    })),
    sequencerUptimeFeed: null,
    routingAssets,
    pools: [],
    tokens: TOKENS,
  }
}

/** FNV-1a: turns a name into a number. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) as number), 0x01000193)
  return hash >>> 0
}
