/** A random small market: its tokens, its pools with their first liquidity, and a block's worth of trades, by a seed. */
import type { Address } from '../chain/block.ts'
import type { ChainSetup } from '../setup.ts'
import { count, ms } from '../units.ts'
import { address, type ChainSim, poolId } from './chainSim.ts'
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

export type PoolSpec = {
  readonly address: Address
  readonly token0: Address
  readonly token1: Address
  readonly kind: 'v2' | 'v3'
}

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
