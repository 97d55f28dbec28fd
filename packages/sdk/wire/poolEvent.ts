/**
 * A decoded log of a pool, keyed by (block_hash, log_index). A reorganisation does not delete the event: it remains
 * listed, and a swap is sent again, with finality `orphaned`.
 */
import { gapFields } from './history.ts'
import { Address, ChainId, Hash, Id } from './identifier.ts'
import { NextCursor, pageQueryFields } from './page.ts'
import { Count, Ms, Signed, Tick, Unsigned } from './quantity.ts'
import {
  array,
  describe,
  enumeration,
  literal,
  object,
  optional,
  type Static,
  strictObject,
  union,
} from './schema.ts'

export const POOL_EVENT_KINDS = [
  'SWAP',
  'MINT',
  'BURN',
  'SYNC',
  'INITIALIZE',
  'CREATED',
  'FEE',
  'MODIFY',
  'PROTOCOL_FEE',
] as const
type PoolEventKind = (typeof POOL_EVENT_KINDS)[number]

/** How the completeness of the block's logs was proven. */
export const Proof = enumeration(['receipts', 'digest', 'none'])

const of = <const Kind extends PoolEventKind>(kind: Kind) => ({
  chain_id: ChainId,
  pool_id: Id,
  kind: literal(kind),
  block_number: Count,
  block_hash: Hash,
  block_time_ms: Ms,
  transaction_hash: Hash,
  log_index: Count,
  finality: enumeration(['canonical', 'finalized', 'orphaned']),
  proof: Proof,
})

/** The amounts of the log itself: v2 logs both directions, v3 has signed amounts and the price after. */
export const SwapEvent = union(
  object({
    ...of('SWAP'),
    amount0_in: Unsigned,
    amount1_in: Unsigned,
    amount0_out: Unsigned,
    amount1_out: Unsigned,
  }),
  object({
    ...of('SWAP'),
    amount0: Signed,
    amount1: Signed,
    sqrt_price_x96: Unsigned,
    liquidity: Unsigned,
    tick: Tick,
    fee_ppm: optional(
      describe('Of a pool of Uniswap v4: the whole fee that was paid, the protocol’s in it.', Unsigned),
    ),
  }),
)
export type SwapEvent = Static<typeof SwapEvent>

/** A change of liquidity; range and liquidity are those of a v3 position. */
const liquidityFields = {
  amount0: Unsigned,
  amount1: Unsigned,
  tick_lower: optional(Tick),
  tick_upper: optional(Tick),
  liquidity: optional(Unsigned),
} as const

export const PoolEvent = union(
  SwapEvent,
  object({ ...of('MINT'), ...liquidityFields }),
  object({ ...of('BURN'), ...liquidityFields }),
  object({ ...of('SYNC'), reserve0: Unsigned, reserve1: Unsigned }),
  object({ ...of('INITIALIZE'), sqrt_price_x96: Unsigned, tick: Tick }),
  object({ ...of('FEE'), fee_ppm: Count }),
  object({
    ...of('CREATED'),
    token0: optional(Address),
    token1: optional(Address),
    fee_ppm: optional(Count),
  }),
  object({
    ...of('MODIFY'),
    tick_lower: Tick,
    tick_upper: Tick,
    liquidity_delta: describe('Of a pool of Uniswap v4: liquidity added, or where negative taken.', Signed),
  }),
  object({
    ...of('PROTOCOL_FEE'),
    protocol_fee: describe(
      'As the manager packs it: 12 bits for selling token0, and 12 above them for token1.',
      Unsigned,
    ),
  }),
)
export type PoolEvent = Static<typeof PoolEvent>

export const PoolEventPage = object({ events: array(PoolEvent), next_cursor: NextCursor, ...gapFields })
export type PoolEventPage = Static<typeof PoolEventPage>

/** Query of GET /v1/pools/{chain_id}/{pool_address}/events. */
export const PoolEventsQuery = strictObject({
  kind: optional(enumeration(POOL_EVENT_KINDS)),
  from_block: optional(Count),
  to_block: optional(Count),
  ...pageQueryFields,
})
export type PoolEventsQuery = Static<typeof PoolEventsQuery>
