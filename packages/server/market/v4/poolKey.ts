/** The key of a v4 pool, and the id it hashes to. The manager stores pools by id and cannot return a key. */
import { keccak256 } from '../../ops/keccak.ts'
import type { Address, Hex } from '../../ops/hex.ts'
import { encodeAddress, encodeInt } from '../abiWords.ts'

/** Currency 0 is `NATIVE` for the native currency. */
export type PoolKey = {
  readonly currency0: Address
  readonly currency1: Address
  readonly fee: bigint
  readonly tickSpacing: number
  readonly hooks: Address
}

export const NATIVE: Address = `0x${'0'.repeat(40)}`

/** keccak256(abi.encode(key)) */
export function poolIdOf({ currency0, currency1, fee, tickSpacing, hooks }: PoolKey): Hex {
  const words = [
    encodeAddress(currency0),
    encodeAddress(currency1),
    encodeInt(fee),
    encodeInt(BigInt(tickSpacing)),
    encodeAddress(hooks),
  ]
  return `0x${keccak256(Buffer.from(words.join(''), 'hex')).toString('hex')}`
}
