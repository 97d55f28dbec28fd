/** Uniswap v3: a pool for each fee tier of a pair, made by its factory. */
import type { MarketFamily } from '../family.ts'
import { TIER_TOPIC, tiered } from '../tiered.ts'

export const TOPIC = {
  ...TIER_TOPIC,
  swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
} as const

export const v3: MarketFamily<'amm_v3'> = tiered(
  'amm_v3',
  { topic: TOPIC.swap, signature: 'Swap(address,address,int256,int256,uint160,uint128,int24)' },
  ({ factoryAddress }) => factoryAddress,
)
