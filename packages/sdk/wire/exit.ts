/**
 * The proceeds of selling a token: GET /v1/exit. Each sale is a list of swaps, with every pool at most once; executed
 * on the state of `as_of` in that order, they pay the stated amounts. A sale without an answer has nulls and the
 * reason.
 */
import { AsOf } from './block.ts'
import { SCORE_LABELS } from './confidence.ts'
import { Address, ChainId, Id, PoolAddress } from './identifier.ts'
import { SellabilityHead } from './price.ts'
import { ExactValue, Microusd, Ms, Score, Unsigned } from './quantity.ts'
import {
  array,
  describe,
  enumeration,
  known,
  literal,
  nullable,
  object,
  optional,
  pattern,
  type Static,
  strictObject,
  string,
} from './schema.ts'

const SIZES = 8

/** Query of GET /v1/exit: at most one of the two; without either, 100, 1,000 and 10,000 dollars. */
export const ExitQuery = strictObject({
  usd: optional(
    describe(
      `Sizes in dollars at the published price, separated by commas; at most ${SIZES}.`,
      pattern('^[0-9.]+(?:,[0-9.]+)*$'),
    ),
  ),
  amount: optional(
    describe(
      `Sizes in the smallest units of the token, separated by commas; at most ${SIZES}.`,
      pattern('^[0-9]+(?:,[0-9]+)*$'),
    ),
  ),
})
export type ExitQuery = Static<typeof ExitQuery>

const SoldThrough = object({
  pool_id: Id,
  pool_address: PoolAddress,
  from: Address,
  to: Address,
  amount_in: Unsigned,
  amount_out: Unsigned,
})

const Sale = object({
  asked_microusd: describe(
    'The requested size in dollars; null if it was requested in units.',
    nullable(Microusd),
  ),
  amount: Unsigned,
  reason: describe(
    'Why there is no result for this size: the accepted routes cannot absorb it, or nothing would come out.',
    nullable(known(['LIQUIDITY_EXCEEDED', 'TOO_SMALL'])),
  ),
  proceeds: nullable(array(object({ token_address: Address, amount: Unsigned }))),
  proceeds_microusd: nullable(Microusd),
  average_price_usd: nullable(ExactValue),
  distance_bps: describe(
    'Deviation of the average price from price_usd; negative if below it.',
    nullable(pattern('^-?(?:0|[1-9][0-9]*)(?:\\.[0-9]*[1-9])?$')),
  ),
  split: describe(
    'The share of the token sold through each route.',
    array(object({ route_id: string(), amount: Unsigned })),
  ),
  swaps: describe('In order of execution.', array(SoldThrough)),
})

const Largest = nullable(object({ amount: Unsigned, worth_microusd: Microusd }))

/** The 200 response of GET /v1/exit. */
export const Exit = object({
  chain_id: ChainId,
  token: Address,
  source: literal('COMPUTED'),
  price_usd: ExactValue,
  confidence: object({ score: Score, label: enumeration(SCORE_LABELS) }),
  sellability: optional(
    describe(
      'Whether the token can be sold, and its tax on a sale: `sell_tax_bps` is deducted before the first pool. Null for a routing asset, which is not probed.',
      nullable(SellabilityHead),
    ),
  ),
  sales: array(Sale),
  largest: describe(
    'The largest sale found whose average price is at most 1% and 5% below price_usd, to a thousandth; null if even one dollar exceeds it.',
    object({ bps_100: Largest, bps_500: Largest }),
  ),
  expires_at_ms: nullable(Ms),
  as_of: AsOf,
  policy_version: string(),
})
export type Exit = Static<typeof Exit>
