/** The configuration with which the service serves a running local world (contract §9), as a plain document. */
import { V2_PAIR_INIT_CODE_HASH } from '../v2.ts'
import { V3_POOL_INIT_CODE_HASH } from '../v3.ts'
import type { LocalWorld, WorldChain } from './localWorld.ts'

const HEARTBEAT_S = 3600

export function worldConfig(
  world: LocalWorld,
  service: { readonly port: number; readonly database: string },
): object {
  return {
    listen: { host: '127.0.0.1', port: service.port },
    store: `sqlite:${service.database}`,
    chains: world.chains.map(chainConfig),
  }
}

function chainConfig({ plan, url, wsUrl, genesisHash, seeded }: WorldChain): object {
  const addressOf = (symbol: string) => plan.tokens.find(token => token.symbol === symbol)?.address
  const ofRole = (role: string) => plan.tokens.filter(token => token.role === role)
  return {
    chain_id: plan.chainId,
    name: plan.name,
    endpoints: [
      { name: 'world', url: wsUrl },
      { name: 'world-http', url },
    ],
    genesis_hash: genesisHash,
    block_time_ms: plan.blockTimeS * 1000,
    finality: { tag: 'finalized' },
    wrapped_native: addressOf(plan.chainId === 56 ? 'WBNB' : 'WETH'),
    deployments: plan.deployments.map(({ id, family, factory }) => ({
      deployment_id: id,
      family,
      factory_address: factory,
      deployment_block: 0,
      ...(family === 'amm_v2'
        ? { fee: { numerator: 997, denominator: 1000 }, init_code_hash: V2_PAIR_INIT_CODE_HASH }
        : { init_code_hash: V3_POOL_INIT_CODE_HASH, fee_tiers: [500, 3000, 10_000] }),
    })),
    stables: ofRole('STABLE').map(({ symbol, address }) => ({
      token_address: address,
      usd_feed: { address: seeded.feeds[symbol], heartbeat_s: HEARTBEAT_S, grace_s: 600 },
    })),
    routing_assets: ofRole('ROUTING').map(({ address }) => address),
    tokens: ofRole('TOKEN').map(({ address }) => address),
  }
}
