/**
 * A pool and its latest verified state: its holdings, the sale its ratio comes from, the amount that moves its price
 * by 2%, and how far to trust these values.
 *
 * Evidence, marginal, depth and score have the pool's single canonical orientation, from X to Y.
 */
import { Family } from './chain.ts'
import { Cap, Backing, EdgeComponents, Finality, Past } from './confidence.ts'
import { Feed, FeedStatus } from './health.ts'
import { Address, AddressInput, ChainId, Hash, Id, PoolAddress, PoolAddressInput } from './identifier.ts'
import { NextCursor, pageQueryFields } from './page.ts'
import { PoolKey } from './poolKey.ts'
import { CompactState } from './price.ts'
import { Count, Decimals, ExactValue, Microusd, Ms, Score, Sequence, Tick, Unsigned } from './quantity.ts'
import { RejectionRule } from './reason.ts'
import {
  array,
  boolean,
  describe,
  enumeration,
  nullable,
  object,
  optional,
  type Static,
  strictObject,
  string,
} from './schema.ts'

/** A sale of X for Y, including the fee: observed on chain, or simulated on the state at the end of the block. */
export const Evidence = object({
  kind: enumeration(['OBSERVED_SWAP', 'SIMULATED_SWAP']),
  amount_in: Unsigned,
  amount_out: Unsigned,
  block_number: Count,
  block_hash: Hash,
  transaction_hash: nullable(Hash),
  log_index: nullable(Count),
  observed_at_ms: Ms,
  finality: Finality,
})
export type Evidence = Static<typeof Evidence>

/** The amounts that move the price by 2%, each value rounded down. */
export const Depth = object({
  up_microusd: Microusd,
  down_microusd: Microusd,
  current_microusd: Microusd,
  ewma_microusd: Microusd,
  effective_microusd: Microusd,
})

/** A field in which our own computation and the chain's value differ: the reason a pool is unverified. */
const Difference = object({ field: string(), event: string(), computed: string() })

/** A pool's holdings in the form of its family: one of the two. */
export const holdingFields = {
  reserves: optional(object({ reserve0: Unsigned, reserve1: Unsigned })),
  slot: optional(
    object({
      sqrt_price_x96: Unsigned,
      tick: Tick,
      liquidity: Unsigned,
      lp_fee_ppm: optional(
        describe(
          'Of a Uniswap v4 pool: the fee of its liquidity providers; if a hook sets it, the last one seen.',
          Count,
        ),
      ),
      protocol_fee0_ppm: optional(
        describe('Of a Uniswap v4 pool: the protocol fee on selling token0.', Count),
      ),
      protocol_fee1_ppm: optional(
        describe('Of a Uniswap v4 pool: the protocol fee on selling token1.', Count),
      ),
    }),
  ),
  manager_address: optional(
    describe('The contract that manages the pool, if the pool is not a contract itself.', Address),
  ),
  is_native: optional(
    describe('True if the pool trades the native currency, shown here as its wrapped token.', boolean()),
  ),
  pool_key: optional(PoolKey),
} as const

/** The fields themselves, for stream records that include them among their own. */
export const poolStateFields = {
  block_number: Count,
  block_hash: Hash,
  block_time_ms: Ms,
  verified_at_ms: Ms,
  finality: Finality,
  ...holdingFields,
  from: Address,
  to: Address,
  marginal: describe('Y per X without the fee, in whole tokens.', nullable(ExactValue)),
  evidence: nullable(Evidence),
  depth: nullable(Depth),
  depth_reason: optional(describe('Why depth is null.', RejectionRule)),
  score: Score,
  components: EdgeComponents,
  caps: array(Cap),
  past: optional(Past),
  backing: optional(Backing),
  reason: describe('The rule the pool fails; null if it passes all of them.', nullable(RejectionRule)),
  differences: optional(array(Difference)),
  stream_sequence: optional(
    describe('The sequence of the record with this state; on the stream it is in the envelope.', Sequence),
  ),
} as const

export const PoolState = object({
  ...poolStateFields,
  presented: optional(
    describe(
      'True if score, feed and reason are as of now instead of as stored, because the feed is gone.',
      boolean(),
    ),
  ),
})
export type PoolState = Static<typeof PoolState>

/** A side of a pool, with its own price. */
export const PoolToken = object({
  token_address: Address,
  token_id: Id,
  symbol: optional(nullable(string())),
  decimals: optional(nullable(Decimals)),
  price: describe('Null before it is first evaluated.', nullable(CompactState)),
})
export type PoolToken = Static<typeof PoolToken>

/** The parts of a pool's state that depend on when it is read. */
const PoolReading = object({
  at_ms: Ms,
  verified_at_ms: Ms,
  freshness: object({ score: Score, age_ms: Ms, ttl_ms: Ms }),
  feed: object({ score: Score, status: FeedStatus }),
  score: Score,
  reason: nullable(RejectionRule),
})

export const poolFields = {
  chain_id: ChainId,
  pool_address: PoolAddress,
  pool_id: Id,
  manager_address: optional(
    describe('The contract that manages the pool, if the pool is not a contract itself.', Address),
  ),
  family: Family,
  deployment_id: string(),
  fee_ppm: Count,
  token0: PoolToken,
  token1: PoolToken,
  created_block: nullable(Count),
  state: describe('Null before it is first evaluated.', nullable(PoolState)),
  reading: optional(
    describe(
      'In the snapshot, whose state is as committed: freshness, feed and score as of now.',
      PoolReading,
    ),
  ),
} as const

export const Pool = object(poolFields)
export type Pool = Static<typeof Pool>

/** One page of the snapshot: its rows and its position belong to the same moment. */
export const PoolPage = object({
  pools: array(Pool),
  next_cursor: NextCursor,
  snapshot_sequence: Sequence,
  feeds: optional(
    describe(
      'The current feeds of the requested chains. Rows are as committed: if a feed is GAP or UNAVAILABLE, their prices are not valid.',
      array(Feed),
    ),
  ),
})
export type PoolPage = Static<typeof PoolPage>

/** Query of GET /v1/pools; `token_address` needs `chain_id`. */
export const PoolsQuery = strictObject({
  chain_id: optional(ChainId),
  token_address: optional(AddressInput),
  ...pageQueryFields,
})
export type PoolsQuery = Static<typeof PoolsQuery>

/** Path of everything about one pool. */
export const PoolPath = strictObject({ chain_id: ChainId, pool_address: PoolAddressInput })
export type PoolPath = Static<typeof PoolPath>
