/** PancakeSwap v3: its Swap log has two more words, and pools are made by a deployer beside the factory. */
import type { MarketFamily } from '../family.ts'
import { tiered } from '../tiered.ts'

/** The protocol's shares follow the words that Uniswap's log has. */
export const SWAP = {
  topic: '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83',
  signature: 'Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)',
} as const

export const pancake: MarketFamily<'amm_v3_pancake'> = tiered('amm_v3_pancake', SWAP, deployment =>
  'deployerAddress' in deployment ? deployment.deployerAddress : deployment.factoryAddress,
)
