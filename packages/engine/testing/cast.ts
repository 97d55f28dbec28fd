/** The tokens and pools of the scenarios, and their units. */
import type { Address } from '../chain/block.ts'
import { address } from './chainSim.ts'

export const USDC = address(1)
export const USDT = address(2)
export const WETH = address(3)
export const WBTC = address(4)
export const T = address(0x10)
export const U = address(0x11)
/** A stable that sorts after every token, so that it is token1 of its pools. */
export const DAI = address(0xffff)
export const [P1, P2, P3, P4, P5, P6, P7, P8] = [1, 2, 3, 4, 5, 6, 7, 8].map(n => address(0x100 + n)) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
]

export const E6 = 10n ** 6n
export const E18 = 10n ** 18n
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
