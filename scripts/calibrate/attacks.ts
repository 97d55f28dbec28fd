/**
 * Attacks that run as a share of the calibration market, each on a token of its own beside the honest ones. Those of the
 * corpus are in `packages/world/attacks`; these are the simple shapes: pushes that are held, pushes and liquidity that are
 * only there at block ends, pools off the market.
 */
import { address } from '../../packages/engine/testing/chainSim.ts'
import { USDC, WETH } from '../../packages/engine/testing/cast.ts'
import type { Chance } from './chance.ts'
import type { Market, MarketToken } from './market.ts'
import type { Habits, PoolPlan, TokenPlan } from './plan.ts'
import type { MarketPool } from './pool.ts'

export type Stage = {
  /** Before everybody else in the block. */
  readonly first: () => void
  /** After everybody else, who saw the block without it. */
  readonly last: () => void
}

export type Attack = {
  readonly name: string
  readonly token: (chance: Chance) => TokenPlan
  readonly stage: (market: Market, token: MarketToken, chance: Chance) => Stage
}

const VICTIM = 0x8000
const QUIET: Habits = {
  moveBps: 3,
  arbitrageChance: 0.5,
  gasUsd: 3,
  tradesPerBlock: 0.2,
  tradeUsd: 80,
  liquidityChance: 0.001,
}
/** The first block of an attack: the honest market has a past by then. */
export const ATTACK_FROM = 190
const WHATEVER_IT_COSTS = -Infinity

const nothing = (): void => {}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'thin pool pushed and held',
    token: chance => ({ ...victim([thin(0, chance.spread(500, 5000))]), habits: { ...QUIET, arbitrageChance: 0.02 } }),
    stage: (market, { plan, pools }, chance) => {
      const factor = chance.pick([1.2, 1.5, 3])
      return { first: nothing, last: () => push(market, pools[0], plan, factor) }
    },
  },
  {
    name: 'pushed at every block end',
    token: chance => victim([thin(0, chance.spread(2000, 20_000))]),
    stage: (market, { plan, pools }, chance) => {
      const factor = chance.pick([1.2, 1.5, 3])
      return {
        first: () => push(market, pools[0], plan, 1),
        last: () => push(market, pools[0], plan, factor),
      }
    },
  },
  {
    name: 'pushed once for one block',
    token: chance => victim([thin(0, chance.spread(2000, 20_000)), thin(1, chance.spread(2000, 20_000))]),
    stage: (market, { plan, pools }, chance) => {
      const factor = chance.pick([1.5, 3, 50])
      return {
        first: () => {
          if (market.block % 40 === 1) for (const pool of pools) push(market, pool, plan, 1)
        },
        last: () => {
          if (market.block % 40 === 0) for (const pool of pools) push(market, pool, plan, factor)
        },
      }
    },
  },
  {
    name: 'liquidity only at block ends',
    token: () => victim([thin(0, 60), thin(1, 60)]),
    stage: (_market, { pools }) => {
      let isIn = false
      const size = (factor: number) => {
        for (const pool of pools) pool.resize(factor)
      }
      return {
        first: () => {
          if (isIn) size(1 / 1000)
          isIn = false
        },
        last: () => {
          size(1000)
          isIn = true
        },
      }
    },
  },
  {
    name: 'own pool off the market',
    token: chance => victim([thin(0, 20_000), thin(1, 20_000), thin(2, 20_000 * chance.spread(0.02, 0.3))]),
    stage: (market, { plan, pools }, chance) => {
      const factor = chance.pick([0.9, 0.96, 1.04, 1.1])
      return { first: nothing, last: () => push(market, pools[2], plan, factor) }
    },
  },
  {
    name: 'main pool leaves, two others lie',
    token: chance => victim([thin(0, 50_000), thin(1, chance.spread(800, 4000)), thin(2, chance.spread(800, 4000))]),
    stage: (market, { plan, pools }) => {
      let isGone = false
      return {
        first: nothing,
        last: () => {
          if (!isGone) pools[0]?.resize(1 / 500)
          isGone = true
          for (const pool of pools.slice(1)) push(market, pool, plan, 1.5)
        },
      }
    },
  },
]

function push(market: Market, pool: MarketPool | undefined, { address: token }: TokenPlan, factor: number): void {
  if (pool === undefined) return
  const other = pool.plan.quote
  const target = (market.usd(token) * factor) / market.usd(other)
  pool.tradeTo(pool.tokenSide === 0 ? target : 1 / target, market, WHATEVER_IT_COSTS)
}

function victim(pools: readonly Omit<PoolPlan, 'token'>[]): TokenPlan {
  const token = address(VICTIM)
  return {
    address: token,
    decimals: 18,
    startUsd: 2,
    habits: QUIET,
    pools: pools.map(pool => ({ ...pool, token })),
  }
}

/** Constant-product pools of two factories and two pairs. */
const thin = (at: number, depthUsd: number): Omit<PoolPlan, 'token'> => ({
  address: address(VICTIM + 1 + at),
  quote: at === 1 ? WETH : USDC,
  family: 'amm_v2',
  deployment: at % 2 === 0 ? 'v2-a' : 'v2-b',
  feePpm: 3000,
  depthUsd,
  bornAt: null,
})
