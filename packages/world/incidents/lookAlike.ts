/** Contracts that look like pools: a real pair of an unlisted factory, and one that only names a listed one. */
import { type Address, encodeDeployData, encodeFunctionData, getAddress, type Hex } from 'viem'
import { type Client, send } from '../client.ts'
import { lookAlikePoolAbi } from '../contracts/abi.ts'
import lookAlikePool from '../contracts/LookAlikePool.json' with { type: 'json' }
import { deploy } from '../deploy.ts'
import { unitsOf } from '../local/valuation.ts'
import * as trader from '../trader.ts'
import { createV2Pair, deployV2Factory } from '../v2.ts'
import type { Incident } from './incident.ts'
import { inOneBlock, tokenFor } from './scene.ts'

const LIE = 5
const USD = 30_000_000

/** A contract that claims to be a pair of this factory, with these reserves. */
export async function claimPool(
  client: Client,
  factory: Address,
  tokens: readonly [Address, Address],
  amounts: readonly [bigint, bigint],
): Promise<Address> {
  const bytecode = lookAlikePool.bytecode as Hex
  const args = [factory, ...tokens] as const
  const claimant = await deploy(client, encodeDeployData({ abi: lookAlikePoolAbi, bytecode, args }))
  const data = encodeFunctionData({ abi: lookAlikePoolAbi, functionName: 'pretend', args: amounts })
  await send(client, { to: claimant, data })
  return claimant
}

export const lookAlike: Incident = {
  name: 'look-alike',
  about: 'a deep pair of an unlisted factory, and a contract that claims a listed one; neither may be a pool',
  async begin(chain, aim) {
    const { plan, client, traders } = chain
    const token = tokenFor(chain, aim, 'a pool', (_, pools) => pools.length > 0)
    const stable = plan.tokens.find(({ role }) => role === 'STABLE')
    const listed = plan.deployments.find(({ family }) => family === 'amm_v2')?.factory
    if (stable === undefined || listed === undefined)
      throw new Error(`chain ${plan.chainId} has no stable or no v2 deployment`)
    const unlisted = await deployV2Factory(client, 'anywhere')
    const pair = [getAddress(stable.address), getAddress(token.address)] as const
    const { address, token0, token1 } = await createV2Pair(client, unlisted, pair)
    const lied = { ...token, usd: traders.fairUsd(token.symbol) * LIE }
    const amounts =
      token0 === getAddress(token.address)
        ? ([unitsOf(lied, USD), unitsOf(stable, USD)] as const)
        : ([unitsOf(stable, USD), unitsOf(lied, USD)] as const)
    await inOneBlock(chain, [trader.addV2(address, ...amounts)])
    const claimant = await claimPool(client, listed, [token0, token1], amounts)
    return {
      token: token.symbol,
      pools: [address, claimant],
      what: `a pair of an unlisted factory and a contract that claims ${listed} price ${token.symbol} at ${LIE} times its worth`,
    }
  },
}
