/** The address a factory gives a pair: what tells a pool from a look-alike without asking anyone. */
import { concatHex, getCreate2Address, keccak256, padHex, numberToHex } from 'viem'
import type { Address, DeploymentConfig } from '../ops/config.ts'

/** Null where the deployment's init code hash is not known. The v3 salt is padded, the v2 salt is packed. */
export function poolAddress(
  deployment: DeploymentConfig,
  token0: Address,
  token1: Address,
  feePpm: number,
): Address | null {
  if (deployment.initCodeHash === null) return null
  const salt =
    deployment.family === 'amm_v2'
      ? keccak256(concatHex([token0, token1]))
      : keccak256(
          concatHex([
            padHex(token0, { size: 32 }),
            padHex(token1, { size: 32 }),
            numberToHex(feePpm, { size: 32 }),
          ]),
        )
  return getCreate2Address({
    from: deployment.factoryAddress,
    salt,
    bytecodeHash: deployment.initCodeHash,
  }).toLowerCase() as Address
}
