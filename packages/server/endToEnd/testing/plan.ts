/**
 * A chain small enough to be up in a second and rich enough to price: two stables, a routing asset, v2 and v3
 * pools of two tokens. Each test adds what it is about.
 */
import type { ChainPlan } from '@assay/world'

type TokenPlan = ChainPlan['tokens'][number]
type PoolPlan = ChainPlan['pools'][number]

export const CHAIN_ID = 1

/** Tokens of the tests live at addresses that say so. */
const at = (n: number): `0x${string}` => `0x${n.toString(16).padStart(40, 'a5')}`

export const token = (n: number, symbol: string, usd: number, decimals = 18): TokenPlan => ({
  symbol,
  decimals,
  usd,
  address: at(n),
  role: 'TOKEN',
})

const anchors: readonly TokenPlan[] = [
  { ...token(0x10, 'USDC', 1, 6), role: 'STABLE' },
  { ...token(0x20, 'USDT', 1, 6), role: 'STABLE' },
  { ...token(0x30, 'WETH', 2000), role: 'ROUTING' },
]

export const LARK = token(0x01, 'LARK', 1.25)
export const MOTH = token(0x40, 'MOTH', 0.04)

/** A token that is one, and has no pool anywhere. */
export const IDLE = token(0x50, 'IDLE', 1)

/** A token with one pool, which is not deep enough to price it. */
export const THIN = {
  tokens: [token(0x52, 'THIN', 1)],
  pools: [{ deployment: 'uniswap-v2', pair: ['USDC', 'THIN'], usd: 60 }],
} as const

/** LARK reaches dollars by two deployments, MOTH by one pool with the other stable. */
const POOLS: readonly PoolPlan[] = [
  { deployment: 'uniswap-v2', pair: ['USDC', 'WETH'], usd: 4_000_000 },
  { deployment: 'uniswap-v2', pair: ['USDC', 'LARK'], usd: 900_000 },
  { deployment: 'uniswap-v3', pair: ['WETH', 'LARK'], usd: 300_000, feePpm: 3000 },
  { deployment: 'uniswap-v2', pair: ['USDT', 'MOTH'], usd: 500_000 },
]

export type Additions = { readonly tokens?: readonly TokenPlan[]; readonly pools?: readonly PoolPlan[] }

export const planWith = ({ tokens = [], pools = [] }: Additions = {}): ChainPlan => ({
  chainId: CHAIN_ID,
  name: 'Test chain',
  blockTimeS: 1,
  deployments: [
    { id: 'uniswap-v3', family: 'amm_v3', factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984' },
    { id: 'uniswap-v2', family: 'amm_v2', factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f' },
    { id: 'v2-two', family: 'amm_v2', factory: '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73' },
  ],
  tokens: [...anchors, LARK, MOTH, ...tokens],
  pools: [...POOLS, ...pools],
})
