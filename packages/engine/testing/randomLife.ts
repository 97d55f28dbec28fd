/**
 * A random life of a random market, from one seed: trades, liquidity removed and added, pools created, readings of
 * stables, feed health, timers, enrolments, and branches of the chain that are orphaned.
 *
 * `life` has the inputs as one service saw them, with reorganisations; `survivors` the same life for a service that
 * only ever saw the final chain.
 */
import type { Block, BlockRef } from '../chain/block.ts'
import type { FeedStatus, Input } from '../input.ts'
import { count, ms, type Ms } from '../units.ts'
import { ChainSim } from './chainSim.ts'
import {
  BORN_LATER,
  DECIMALS,
  POOLS,
  type PoolSpec,
  type Random,
  seeded,
  seedPool,
  TOKENS,
  trade,
  USDC,
  USDT,
  WETH,
} from './randomMarket.ts'
import type { TickFamily } from './tickFamilies.ts'

export type Life = {
  readonly life: readonly Input[]
  readonly survivors: readonly Input[]
  readonly endMs: Ms
}

const START_MS = 1_700_000_000_000

export function randomLife(
  seed: number,
  options: {
    rounds: number
    maxDepth?: number
    reorgChance?: number
    stopChance?: number
    /** How often a block has the time of the one before, or comes a second after it. */
    burstChance?: number
    /** Of which the pools with ticks are; v3 alone where left out. */
    families?: readonly TickFamily[]
  },
): Life {
  const random = seeded(seed)
  const lateness = seeded(seed + 1)
  const pace = seeded(seed + 2)
  const life: Input[] = []
  const outside: { readonly after: number; readonly input: Input }[] = []
  let sim = new ChainSim({ startMs: START_MS, blockMs: 12_000 })
  const pools: PoolSpec[] = []
  const chain: Kept[] = []
  let bornLater = 0
  const { stopChance = 0, families } = options
  let latenessMs = 400

  const atMs = () => ms(sim.timeMs + latenessMs)
  const say = (input: Input) => {
    life.push(input)
    outside.push({ after: sim.number, input })
  }
  const grow = (): Block => {
    const inBurst = options.burstChance !== undefined && pace.chance(options.burstChance)
    const block = sim.mine({
      proof: random.chance(0.9) ? 'receipts' : 'none',
      ...(inBurst && { afterMs: pace.pick([0, 0, 1_000]) }),
    })
    chain.push({ sim: sim.fork(`x`), block, pools: pools.length, readings: [], bornLater, rebase: null })
    return block
  }
  const read = (reading: Input, kept = chain.at(-1)) => {
    kept?.readings.push(reading)
    life.push(reading)
  }
  /** Nobody watches for a while; the last blocks that were seen may not have lasted. */
  const stop = (name: string) => {
    const end = chain.findLastIndex(({ rebase }) => rebase !== null)
    // The end of an earlier gap may be lost as well; what was before that gap may not.
    const lost = random.below(Math.min(4, chain.length - Math.max(end, 1) + 1))
    chain.splice(chain.length - lost)
    const kept = chain.at(-1) as Kept
    if (lost > 0) {
      sim = kept.sim.fork(name)
      pools.length = kept.pools
      bornLater = kept.bornLater
    }
    for (let n = 1 + random.below(3); n > 0; n--) {
      trade(random, sim, pools)
      if (random.chance(0.2) && bornLater < BORN_LATER.length)
        seedPool(random, sim, pools, BORN_LATER[bornLater++] as (typeof BORN_LATER)[number], families)
      sim.mine({ afterMs: 1_200_000 })
    }
    trade(random, sim, pools)
    const rebase: Input = {
      kind: 'rebase_head',
      atMs: atMs(),
      block: refOf(grow()),
      ancestor: kept.block.hash,
      health: { status: 'GAP', record: {} },
    }
    ;(chain.at(-1) as Kept).rebase = rebase
    life.push(rebase)
  }
  const load = () => {
    const loaded = pools.filter(() => random.chance(0.8)).map(({ address }) => sim.loaded(address))
    const { block } = chain.at(-1) as Kept
    read({ kind: 'load', atMs: atMs(), block: refOf(block), pools: loaded })
  }

  for (const spec of POOLS) seedPool(random, sim, pools, spec, families)
  say({ kind: 'health', atMs: atMs(), health: { status: 'HEALTHY', record: { updated_at_ms: atMs() } } })
  life.push({ kind: 'block', atMs: atMs(), block: grow() })
  const facts = (ref: BlockRef): Input => ({
    kind: 'token_facts',
    atMs: atMs(),
    block: ref,
    facts: [...DECIMALS].map(([token, decimals]) => ({
      token,
      decimals: count(decimals),
      reason: null,
      symbol: null,
      name: null,
    })),
  })
  read(facts(refOf((chain[0] as Kept).block)))
  for (const token of TOKENS) say({ kind: 'enrol', atMs: atMs(), token })

  for (let round = 0; round < options.rounds; round++) {
    latenessMs = random.below(3000)
    const depth = random.below(Math.min(options.maxDepth ?? 4, chain.length - 2)) + 1
    const since = chain.length - 1 - chain.findLastIndex(({ rebase }) => rebase !== null)
    if (stopChance > 0 && chain.length > 2 && random.chance(stopChance)) stop(`s${round}`)
    else if (chain.length > 4 && depth <= since && random.chance(options.reorgChance ?? 0.25)) {
      const kept = chain[chain.length - 1 - depth] as Kept
      chain.splice(chain.length - depth)
      sim = kept.sim.fork(`b${round}`)
      pools.length = kept.pools
      bornLater = kept.bornLater
      const blocks: Block[] = []
      for (let n = depth + random.below(2); n > 0; n--) {
        trade(random, sim, pools)
        blocks.push(grow())
      }
      life.push({ kind: 'reorg', atMs: atMs(), ancestor: kept.block.hash, blocks })
    } else {
      trade(random, sim, pools)
      if (random.chance(0.08) && bornLater < BORN_LATER.length)
        seedPool(random, sim, pools, BORN_LATER[bornLater++] as (typeof BORN_LATER)[number], families)
      life.push({ kind: 'block', atMs: atMs(), block: grow() })
    }
    if (round === 0 || random.chance(0.15)) {
      // Readings arrive in order, but blocks do not wait for them; none is older than the end of a gap.
      const settled = chain.findLastIndex(({ readings, rebase }) => readings.length > 0 || rebase !== null)
      const unread = chain.slice(1 + settled)
      const kept = unread[Math.max(0, unread.length - 1 - lateness.below(4))] ?? chain.at(-1)!
      const reading = stableReading(random, atMs(), refOf(kept.block))
      read(random.chance(0.5) ? reading : logged(random, reading), kept)
    }
    if (random.chance(0.1)) read(probed(random, atMs(), refOf((chain.at(-1) as Kept).block)), chain.at(-1))
    if (stopChance > 0 && random.chance(0.3)) load()
    if (random.chance(0.1)) say({ kind: 'timer', atMs: atMs() })
    if (random.chance(0.04)) {
      const status = random.pick<FeedStatus>(['HEALTHY', 'HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE'])
      // Most are further apart than readers wait, so a life has silences in it.
      const record = { round, status, updated_at_ms: atMs() }
      say({ kind: 'health', atMs: atMs(), health: { status, record } })
    }
    if (random.chance(0.03))
      say({
        kind: 'coverage',
        atMs: atMs(),
        assets: random.chance(0.5)
          ? []
          : [{ token: WETH, depthMicrousd: BigInt(random.below(1e9)) * 1000n, asOfMs: atMs() }],
      })
    if (random.chance(0.02))
      say({ kind: 'unenrol', atMs: atMs(), token: random.pick(TOKENS), reason: 'OPERATOR' })
    if (random.chance(0.06)) say({ kind: 'enrol', atMs: atMs(), token: random.pick(TOKENS) })
    if (random.chance(0.02)) say({ kind: 'pause', atMs: atMs(), paused: random.chance(0.5) })
  }
  // The same outside word ends every life, so that both services know the same of the world.
  say({ kind: 'pause', atMs: atMs(), paused: false })
  say({ kind: 'health', atMs: atMs(), health: { status: 'HEALTHY', record: {} } })
  // Past the pace at which a depth that still climbs is looked at again.
  const endMs = ms(sim.timeMs + 64_000)
  return { life, survivors: finalLife(chain, outside), endMs }
}

/** A block of the final chain and the world after it; `rebase` where nobody had watched the blocks before it. */
type Kept = {
  readonly sim: ChainSim
  readonly block: Block
  readonly pools: number
  readonly readings: Input[]
  readonly bornLater: number
  rebase: Input | null
}

/** The final chain in order, each outside input where its height stood. */
function finalLife(chain: readonly Kept[], outside: readonly { after: number; input: Input }[]): Input[] {
  const inputs: Input[] = []
  let at = 0
  const flush = (number: number) => {
    while (at < outside.length && (outside[at] as (typeof outside)[number]).after <= number)
      inputs.push((outside[at++] as (typeof outside)[number]).input)
  }
  for (const { block, readings, rebase } of chain) {
    flush(block.number - 1)
    inputs.push(rebase ?? { kind: 'block', atMs: ms(block.timeMs + 400), block })
    inputs.push(...readings)
  }
  flush(Number.MAX_SAFE_INTEGER)
  return inputs
}

const refOf = ({ number, hash, timeMs }: Block): BlockRef => ({ number, hash, timeMs })

export function stableReading(random: Random, atMs: Ms, block: BlockRef): Extract<Input, { kind: 'stable' }> {
  const answer = (around: number) => ({
    value: BigInt(around + random.below(200_000) - 100_000),
    decimals: count(8),
    updatedAtMs: ms(block.timeMs - random.below(120_000)),
    complete: random.chance(0.95),
  })
  return {
    kind: 'stable',
    atMs,
    block,
    answers: [
      { token: USDC, answer: answer(random.chance(0.9) ? 100_000_000 : 98_700_000) },
      { token: USDT, answer: random.chance(0.9) ? answer(99_950_000) : null },
      { token: WETH, answer: answer(2_000_000 * (95_000 + random.below(10_000))) },
    ],
    sequencer: null,
  }
}

/** What simulated sales of some of the tokens found. */
function probed(random: Random, atMs: Ms, block: BlockRef): Extract<Input, { kind: 'sellability' }> {
  const tax = () => (random.chance(0.5) ? count(0) : random.chance(0.1) ? null : count(random.below(600)))
  const readings = TOKENS.filter(() => random.chance(0.4)).map(token => ({
    token,
    status: random.pick(['SELLABLE', 'TAXED', 'UNSELLABLE', 'UNKNOWN'] as const),
    buyTaxBps: tax(),
    transferTaxBps: tax(),
    sellTaxBps: tax(),
    reason: random.pick([null, 'NO_PATH', 'SELL_REVERTED']),
    pool: null,
    method: random.pick([null, 'SIMULATE', 'CALL_OVERRIDE'] as const),
    path: [],
    sizes: [1n, 10n],
    revert: null,
  }))
  return { kind: 'sellability', atMs, block, readings }
}

/** Some of these answers, as the logs of the block have them. */
export function logged(
  random: Random,
  { atMs, block, answers }: ReturnType<typeof stableReading>,
): Extract<Input, { kind: 'feed_answer' }> {
  const some = answers.flatMap(({ token, answer }) =>
    answer === null || random.chance(0.4) ? [] : [{ token, answer }],
  )
  return { kind: 'feed_answer', atMs, block, answers: some }
}
