/**
 * What a pool of PancakeSwap v3 is: to the last unit a pool of Uniswap v3. Its Swap log says more, of the protocol's share of
 * the fee, and its factory has a deployer of its own; neither changes what a swap gives.
 */
import type { StaticKind } from '../staticFee.ts'

export type Pancake = StaticKind<'amm_v3_pancake'>
