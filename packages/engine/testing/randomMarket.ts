/**
 * A random small market and a random life of it, from one seed: trades, liquidity pulled and added, pools
 * born, readings of stables, feed health, timers, enrolments, and branches of the chain that die.
 *
 * `life` gives the inputs as one service saw them, with reorganisations; `survivors` the same life as a
 * service sees it that only ever met the final chain.
 */
import type { Address, Block, BlockRef } from '../chain/block.ts'
import type { FeedStatus, Input } from '../input.ts'
import type { ChainSetup } from '../setup.ts'
import { count, ms, type Ms } from '../units.ts'
import { address, ChainSim, poolId } from './chainSim.ts'
import type { TickFamily } from './tickFamilies.ts'

export const USDC = address(1)
export const USDT = address(2)
export const WETH = address(3)
export const WBTC = address(4)
export const TOKENS = [address(11), address(12), address(13), address(14)]

export const SETUP: ChainSetup = {
  chainId: count(1),
  blockTimeMs: ms(12_000),
  stables: [
    { token: USDC, feed: { heartbeatMs: ms(3_600_000), graceMs: ms(60_000) } },
    { token: USDT, feed: { heartbeatMs: ms(86_400_000), graceMs: ms(60_000) } },
  ],
  routingAssets: [WETH, WBTC],
  assetFeeds: { [WETH]: { heartbeatMs: ms(240_000), graceMs: ms(60_000) } },
  hasSequencer: false,
}

export const DECIMALS = new Map([
  [USDC, 6],
  [USDT, 6],
  [WETH, 18],
  [WBTC, 8],
  ...TOKENS.map((token, at) => [token, [18, 9, 6, 0][at] as number] as const),
])
/** Rough value of a whole token in cents, to seed balanced pools. */
const CENTS = new Map([
  [USDC, 100],
  [USDT, 100],
  [WETH, 200_000],
  [WBTC, 6_000_000],
  ...TOKENS.map((token, at) => [token, [150, 3, 9_900, 25][at] as number] as const),
])

/** A small, fast, seeded generator (mulberry32): the same life on every machine. */
export function seeded(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let z = Math.imul(state ^ (state >>> 15), state | 1)
    z = (z + Math.imul(z ^ (z >>> 7), z | 61)) ^ z
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (n: number): number => Math.floor(next() * n),
    chance: (p: number): boolean => next() < p,
    pick: <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item,
  }
}
export type Random = ReturnType<typeof seeded>

export type Life = {
  readonly life: readonly Input[]
  readonly survivors: readonly Input[]
  readonly endMs: Ms
}

export type PoolSpec = {
  readonly address: Address
  readonly token0: Address
  readonly token1: Address
  readonly kind: 'v2' | 'v3'
}

const START_MS = 1_700_000_000_000
export const POOLS: readonly (readonly [number, Address, Address, 'v2' | 'v3', string])[] = [
  [101, USDC, WETH, 'v2', 'one'],
  [102, USDC, WETH, 'v3', 'three'],
  [103, USDT, WETH, 'v2', 'two'],
  [104, WETH, WBTC, 'v3', 'three'],
  [105, USDC, WBTC, 'v2', 'one'],
  [106, USDC, USDT, 'v2', 'one'],
  [107, USDC, USDT, 'v3', 'three'],
  [111, WETH, TOKENS[0] as Address, 'v2', 'one'],
  [112, USDC, TOKENS[0] as Address, 'v2', 'two'],
  [113, WETH, TOKENS[0] as Address, 'v3', 'three'],
  [121, WETH, TOKENS[1] as Address, 'v3', 'three'],
  [131, WBTC, TOKENS[2] as Address, 'v2', 'two'],
]
export const BORN_LATER: readonly (readonly [number, Address, Address, 'v2' | 'v3', string])[] = [
  [141, WETH, TOKENS[3] as Address, 'v2', 'one'],
  [142, USDT, TOKENS[3] as Address, 'v3', 'three'],
  [122, USDC, TOKENS[1] as Address, 'v2', 'two'],
]

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

export function seedPool(
  random: Random,
  sim: ChainSim,
  pools: PoolSpec[],
  [n, token0, token1, kind, deploymentId]: (typeof POOLS)[number],
  families: readonly TickFamily[] = ['amm_v3'],
): void {
  const family = families[n % families.length] ?? 'amm_v3'
  // A pool of v4 has no address: its id is a hash.
  const id = kind === 'v3' && family === 'amm_v4' ? poolId(n) : address(n)
  const spec: PoolSpec = { address: id, token0, token1, kind }
  pools.push(spec)
  const usd = BigInt(random.pick([400, 5_000, 60_000, 900_000, 20_000_000])) * 100n
  const amountOf = (token: Address) =>
    (usd * 10n ** BigInt(DECIMALS.get(token) as number)) / BigInt(CENTS.get(token) as number) + 1000n
  const [amount0, amount1] = [amountOf(token0), amountOf(token1)]
  if (kind === 'v2') {
    sim.createV2({
      address: spec.address,
      token0,
      token1,
      deploymentId,
      fee: random.pick([
        [997n, 1000n],
        [9975n, 10000n],
      ] as const),
    })
    sim.reserves(spec.address, amount0, amount1)
    return
  }
  const tickSpacing = random.pick([1, 10, 60])
  const around = Math.floor(Math.log(Number(amount1) / Number(amount0)) / Math.log(1.0001))
  sim.createV3({
    family,
    address: spec.address,
    token0,
    token1,
    deploymentId,
    feePpm: random.pick([100n, 500n, 3000n]),
    tickSpacing,
    tick: around,
  })
  const snap = (tick: number) => Math.round(tick / tickSpacing) * tickSpacing
  const root = BigInt(Math.floor(Math.sqrt(Number(amount0)) * Math.sqrt(Number(amount1))))
  sim.liquidity(spec.address, snap(around - 20_000), snap(around + 20_000), root * 2n + 10n)
  sim.liquidity(spec.address, snap(around - 300), snap(around + 260), root + 10n)
}

/** A block's worth of life: mostly trades, sometimes liquidity. */
export function trade(random: Random, sim: ChainSim, pools: readonly PoolSpec[]): void {
  for (let n = random.below(5); n > 0; n--) {
    const pool = random.pick(pools)
    const amm = sim.amm(pool.address)
    const side = random.pick([0, 1] as const)
    if (amm.family === 'amm_v2') {
      const reserve = side === 0 ? amm.reserve0 : amm.reserve1
      if (random.chance(0.1)) {
        const part = BigInt(random.pick([2, 3, 20, 1_000_000]))
        sim.reserves(pool.address, amm.reserve0 / part + 1n, amm.reserve1 / part + 1n)
      } else if (random.chance(0.05))
        sim.reserves(pool.address, amm.reserve0 * 7n + 1n, amm.reserve1 * 7n + 1n)
      else if (reserve > 1_000_000n)
        sim.swap(pool.address, side, reserve / BigInt(random.pick([20_000, 2_000, 300, 40, 9])) + 1n)
      continue
    }
    if (amm.liquidity === 0n) continue
    // Before the swap that pays it, in the same block.
    if (amm.family === 'amm_algebra_v1' && random.chance(0.4))
      sim.fee(pool.address, 100 + random.below(14_900))
    if (amm.family === 'amm_v4' && random.chance(0.1)) sim.fee(pool.address, random.pick([0, 7, 500, 1_000]))
    const inRange =
      side === 0 ? (amm.liquidity << 96n) / amm.sqrtPriceX96 : (amm.liquidity * amm.sqrtPriceX96) >> 96n
    if (random.chance(0.15)) {
      const spacing = 60
      const lower = Math.floor(amm.tick / spacing) * spacing - spacing * (1 + random.below(5))
      sim.liquidity(pool.address, lower, lower + spacing * (2 + random.below(8)), amm.liquidity / 3n + 1n)
    } else if (inRange > 1_000_000n)
      sim.swap(pool.address, side, inRange / BigInt(random.pick([30_000, 2_000, 400, 60])) + 1n)
  }
}

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
