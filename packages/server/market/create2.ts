/** The address a factory gives a pair: what tells a pool from a look-alike without asking anyone. */
import { keccak256 } from '../ops/keccak.ts'
import type { Address, DeploymentConfig, Hex } from '../ops/config.ts'
import { encodeAddress, encodeInt } from './words.ts'

/** Null where the deployment's init code hash is not known. The v3 salt is padded, the v2 salt is packed. */
export function poolAddress(
  deployment: DeploymentConfig,
  token0: Address,
  token1: Address,
  feePpm: number,
): Address | null {
  const { factoryAddress, family, initCodeHash } = deployment
  if (initCodeHash === null) return null
  const salt =
    family === 'amm_v2'
      ? hashOf(digitsOf(token0), digitsOf(token1))
      : hashOf(encodeAddress(token0), encodeAddress(token1), encodeInt(BigInt(feePpm)))
  return `0x${hashOf('ff', digitsOf(factoryAddress), salt, digitsOf(initCodeHash)).slice(24)}`
}

const digitsOf = (hex: Hex): string => hex.slice(2)
const hashOf = (...digits: readonly string[]): string =>
  keccak256(Buffer.from(digits.join(''), 'hex')).toString('hex')
