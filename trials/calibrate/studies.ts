/**
 * Two studies on tokens without any fault: that two deep pools of two factories reach a score of 8, and that a score
 * does not flicker under noise of ten basis points and 60 USD of depth that is added and removed.
 */
import { address } from '../../packages/engine/testing/chainSim.ts'
import { DAI, USDC, WETH } from '../../packages/engine/testing/cast.ts'
import { Chance } from './chance.ts'
import { Market } from './market.ts'
import { drawAnchors, type Habits, type PoolPlan, type TokenPlan } from './plan.ts'

const WARM_BLOCKS = 320
const WATCHED_BLOCKS = 150
const TOKEN = address(0x2000)
const NOISE_BPS = 10
const PASSING_USD = 60

export const HEALTHY_SCORE = 8
export const MOST_CHANGES = 2

/** Of a market in which nobody does anything. */
export const STILL: Habits = {
  moveBps: 0,
  arbitrageChance: 0,
  gasUsd: 0,
  tradesPerBlock: 0,
  tradeUsd: 0,
  liquidityChance: 0,
}
const BUSY: Habits = {
  moveBps: 3,
  arbitrageChance: 0.95,
  gasUsd: 2,
  tradesPerBlock: 0.3,
  tradeUsd: 300,
  liquidityChance: 0.001,
}

type Shape = Pick<PoolPlan, 'quote' | 'family' | 'deployment' | 'feePpm' | 'depthUsd'>

const v2 = (quote: Shape['quote'], depthUsd: number, deployment = 'v2-a', feePpm = 3000): Shape => ({
  quote,
  family: 'amm_v2',
  deployment,
  feePpm,
  depthUsd,
})
const v3 = (quote: Shape['quote'], depthUsd: number, deployment = 'v3-a', feePpm = 3000): Shape => ({
  ...v2(quote, depthUsd, deployment, feePpm),
  family: 'amm_v3',
})

export type Healthy = {
  readonly name: string
  /** The score that at least half of the watched blocks reach, and the greatest. */
  readonly median: number
  readonly best: number
}

/** Two deep pools of two factories, as they are found. */
const HEALTHY: readonly (readonly [name: string, pools: readonly Shape[]])[] = [
  ['v2 and v3 in the same stable', [v2(USDC, 400_000), v3(USDC, 400_000)]],
  ['v2 in a stable, v3 in the routing asset', [v2(USDC, 400_000), v3(WETH, 400_000)]],
  ['v2 and v3 in the routing asset', [v2(WETH, 400_000), v3(WETH, 300_000, 'v3-b')]],
  ['two v2 in two stables', [v2(USDC, 400_000), v2(DAI, 300_000, 'v2-b', 2500)]],
]

export function watchHealthy(seed: number, policy?: unknown): Healthy[] {
  return HEALTHY.map(([name, pools], at) => {
    const market = marketOf(BUSY, pools, seed + at, policy)
    const scores = scoresOf(market, () => market.act()).sort((a, b) => a - b)
    return { name, median: scores[Math.floor((scores.length - 1) / 2)] ?? 0, best: scores.at(-1) ?? 0 }
  })
}

export type Flicker = {
  readonly name: string
  readonly changes: number
  readonly least: number
  readonly most: number
}

/**
 * Shares of the weight at which a pool starts or stops voting, and its distance from the price. A third of the
 * weight is not included: the specification itself draws a line at 67%, and a pool on that line is not a stray one.
 */
const STRAY_SHARES = [0.02, 0.05, 0.1]
const STRAY_FACTORS = [1, 0.97, 1.08]
/**
 * Depth of each of two pools beside the stray one: in one case a sale takes the whole market, in the other it does
 * not.
 */
const OWN_USD = [2000, 30_000]

export function watchFlicker(seed: number, policy?: unknown): Flicker[] {
  const deep: readonly Shape[] = [v2(USDC, 400_000), v3(WETH, 400_000)]
  const cases: { name: string; pools: readonly Shape[]; factor: number }[] = [
    { name: `two deep pools, ±${NOISE_BPS} bps`, pools: deep, factor: 1 },
  ]
  const add = (ownUsd: number, share: number, factor: number) => {
    // Half of the passing depth is on either side of the share.
    const strayUsd = Math.max(1, (2 * ownUsd * share) / (1 - share) - PASSING_USD / 2)
    const off = `${Math.round(1e4 * (factor - 1))} bps off`
    cases.push({
      name: `2 × ${ownUsd.toLocaleString('en-US')} USD, a third pool of ${(100 * share).toFixed(0)}%, ${off}`,
      pools: [v2(USDC, ownUsd), v3(USDC, ownUsd), v2(USDC, strayUsd, 'v2-b')],
      factor,
    })
  }
  for (const ownUsd of OWN_USD) {
    add(ownUsd, 0, 1.1)
    for (const share of STRAY_SHARES) for (const factor of STRAY_FACTORS) add(ownUsd, share, factor)
  }
  return cases.map(({ name, pools, factor }, at) => {
    const market = marketOf(STILL, pools, seed + at, policy)
    const chance = new Chance(seed + at, 3)
    const [token] = market.tokens
    const stray = token?.pools[2]
    const scores = scoresOf(market, () => {
      market.act()
      for (const pool of token?.pools ?? []) {
        const noise = 1 + (NOISE_BPS / 1e4) * chance.between(-1, 1)
        pool.push((pool === stray ? factor : 1) * noise, market)
      }
      if (stray === undefined) return
      const isIn = market.block % 2 === 0
      const base = stray.plan.depthUsd
      stray.resize(isIn ? (base + PASSING_USD) / base : base / (base + PASSING_USD))
    })
    const changes = scores.filter((score, n) => n > 0 && score !== scores[n - 1]).length
    return { name, changes, least: Math.min(...scores), most: Math.max(...scores) }
  })
}

function marketOf(habits: Habits, shapes: readonly Shape[], seed: number, policy: unknown): Market {
  const pools = shapes.map((shape, at) => ({
    ...shape,
    address: address(0x2001 + at),
    token: TOKEN,
    bornAt: null,
  }))
  const token: TokenPlan = { address: TOKEN, decimals: 18, startUsd: 3, habits, pools }
  const chance = new Chance(seed)
  const drawn = drawAnchors(chance)
  const anchors: TokenPlan = {
    ...drawn,
    habits: habits === STILL ? STILL : drawn.habits,
    pools: ANCHORS.map(([n, shape]) => ({
      ...shape,
      address: address(n),
      token: n === 0x1020 ? USDC : WETH,
      bornAt: null,
    })),
  }
  return new Market({ anchors, tokens: [token], coverageUsd: null, daiUsd: 1 }, seed, policy)
}

const ANCHORS: readonly (readonly [number, Shape])[] = [
  [0x1000, v3(USDC, 5e6, 'v3-a', 500)],
  [0x1001, v2(USDC, 4e6)],
  [0x1002, v3(DAI, 3e6, 'v3-b')],
  [0x1003, v2(DAI, 3e6, 'v2-b', 2500)],
  [0x1020, v3(DAI, 4e6, 'v3-a', 100)],
]

/** The published score after each of the watched blocks; 0 without a price. */
function scoresOf(market: Market, act: () => void): number[] {
  const scores: number[] = []
  for (let done = 0; done < WARM_BLOCKS + WATCHED_BLOCKS; done++) {
    act()
    market.mine()
    if (done < WARM_BLOCKS) continue
    const state = market.scenario.published(TOKEN)
    scores.push(state.state === 'PRICED' ? state.confidence.score : 0)
  }
  return scores
}
