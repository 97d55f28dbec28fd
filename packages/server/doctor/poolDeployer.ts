/**
 * Whether a factory whose pools another contract makes names that contract itself. The addresses of its pools follow from the
 * deployer, so a factory that names another one is not the one that is meant, or the deployer is wrong.
 */
import { SELECTOR } from '../market/abi.ts'
import { isWord } from '../market/reading.ts'
import { addressAt } from '../market/words.ts'
import { UNPROVEN_FACTORIES } from '../ops/chains/protocols.ts'
import type { Address, ChainConfig, Hex } from '../ops/config.ts'

type Answers = (to: Address, data: Hex) => Promise<Hex | null>

/** Each with its key in the chain's section. A factory without code is told of elsewhere. */
export async function deployerFaults(chain: ChainConfig, answers: Answers): Promise<readonly string[]> {
  const faults = await Promise.all(
    chain.deployments.map(async (deployment, at) => {
      if (!('deployerAddress' in deployment)) return null
      const { factoryAddress, deployerAddress } = deployment
      const answer = await answers(factoryAddress, SELECTOR['poolDeployer()'])
      const named = isWord(answer) ? addressAt(answer, 0) : null
      if (named === deployerAddress) return null
      const says = named === null ? 'does not say who makes its pools' : `says that ${named} makes its pools`
      const origin = UNPROVEN_FACTORIES.has(factoryAddress)
        ? '; the built-in table has this factory by its project’s word alone'
        : ''
      return `deployments[${at}].factory_address: the factory at ${factoryAddress} ${says}, expected ${deployerAddress}${origin}; correct the entry, or leave it out`
    }),
  )
  return faults.filter(each => each !== null)
}
