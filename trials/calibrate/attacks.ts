/**
 * Attacks that run as a share of the calibration market, each on a token of its own beside the honest ones. Those of
 * the corpus are in `packages/world/attacks`; these are the simple shapes: pushes that are held, pushes and liquidity
 * present only at block ends, pools away from the market.
 */
import { address } from '../../packages/engine/testing/chainSim.ts'
import { USDC, WETH } from '../../packages/engine/testing/cast.ts'
import type { Chance } from './chance.ts'
import type { Market, MarketToken } from './market.ts'
import type { Habits, PoolPlan, TokenPlan } from './plan.ts'

export type Stage = {
  /** Before all others in the block. */
  readonly first: () => void
  /** After all others, who saw the block without it. */
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

const nothing = (): void => {}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'thin pool pushed and held',
    token: chance => ({
      ...victim([thin(0, chance.spread(500, 5000))]),
      habits: { ...QUIET, arbitrageChance: 0.02 },
    }),
    stage: (market, { pools }, chance) => {
      const factor = chance.pick([1.2, 1.5, 3])
      return { first: nothing, last: () => pools[0]?.push(factor, market) }
    },
  },
  {
    name: 'pushed at every block end',
    token: chance => victim([thin(0, chance.spread(2000, 20_000))]),
    stage: (market, { pools }, chance) => {
      const factor = chance.pick([1.2, 1.5, 3])
      return {
        first: () => pools[0]?.push(1, market),
        last: () => pools[0]?.push(factor, market),
      }
    },
  },
  {
    name: 'pushed once for one block',
    token: chance => victim([thin(0, chance.spread(2000, 20_000)), thin(1, chance.spread(2000, 20_000))]),
    stage: (market, { pools }, chance) => {
      const factor = chance.pick([1.5, 3, 50])
      return {
        first: () => {
          if (market.block % 40 === 1) for (const pool of pools) pool.push(1, market)
        },
        last: () => {
          if (market.block % 40 === 0) for (const pool of pools) pool.push(factor, market)
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
    stage: (market, { pools }, chance) => {
      const factor = chance.pick([0.9, 0.96, 1.04, 1.1])
      return { first: nothing, last: () => pools[2]?.push(factor, market) }
    },
  },
  {
    name: 'main pool leaves, two others lie',
    token: chance =>
      victim([thin(0, 50_000), thin(1, chance.spread(800, 4000)), thin(2, chance.spread(800, 4000))]),
    stage: (market, { pools }) => {
      let isGone = false
      return {
        first: nothing,
        last: () => {
          if (!isGone) pools[0]?.resize(1 / 500)
          isGone = true
          for (const pool of pools.slice(1)) pool.push(1.5, market)
        },
      }
    },
  },
]

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
