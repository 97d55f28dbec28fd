/** The configuration with which the service serves a running local world (R-config-1), as a plain document. */
import { familyOf } from './families/table.ts'
import type { WorldChain } from './localWorld.ts'

/** Feeds of a live chain are updated every 30 s: one that is not is stale after three minutes. */
const LIVE = { heartbeat_s: 120, grace_s: 60 }
/** Feeds of a chain that a test controls are updated once. */
const STILL = { heartbeat_s: 3600, grace_s: 600 }

/**
 * A median needs five minutes, which the world has in its past. With a profile, a service starts at the head, as on a
 * real chain: catching up would use most of its calls.
 */
const START_BEHIND_S = 330

/** The parts of a chain from which the configuration is built. */
export type ServedChain = Pick<
  WorldChain,
  'plan' | 'url' | 'wsUrl' | 'profile' | 'genesisHash' | 'seeded'
> & {
  readonly life: { readonly isLive: boolean }
}

export function worldConfig(
  world: { readonly chains: readonly ServedChain[] },
  service: { readonly port: number; readonly database: string },
): object {
  return {
    listen: { host: '127.0.0.1', port: service.port },
    store: `sqlite:${service.database}`,
    chains: world.chains.map(chainConfig),
  }
}

function chainConfig({ plan, url, wsUrl, profile, genesisHash, seeded, life }: ServedChain): object {
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
    ...(life.isLive && profile === undefined ? { start_behind_s: START_BEHIND_S } : {}),
    finality: { tag: 'finalized' },
    ...(plan.isOpStack === true ? { proof: { receipts: 'op_stack' } } : {}),
    wrapped_native: ofRole('ROUTING')[0]?.address,
    deployments: plan.deployments.map(deployment => ({
      deployment_id: deployment.id,
      family: deployment.family,
      factory_address: deployment.factory,
      deployment_block: 0,
      ...familyOf(deployment).config(deployment),
    })),
    stables: ofRole('STABLE').map(({ symbol, address }) => ({
      token_address: address,
      usd_feed: { address: seeded.feeds[symbol], ...(life.isLive ? LIVE : STILL) },
    })),
    sequencer_uptime_feed: plan.sequencerFeed ?? null,
    routing_assets: ofRole('ROUTING').map(({ address }) => address),
    tokens: ofRole('TOKEN').map(({ address }) => address),
  }
}
