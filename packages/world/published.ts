/**
 * Creation bytecode of published contracts, taken from npm packages. We compile and copy none of it.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Hex, isHex } from 'viem'

const require = createRequire(import.meta.url)

export const v3FactoryCode = (): Hex =>
  creationCode(require('@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json'))

export const v3PoolCode = (): Hex =>
  creationCode(require('@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json'))

export const pancakeFactoryCode = (): Hex =>
  creationCode(require('@pancakeswap/v3-core/artifacts/contracts/PancakeV3Factory.sol/PancakeV3Factory.json'))

export const pancakePoolCode = (): Hex =>
  creationCode(require('@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json'))

export const algebraFactoryCode = (): Hex =>
  creationCode(require('@cryptoalgebra/v1-core/artifacts/contracts/AlgebraFactory.sol/AlgebraFactory.json'))

export const algebraDeployerCode = (): Hex =>
  creationCode(
    require('@cryptoalgebra/v1-core/artifacts/contracts/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json'),
  )

export const v2FactoryCode = (): Hex => creationCode(require('@uniswap/v2-core/build/UniswapV2Factory.json'))

export const v2PairCode = (): Hex => creationCode(require('@uniswap/v2-core/build/UniswapV2Pair.json'))

/** Foundry's artifacts nest the creation code one level deeper. */
export const v4PoolManagerCode = (): Hex =>
  creationCode({ bytecode: require('@uniswap/v4-core/out/PoolManager.sol/PoolManager.json').bytecode.object })

/** Hooks used by v4-core's own tests. If a constructor takes the manager, append its address. */
export const v4HookCode = (name: V4HookName): Hex =>
  creationCode({ bytecode: require(`@uniswap/v4-core/out/${name}.sol/${name}.json`).bytecode.object })

export type V4HookName =
  | 'MockHooks'
  | 'DynamicFeesTestHook'
  | 'DynamicReturnFeeTestHook'
  | 'FeeTakingHook'
  | 'CustomCurveHook'
  | 'DeltaReturningHook'
  | 'SkipCallsTestHook'

/** viem contains it, but does not export it: the path of its file follows from the location of its package. */
export function multicall3Code(): Hex {
  const contracts: unknown = require(
    join(dirname(require.resolve('viem/package.json')), '_cjs/constants/contracts.js'),
  )
  return creationCode({
    bytecode: (contracts as { readonly multicall3Bytecode?: unknown }).multicall3Bytecode,
  })
}

/** For a Hardhat or Waffle artifact; the latter omits the 0x. */
export function creationCode(artifact: { readonly bytecode?: unknown }): Hex {
  const { bytecode } = artifact
  const code = typeof bytecode === 'string' && !bytecode.startsWith('0x') ? `0x${bytecode}` : bytecode
  if (!isHex(code) || code.length <= 2) throw new Error('the artifact carries no creation bytecode')
  return code
}
