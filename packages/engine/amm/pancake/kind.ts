/**
 * A pool of PancakeSwap v3: identical to a pool of Uniswap v3 to the last unit. Its Swap log also states the
 * protocol's share of the fee, and its factory has a deployer of its own; neither changes the output of a swap.
 */
import type { StaticKind } from '../staticFee.ts'

export type Pancake = StaticKind<'amm_v3_pancake'>
