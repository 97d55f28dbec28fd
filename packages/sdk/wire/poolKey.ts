/** The key that identifies a pool of a Uniswap v4 manager. */
import { Address } from './identifier.ts'
import { Count } from './quantity.ts'
import { describe, object, type Static } from './schema.ts'

export const PoolKey = describe(
  'What the id of a pool of Uniswap v4 is the hash of; `fee` 8388608 is a fee that the hook sets.',
  object({ currency0: Address, currency1: Address, fee: Count, tick_spacing: Count, hooks: Address }),
)
export type PoolKey = Static<typeof PoolKey>
