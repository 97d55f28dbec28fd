/**
 * Creation bytecode of published contracts, as npm packages carry it. Nothing here is compiled or copied by us.
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

/** Foundry's artifacts: the creation code lies one level deeper. */
export const v4PoolManagerCode = (): Hex =>
  creationCode({ bytecode: require('@uniswap/v4-core/out/PoolManager.sol/PoolManager.json').bytecode.object })

/** Hooks that v4-core's own tests use. Those whose constructor takes the manager are followed by it. */
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

/** viem has it, but not among its exports: the path of its file is taken from where its package is. */
export function multicall3Code(): Hex {
  const contracts: unknown = require(
    join(dirname(require.resolve('viem/package.json')), '_cjs/constants/contracts.js'),
  )
  return creationCode({
    bytecode: (contracts as { readonly multicall3Bytecode?: unknown }).multicall3Bytecode,
  })
}

/** Of a Hardhat or a Waffle artifact; the latter writes no 0x. */
export function creationCode(artifact: { readonly bytecode?: unknown }): Hex {
  const { bytecode } = artifact
  const code = typeof bytecode === 'string' && !bytecode.startsWith('0x') ? `0x${bytecode}` : bytecode
  if (!isHex(code) || code.length <= 2) throw new Error('the artifact carries no creation bytecode')
  return code
}
