/** A token behind a proxy changes its decimals: balances stay, and every price per token is wrong by powers of ten. */
import { encodeFunctionData } from 'viem'
import { send } from '../client.ts'
import { tokenProxyAbi } from '../contracts/abi.ts'
import { deployImplementation } from '../deploy.ts'
import type { WorldChain } from '../local/localWorld.ts'
import type { TokenPlan } from '../local/plan.ts'
import type { Aim, Incident } from './incident.ts'
import { poolsOf, tokenFor } from './scene.ts'

/** Three digits fewer: a price a thousand times off. */
const DIGITS = 3

const proxied = (chain: WorldChain, aim: Aim): TokenPlan =>
  tokenFor(chain, aim, 'a proxy', token => token.isProxied === true)

async function upgrade(chain: WorldChain, token: TokenPlan, decimals: number) {
  const args = [await deployImplementation(chain.client, decimals)] as const
  const data = encodeFunctionData({ abi: tokenProxyAbi, functionName: 'upgradeTo', args })
  await send(chain.client, { to: token.address, data })
  return {
    token: token.symbol,
    pools: poolsOf(chain, token.symbol).map(({ address }) => address),
    what: `${token.symbol} now says it has ${decimals} decimals`,
  }
}

export const decimalsChange: Incident = {
  name: 'decimals-change',
  about: `a token behind a proxy gets ${DIGITS} decimals fewer; no price may use them unnoticed`,
  begin(chain, aim) {
    const token = proxied(chain, aim)
    return upgrade(chain, token, token.decimals - DIGITS)
  },
  end(chain, aim) {
    const token = proxied(chain, aim)
    return upgrade(chain, token, token.decimals)
  },
}
