/**
 * The local world, as a plan: which chains, tokens, pools and feeds there are, at which price and size. Well-known
 * addresses are the real ones; the long-tail tokens are invented.
 *
 * The second deployment of chain 56 runs Uniswap v2's published bytecode like the first: no other v2 code is
 * published in a package, and none is made up.
 */
import type { Address } from 'viem'

export type TokenPlan = {
  readonly symbol: string
  readonly decimals: number
  readonly usd: number
  readonly address: Address
  readonly role: 'STABLE' | 'ROUTING' | 'TOKEN'
}
export type DeploymentPlan = {
  readonly id: string
  readonly family: 'amm_v2' | 'amm_v3'
  readonly factory: Address
}
/** `usd` is the value of one side. A v3 pool spreads it over a wide and a narrow band. */
export type PoolPlan = {
  readonly deployment: string
  readonly pair: readonly [string, string]
  readonly usd: number
  readonly feePpm?: number
}
export type ChainPlan = {
  readonly chainId: number
  readonly name: string
  readonly blockTimeS: number
  readonly deployments: readonly DeploymentPlan[]
  readonly tokens: readonly TokenPlan[]
  readonly pools: readonly PoolPlan[]
}

const token = (
  symbol: string,
  decimals: number,
  usd: number,
  address: string,
  role: TokenPlan['role'] = 'TOKEN',
): TokenPlan => ({ symbol, decimals, usd, address: address as Address, role })
const invented = (n: number): string => `0x${(0xa55a_0000 + n).toString(16).padStart(40, '0')}`

const V3_TIERS = { low: 500, middle: 3000, high: 10_000 }

export const ETHEREUM: ChainPlan = {
  chainId: 1,
  name: 'Ethereum (local world)',
  blockTimeS: 2,
  deployments: [
    { id: 'uniswap-v3', family: 'amm_v3', factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984' },
    { id: 'uniswap-v2', family: 'amm_v2', factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f' },
  ],
  tokens: [
    token('USDC', 6, 1, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'STABLE'),
    token('USDT', 6, 1, '0xdAC17F958D2ee523a2206206994597C13D831ec7', 'STABLE'),
    token('WETH', 18, 2480, '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', 'ROUTING'),
    token('WBTC', 8, 67_200, '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599', 'ROUTING'),
    token('LARK', 18, 1.37, invented(1)),
    token('MOTH', 18, 0.000_021_4, invented(2)),
    token('QUILL', 9, 38.2, invented(3)),
    token('BRINE', 6, 0.084, invented(4)),
    token('OCHRE', 18, 412, invented(5)),
    token('FJORD', 0, 6.5, invented(6)),
    token('EMBER', 18, 0.0031, invented(7)),
  ],
  pools: [
    { deployment: 'uniswap-v3', pair: ['USDC', 'WETH'], usd: 9_000_000, feePpm: V3_TIERS.low },
    { deployment: 'uniswap-v3', pair: ['USDC', 'WETH'], usd: 2_500_000, feePpm: V3_TIERS.middle },
    { deployment: 'uniswap-v3', pair: ['USDT', 'WETH'], usd: 4_000_000, feePpm: V3_TIERS.low },
    { deployment: 'uniswap-v2', pair: ['USDC', 'WETH'], usd: 30_000_000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'WBTC'], usd: 3_000_000, feePpm: V3_TIERS.middle },
    { deployment: 'uniswap-v3', pair: ['WETH', 'WBTC'], usd: 6_000_000, feePpm: V3_TIERS.low },
    { deployment: 'uniswap-v3', pair: ['WETH', 'LARK'], usd: 900_000, feePpm: V3_TIERS.middle },
    { deployment: 'uniswap-v2', pair: ['WETH', 'LARK'], usd: 2_400_000 },
    { deployment: 'uniswap-v3', pair: ['USDC', 'LARK'], usd: 300_000, feePpm: V3_TIERS.high },
    { deployment: 'uniswap-v2', pair: ['WETH', 'MOTH'], usd: 700_000 },
    { deployment: 'uniswap-v3', pair: ['WETH', 'MOTH'], usd: 160_000, feePpm: V3_TIERS.high },
    { deployment: 'uniswap-v3', pair: ['WBTC', 'QUILL'], usd: 250_000, feePpm: V3_TIERS.middle },
    { deployment: 'uniswap-v2', pair: ['USDC', 'BRINE'], usd: 60_000 },
    { deployment: 'uniswap-v3', pair: ['USDT', 'OCHRE'], usd: 1_100_000, feePpm: V3_TIERS.middle },
    { deployment: 'uniswap-v2', pair: ['WETH', 'FJORD'], usd: 40_000 },
    { deployment: 'uniswap-v2', pair: ['WETH', 'EMBER'], usd: 900 },
  ],
}

export const BNB_CHAIN: ChainPlan = {
  chainId: 56,
  name: 'BNB Smart Chain (local world)',
  blockTimeS: 1,
  deployments: [
    { id: 'v2-one', family: 'amm_v2', factory: '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73' },
    { id: 'v2-two', family: 'amm_v2', factory: '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6' },
  ],
  tokens: [
    token('USDT', 18, 1, '0x55d398326f99059fF775485246999027B3197955', 'STABLE'),
    token('USDC', 18, 1, '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 'STABLE'),
    token('WBNB', 18, 612, '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c', 'ROUTING'),
    token('TERN', 18, 0.72, invented(21)),
    token('GULL', 8, 13.4, invented(22)),
    token('SEDGE', 18, 0.000_9, invented(23)),
    token('PLUME', 18, 3.05, invented(24)),
    token('KELP', 4, 0.41, invented(25)),
  ],
  pools: [
    { deployment: 'v2-one', pair: ['USDT', 'WBNB'], usd: 24_000_000 },
    { deployment: 'v2-one', pair: ['USDC', 'WBNB'], usd: 8_000_000 },
    { deployment: 'v2-two', pair: ['USDT', 'WBNB'], usd: 5_000_000 },
    { deployment: 'v2-one', pair: ['WBNB', 'TERN'], usd: 3_200_000 },
    { deployment: 'v2-two', pair: ['WBNB', 'TERN'], usd: 1_400_000 },
    { deployment: 'v2-one', pair: ['USDT', 'GULL'], usd: 500_000 },
    { deployment: 'v2-two', pair: ['WBNB', 'GULL'], usd: 350_000 },
    { deployment: 'v2-one', pair: ['WBNB', 'SEDGE'], usd: 120_000 },
    { deployment: 'v2-one', pair: ['USDC', 'PLUME'], usd: 45_000 },
    { deployment: 'v2-two', pair: ['WBNB', 'KELP'], usd: 6_000 },
  ],
}

export const WORLD: readonly ChainPlan[] = [ETHEREUM, BNB_CHAIN]
