/** A served chain: its identity, the sources of its pools, and the assets in which its prices end. */
import { Health } from './health.ts'
import { Address, ChainId, Hash } from './identifier.ts'
import { Count, Ms } from './quantity.ts'
import { array, describe, known, nullable, object, type Static, strictObject, string } from './schema.ts'

/** The generation of a pool contract. */
export const Family = known(['amm_v2', 'amm_v3', 'amm_v3_pancake', 'amm_algebra_v1', 'amm_v4'])

/** One factory on one chain. Independence of sources means distinct pools and distinct deployments. */
export const Deployment = object({
  deployment_id: string(),
  family: Family,
  factory_address: Address,
  deployment_block: describe('Null where it is not known.', nullable(Count)),
})

export const Chain = object({
  chain_id: ChainId,
  name: string(),
  block_time_ms: Ms,
  genesis_hash: Hash,
  wrapped_native: Address,
  stables: array(Address),
  routing_assets: describe('Ordered: each is priced from stables and those before it.', array(Address)),
  deployments: array(Deployment),
  health: describe(
    'UNAVAILABLE until a first one is reported. Null only of older services.',
    nullable(Health),
  ),
})
export type Chain = Static<typeof Chain>

export const ChainList = object({ chains: array(Chain) })
export type ChainList = Static<typeof ChainList>

/** Path of GET /v1/chains/{chain_id}/health. */
export const ChainPath = strictObject({ chain_id: ChainId })
export type ChainPath = Static<typeof ChainPath>
