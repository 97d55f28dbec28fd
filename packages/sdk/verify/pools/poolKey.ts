/** The id of a pool of a Uniswap v4 manager: the hash of its key. */
import type { PoolKey } from '../../wire/poolKey.ts'
import { keccak256 } from '../keccak.ts'
import { word } from '../node.ts'

/** keccak256(abi.encode(key)) */
export function poolKeyHash({ currency0, currency1, fee, tick_spacing, hooks }: PoolKey): `0x${string}` {
  const words = [currency0, currency1, fee, tick_spacing, hooks].map(each => word(BigInt(each)))
  return keccak256(words.join(''))
}
