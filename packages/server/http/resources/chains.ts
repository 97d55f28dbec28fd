/** GET /v1/chains and GET /v1/chains/{chain_id}/health. */
import type { FastifyInstance } from 'fastify'
import type { ChainConfig } from '../../config/config.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { integerIn, Params } from '../plumbing/params.ts'
import { malformed, pathOf, searchOf } from '../plumbing/request.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds'>

export function registerChains(app: FastifyInstance, context: Needs): void {
  app.get('/v1/chains', async request => {
    new Params(searchOf(request), [], malformed)
    const nowMs = context.clock.nowMs()
    return {
      chains: [...context.chains.values()].map(({ config }) =>
        chainText(config, context.feeds.health(config.chainId, nowMs)),
      ),
    }
  })
  app.get('/v1/chains/:chain_id/health', async request => {
    new Params(searchOf(request), [], malformed)
    const chainId = integerIn('chain_id', pathOf(request, 'chain_id'), 0, Number.MAX_SAFE_INTEGER, malformed)
    servedChain(context, chainId)
    return context.feeds.health(chainId, context.clock.nowMs())
  })
}

/** The whole record of a chain. */
export const chainText = (config: ChainConfig, health: object) => ({
  chain_id: config.chainId,
  name: config.name,
  block_time_ms: config.blockTimeMs,
  genesis_hash: config.genesisHash,
  wrapped_native: config.wrappedNative,
  stables: config.stables.map(stable => stable.tokenAddress),
  routing_assets: config.routingAssets,
  deployments: config.deployments.map(each => ({
    deployment_id: each.deploymentId,
    family: each.family,
    factory_address: each.factoryAddress,
    deployment_block: each.deploymentBlock,
  })),
  health,
})
