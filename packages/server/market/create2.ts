/** The address a factory gives a pool, which distinguishes a pool from a look-alike without a call. */
import { keccak256 } from '../ops/keccak.ts'
import type { Address, Hex } from '../ops/hex.ts'

/** Null when the init code hash is unknown; `salted` contains the digits hashed into the salt. */
export function create2(
  deployer: Address,
  initCodeHash: Hex | null,
  ...salted: readonly string[]
): Address | null {
  if (initCodeHash === null) return null
  return `0x${hashOf('ff', digitsOf(deployer), hashOf(...salted), digitsOf(initCodeHash)).slice(24)}`
}

export const digitsOf = (hex: Hex): string => hex.slice(2)
const hashOf = (...digits: readonly string[]): string =>
  keccak256(Buffer.from(digits.join(''), 'hex')).toString('hex')
