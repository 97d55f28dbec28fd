/**
 * The composition of an honest market, drawn from a seed: anchors, tokens with one to four pools of one or two
 * deployments on each curve, and how busy, how liquid and how well arbitraged each token is.
 */
import type { Address } from '../../packages/engine/chain/block.ts'
import { address } from '../../packages/engine/testing/chainSim.ts'
import { DAI, USDC, WETH } from '../../packages/engine/testing/cast.ts'
import type { Chance } from './chance.ts'

export type PoolPlan = {
  readonly address: Address
  readonly token: Address
  /** The token on the other side of the trade. */
  readonly quote: Address
  readonly family: 'amm_v2' | 'amm_v3'
  readonly deployment: string
  readonly feePpm: number
  /** 2% depth at the start, in dollars. */
  readonly depthUsd: number
  /** Block from the start at which the pool is created; null for one that existed before. */
  readonly bornAt: number | null
}

export type Habits = {
  /** Standard deviation of the fair value's logarithm over a block, in basis points. */
  readonly moveBps: number
  /** Chance that an arbitrageur watches a pool in a block. */
  readonly arbitrageChance: number
  readonly gasUsd: number
  readonly tradesPerBlock: number
  readonly tradeUsd: number
  /** Chance that a pool's liquidity changes in a block. */
  readonly liquidityChance: number
}

export type TokenPlan = {
  readonly address: Address
  readonly decimals: number
  readonly startUsd: number
  readonly habits: Habits
  readonly pools: readonly PoolPlan[]
}

export type MarketPlan = {
  readonly anchors: TokenPlan
  readonly tokens: readonly TokenPlan[]
  /** External 2% depth of the routing asset that operators configured, in dollars; null without coverage data. */
  readonly coverageUsd: number | null
  /** DAI drifts to this value; 1 for almost all markets. */
  readonly daiUsd: number
}

const ANCHOR_POOLS = 0x1000
const TOKENS = 0x2000
const POOLS_OF_TOKEN = 0x40

const FEES = { amm_v2: [3000, 2500], amm_v3: [500, 3000, 3000, 10_000] } as const
const DEPLOYMENTS = { amm_v2: ['v2-a', 'v2-b'], amm_v3: ['v3-a', 'v3-b'] } as const

/** Tokens of an honest market. */
const TOKENS_A_MARKET = 6

export function drawPlan(chance: Chance): MarketPlan {
  return {
    anchors: drawAnchors(chance),
    tokens: Array.from({ length: TOKENS_A_MARKET }, (_, at) => drawToken(chance, at)),
    coverageUsd: chance.is(0.3) ? chance.spread(20e6, 200e6) : null,
    daiUsd: chance.is(0.05) ? chance.between(0.975, 0.993) : 1,
  }
}

/** WETH against the stables, and the stables against each other. */
export function drawAnchors(chance: Chance): TokenPlan {
  const start = ANCHOR_POOLS
  const depth = chance.is(0.8) ? chance.spread(1e6, 6e6) : chance.spread(30_000, 1e6)
  const all: readonly Omit<PoolPlan, 'address' | 'token' | 'bornAt'>[] = [
    { quote: USDC, family: 'amm_v3', deployment: 'v3-a', feePpm: 500, depthUsd: depth },
    {
      quote: USDC,
      family: 'amm_v2',
      deployment: 'v2-a',
      feePpm: 3000,
      depthUsd: depth * chance.spread(0.1, 1),
    },
    {
      quote: DAI,
      family: 'amm_v3',
      deployment: 'v3-b',
      feePpm: 3000,
      depthUsd: depth * chance.spread(0.1, 1),
    },
    {
      quote: DAI,
      family: 'amm_v2',
      deployment: 'v2-b',
      feePpm: 2500,
      depthUsd: depth * chance.spread(0.1, 0.6),
    },
  ]
  const count = chance.pick([1, 2, 3, 4, 4, 4])
  const pools = all
    .slice(0, count)
    .map((plan, at) => ({ ...plan, address: address(start + at), token: WETH, bornAt: null }))
  const stables: PoolPlan = {
    address: address(start + 0x20),
    token: USDC,
    quote: DAI,
    family: 'amm_v3',
    deployment: 'v3-a',
    feePpm: 100,
    depthUsd: 4e6,
    bornAt: null,
  }
  return {
    address: WETH,
    decimals: 18,
    startUsd: chance.between(1500, 4000),
    habits: {
      moveBps: chance.between(2, 7),
      arbitrageChance: 0.95,
      gasUsd: chance.spread(1, 10),
      tradesPerBlock: 1.5,
      tradeUsd: 8000,
      liquidityChance: 0.002,
    },
    pools: [...pools, stables],
  }
}

export function drawToken(chance: Chance, at: number): TokenPlan {
  const token = address(TOKENS + at * POOLS_OF_TOKEN)
  const depthUsd = chance.spread(120, 800_000)
  const count = chance.pick([1, 1, 2, 2, 2, 3, 3, 4])
  const families = chance.pick([['amm_v2'], ['amm_v3'], ['amm_v2', 'amm_v3'], ['amm_v2', 'amm_v3']] as const)
  const isOneDeployment = chance.is(0.3)
  const firstQuote = chance.pick([WETH, WETH, USDC, DAI])
  const pools: PoolPlan[] = []
  for (let n = 0; n < count; n++) {
    const family = families[n % families.length] as PoolPlan['family']
    const places = DEPLOYMENTS[family]
    pools.push({
      address: address(TOKENS + at * POOLS_OF_TOKEN + 1 + n),
      token,
      // One in three has all its pools in one pair.
      quote: n === 0 || chance.is(0.35) ? firstQuote : chance.pick([WETH, WETH, USDC, DAI]),
      family,
      deployment: places[isOneDeployment ? 0 : n % places.length] as string,
      feePpm: chance.pick(FEES[family]),
      depthUsd: n === 0 ? depthUsd : depthUsd * chance.spread(0.01, 1),
      bornAt: n > 0 && chance.is(0.08) ? 20 + chance.below(300) : null,
    })
  }
  return {
    address: token,
    decimals: chance.pick([18, 18, 18, 9, 8, 6]),
    startUsd: chance.spread(1e-6, 500),
    habits: {
      moveBps: chance.spread(1, 40),
      arbitrageChance: chance.pick([0.95, 0.5, 0.5, 0.15, 0.03]),
      gasUsd: chance.spread(0.3, 30),
      tradesPerBlock: chance.spread(0.005, 0.8),
      tradeUsd: chance.spread(30, 800),
      liquidityChance: chance.spread(0.0005, 0.01),
    },
    pools,
  }
}
