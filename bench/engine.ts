/**
 * The engine as a whole: how many swaps per second it prices, whether a block costs more when more pools are known,
 * and how much memory it uses. The market is synthetic and shaped like a real factory's.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Address } from '../packages/engine/chain/block.ts'
import type { Input } from '../packages/engine/input.ts'
import type { State } from '../packages/engine/state.ts'
import { createState } from '../packages/engine/createState.ts'
import { step } from '../packages/engine/engine.ts'
import { bringUp } from '../packages/world/market/bringUp.ts'
import type { MarketPool } from '../packages/world/market/market.ts'
import type { Benchmark, Contender } from './benchmark.ts'
import {
  assertVerified,
  CHAIN,
  engineFor,
  Load,
  newMarket,
  noSteps,
  pricedTokens,
  runSteps,
  type Steps,
} from './engineLoad.ts'
import { median, quantile } from './harness.ts'
import { duration, significant } from './row.ts'

export const benchmarks: readonly Benchmark[] = [swapsPerSecond(), blockCost(), memory()]

/** Five minutes of blocks: from then on every pool has the history that its temporal score needs. */
const HISTORY_BLOCKS = Math.ceil(300_000 / CHAIN.blockMs) + 20

function swapsPerSecond(): Benchmark {
  const swapsPerBlock = 200
  // Eight moves of the anchors and five finalizations.
  const portion = 160
  let load: Load | null = null
  let state: State | null = null
  let lastNs = 0
  const total: Steps = noSteps()
  return {
    name: 'engine: swaps re-priced per second, 20,000 pools / 10,000 tokens',
    unit: 'swap',
    goal: { ratio: 1, sense: 'at least' },
    limit: { value: 5_000, unit: 'per second' },
    rounds: 5,
    prepare: () => {
      const market = newMarket({ pools: 20_000, tokens: 10_000 })
      state = engineFor(market)
      load = new Load(market, { swapsPerBlock })
      for (let blocks = 0; blocks < HISTORY_BLOCKS; blocks += portion)
        runSteps(state, load.next(portion), noSteps())
    },
    check: () => assertVerified(state as State),
    ours: {
      name: 'step',
      operations: portion * swapsPerBlock,
      run: () => {
        const inputs = (load as Load).next(portion)
        globalThis.gc?.()
        const steps = noSteps()
        runSteps(state as State, inputs, steps)
        lastNs = steps.ns.reduce((sum, ns) => sum + ns, 0)
        total.ns.push(...steps.ns)
        total.cpuNs += steps.cpuNs
        total.records += steps.records
        total.swaps += steps.swaps
      },
      measuredNs: () => lastNs,
      calls: 1,
    },
    notes: () => {
      const seconds = total.ns.reduce((sum, ns) => sum + ns, 0) / 1e9
      return [
        `${significant(total.records / seconds)} records/s; ${significant(total.swaps / (total.cpuNs / 1e9))} swaps per second of processor time`,
        `step p50 ${duration(median(total.ns))}, p99 ${duration(quantile(total.ns, 0.99))}, of ${total.ns.length} steps of ${swapsPerBlock} swaps`,
        `${pricedTokens(state as State)} tokens have a price`,
      ]
    },
    close: () => {
      load = null
      state = null
    },
  }
}

/**
 * Two engines follow the same blocks: one knows every pool, the other a tenth of them, which includes all pools of
 * every token that trades. Anchors do not move and no timer falls due during the measurement, so that both have the
 * same work.
 */
function blockCost(): Benchmark {
  const portion = 20
  const least = 10_000
  let load: Load | null = null
  let large: State | null = null
  let small: State | null = null
  // Times of portions that their side has not reported to the harness yet.
  const untold: Record<'large' | 'small', number[]> = { large: [], small: [] }

  /** Both follow a portion, alternating block by block: two neighbouring steps are as close in time as possible. */
  const follow = (): void => {
    const steps = { large: noSteps(), small: noSteps() }
    for (const [at, input] of (load as Load).next(portion).entries())
      for (const which of at % 2 === 0 ? (['large', 'small'] as const) : (['small', 'large'] as const))
        runSteps((which === 'large' ? large : small) as State, [input], steps[which])
    // Medians: a garbage collection in one block proves nothing about blocks.
    untold.large.push(median(steps.large.ns) * portion)
    untold.small.push(median(steps.small.ns) * portion)
  }
  const contender = (which: 'large' | 'small', name: string): Contender => {
    let lastNs = 0
    return {
      name,
      operations: portion,
      run: () => {
        if (untold[which].length === 0) follow()
        lastNs = untold[which].shift() as number
      },
      measuredNs: () => lastNs,
      calls: 1,
    }
  }
  return {
    name: 'engine: cost of a block as known pools grow 10,000 → 100,000, same activity',
    unit: 'block',
    goal: { ratio: 1.1, sense: 'at most' },
    rounds: 21,
    ours: contender('large', '100,000 pools'),
    peer: contender('small', '10,000 pools'),
    prepare: () => {
      // A TTL of an hour: a quiet token is evaluated every six minutes, so that the window in between is long.
      const market = newMarket({ pools: 100_000, tokens: 50_000, chainId: 1 })
      const known = subset(market.pools, least)
      const some = new Set(known.flatMap(({ born }) => [born.address, born.token0, born.token1]))
      large = createState(market.setup)
      small = createState(market.setup)
      // All at one block, so that time-based work falls due for all at once, and then not for a while.
      for (const input of bringUp(market, market.pools.length)) {
        step(large, input)
        const part = partOf(input, some)
        if (part !== null) step(small, part)
      }
      load = new Load(market, {
        swapsPerBlock: 50,
        anchorShare: 0,
        anchorMove: null,
        active: closed(market.pools, known),
      })
      market.clock.pause(301_000)
      // Beyond the moment at which every history is long enough; and the code is warm.
      for (const input of load.next(80)) for (const state of [large, small]) step(state, input)
    },
    check: () => {
      const both = [large as State, small as State]
      for (const state of both) assertVerified(state)
      const pools = both.map(state => state.pools.size).join(' and ')
      if (pools !== '100000 and 10000') throw new Error(`the engines know ${pools} pools`)
      for (const input of (load as Load).next(portion)) {
        const [ofLarge, ofSmall] = both.map(state => step(state, input).records.length)
        if (ofLarge !== ofSmall)
          throw new Error(`${ofLarge} records, and ${ofSmall} where fewer pools are known`)
      }
    },
    close: () => {
      load = null
      large = null
      small = null
    },
  }
}

/** The part of an input that concerns these pools and tokens; null if there is none. */
function partOf(input: Input, some: ReadonlySet<Address>): Input | null {
  if (input.kind === 'enrol') return some.has(input.token) ? input : null
  if (input.kind === 'load')
    return { ...input, pools: input.pools.filter(({ pool }) => some.has(pool.address)) }
  if (input.kind === 'token_facts')
    return { ...input, facts: input.facts.filter(({ token }) => some.has(token)) }
  return input
}

/** The later of its tokens: pools in this order are grouped by token. */
const ofTail = (pool: MarketPool): number => Math.max(...pool.places)

/** The anchors and whole tokens from the front of the list, until there are this many pools. */
function subset(pools: readonly MarketPool[], size: number): readonly MarketPool[] {
  const byToken = [...pools].sort((a, b) =>
    a.isAnchor !== b.isAnchor ? (a.isAnchor ? -1 : 1) : ofTail(a) - ofTail(b),
  )
  return byToken.slice(0, size)
}

/** Those of `known` whose tokens have no pool outside of it: both engines see the same surroundings. */
function closed(pools: readonly MarketPool[], known: readonly MarketPool[]): MarketPool[] {
  const inside = new Set(known)
  const open = new Set(pools.filter(pool => !inside.has(pool)).flatMap(pool => pool.places))
  // All tokens trade against the anchors' tokens, which are the same for both.
  const core = new Set(pools.filter(pool => pool.isAnchor).flatMap(pool => pool.places))
  return known.filter(pool => pool.places.every(place => core.has(place) || !open.has(place)))
}

/** In a separate process, without other data. */
function memory(): Benchmark {
  const script = fileURLToPath(new URL('engineMemory.ts', import.meta.url))
  type Report = { readonly heapUsed: number; readonly lines: readonly string[] }
  let report: Report = { heapUsed: 0, lines: [] }
  return {
    name: 'engine: memory at 100,000 pools, 50,000 tokens',
    unit: 'engine',
    goal: { ratio: 1, sense: 'at most' },
    limit: { value: 2 ** 30, unit: 'bytes' },
    rounds: 1,
    ours: {
      name: 'heap after gc',
      operations: 1,
      run: async () => {
        const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script])
        report = JSON.parse(stdout) as Report
      },
      calls: 1,
      figure: () => report.heapUsed,
    },
    notes: () => report.lines,
  }
}
