/** GET /v1/chains and GET /v1/chains/{chain_id}/health. */
import type { FastifyInstance } from 'fastify'
import type { ChainConfig } from '../ops/config.ts'
import { RequestError } from './apiError.ts'
import { type HttpContext, servedChain } from './context.ts'
import { integerIn, Params } from './params.ts'
import { malformed, pathOf, searchOf } from './request.ts'

/** Health seen by an API node counts only while its worker still speaks. */
const SILENT_MS = 30_000

export function registerChains(app: FastifyInstance, context: HttpContext): void {
  app.get('/v1/chains', async request => {
    new Params(searchOf(request), [], malformed)
    const chains = await Promise.all(
      [...context.chains.values()].map(async ({ config }) =>
        chainText(config, await healthOf(context, config.chainId)),
      ),
    )
    return { chains }
  })
  app.get('/v1/chains/:chain_id/health', async request => {
    new Params(searchOf(request), [], malformed)
    const chainId = integerIn('chain_id', pathOf(request, 'chain_id'), 0, Number.MAX_SAFE_INTEGER, malformed)
    servedChain(context, chainId)
    const health = await healthOf(context, chainId)
    if (health === null) throw new RequestError(404, `chain ${chainId} has no health yet; it is starting`)
    return health
  })
}

export async function healthOf(
  context: Pick<HttpContext, 'clock' | 'store'>,
  chainId: number,
): Promise<object | null> {
  const text = await context.store.readHealth(chainId)
  if (text === null) return null
  const health = JSON.parse(text) as { updated_at_ms: number; status: string; reasons: string[] }
  // A time that has not come yet is that of a clock which has been set back since: nobody has spoken after it.
  const isSilent = Math.abs(context.clock.nowMs() - health.updated_at_ms) > SILENT_MS
  return isSilent
    ? { ...health, status: 'UNAVAILABLE', reasons: [...new Set([...health.reasons, 'WORKER_SILENT'])] }
    : health
}

const chainText = (config: ChainConfig, health: object | null): object => ({
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
