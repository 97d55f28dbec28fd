/**
 * Quotes. A token's quote is PRICED, UNPRICED (evaluated, no usable price) or PENDING (202: not evaluated yet). Only
 * the first has a price, and none of them is an error.
 *
 * A priced quote contains the full quotes of the routing assets it used.
 */
import { AsOf, BlockPosition } from './block.ts'
import { Cap, SCORE_LABELS } from './confidence.ts'
import { QuoteErrorBody } from './error.ts'
import { Address, AddressInput, ChainId } from './identifier.ts'
import { poolFields } from './pool.ts'
import {
  CompactPriced,
  CompactUnpriced,
  compactPricedFields,
  compactUnpricedFields,
  presentedFields,
  PriceChange,
  Sellability,
} from './price.ts'
import { Count, ExactValue, Microusd, Ms, PlainDecimal, Score } from './quantity.ts'
import { failureFields, Hop, Route, StableDispute, UsdFeed } from './route.ts'
import {
  array,
  boolean,
  describe,
  enumeration,
  integer,
  literal,
  named,
  nullable,
  object,
  optional,
  pattern,
  reference,
  type Schema,
  type Static,
  strictObject,
  string,
  union,
} from './schema.ts'

/** `COMPUTED` for an answer made on demand, `RETRIEVED` for the last record. */
export const QuoteSource = enumeration(['COMPUTED', 'RETRIEVED'])

/** A pool or route that came close to a price, the rule it failed, and the values. */
export const Candidate = object({ route_id: string(), hops: array(Hop), ...failureFields })

const headFields = {
  chain_id: ChainId,
  token: Address,
  source: QuoteSource,
  last_trade_ms: nullable(Ms),
  sellability: optional(
    describe('Null for a stable or a routing asset, which is not probed.', nullable(Sellability)),
  ),
} as const

/** The reference of a price (`PRICE_JUMP`): the median of the token's own pools over up to an hour. */
export const OwnPast = object({
  covered_ms: Ms,
  reference_usd: describe('At the present value of its anchors.', nullable(ExactValue)),
  marginal_usd: describe('The price along the selected route, without fees.', ExactValue),
  deviation_bps: nullable(PlainDecimal),
})

const pricedFields = {
  ...compactPricedFields,
  ...headFields,
  own_past: optional(nullable(OwnPast)),
  routes: array(Route),
  usd_feed: optional(
    describe(
      'Of a routing asset that is compared with a feed; null while the feed is silent.',
      nullable(UsdFeed),
    ),
  ),
  disputes: optional(describe('Of a stable that pools dispute.', array(StableDispute))),
} as const

const unpricedFields = { ...compactUnpricedFields, ...headFields, candidates: array(Candidate) } as const

/** A routing asset as valued for a quote: it is not a record of its own, so it has no sequence. */
const inside = { as_of: BlockPosition } as const
const AssetFields = object({ ...pricedFields, ...inside })
interface PricedAsset extends Static<typeof AssetFields> {
  readonly routing_assets: readonly AssetQuote[]
}
const UnpricedAsset = object({ ...unpricedFields, ...inside })
export type AssetQuote = PricedAsset | Static<typeof UnpricedAsset>

/** It may itself use other assets: the only schema that refers to itself. */
export const AssetQuote: Schema<AssetQuote> = named(
  'AssetQuote',
  union(
    object({
      ...pricedFields,
      ...inside,
      routing_assets: array(reference<AssetQuote>('AssetQuote')),
    }),
    UnpricedAsset,
  ),
)

export const PricedQuote = object({
  ...pricedFields,
  change: describe(
    'Change from our own published price at that time, in basis points; null without one.',
    nullable(PriceChange),
  ),
  routing_assets: describe('The routing assets that the routes use, in full.', array(AssetQuote)),
})
export type PricedQuote = Static<typeof PricedQuote>

export const UnpricedQuote = object({ ...unpricedFields, ...presentedFields })
export type UnpricedQuote = Static<typeof UnpricedQuote>

/** The 200 response of GET /v1/quote/token. */
export const EvaluatedQuote = union(PricedQuote, UnpricedQuote)
export type EvaluatedQuote = Static<typeof EvaluatedQuote>

const { support: _support, confidence: _confidence, ...shortPricedFields } = compactPricedFields
const shortHeadFields = { chain_id: ChainId, token: Address, source: QuoteSource } as const

/** With `view=compact`: the compact state without the components of the score and the range of accepted prices. */
export const CompactQuote = union(
  object({
    ...shortHeadFields,
    ...shortPricedFields,
    confidence: object({ score: Score, label: enumeration(SCORE_LABELS), caps: array(Cap) }),
  }),
  object({ ...shortHeadFields, ...compactUnpricedFields, ...presentedFields }),
)
export type CompactQuote = Static<typeof CompactQuote>

/** The 200 response of GET /v1/quote/token, in either view. */
export const AnyQuote = union(PricedQuote, UnpricedQuote, CompactQuote)
export type AnyQuote = Static<typeof AnyQuote>

/** The 202 response of GET /v1/quote/token: work is under way, and there is no price yet. */
export const PendingQuote = object({
  state: literal('PENDING'),
  chain_id: ChainId,
  token: Address,
  stage: enumeration(['DISCOVERY', 'EVALUATION']),
  retry_after_ms: Ms,
})
export type PendingQuote = Static<typeof PendingQuote>

export type TokenQuote = EvaluatedQuote | PendingQuote

const DeadlineMs = integer({ minimum: 100, maximum: 10_000 })

/** Query of GET /v1/quote/token. The last three narrow the routes; a narrowed answer is never logged. */
export const TokenQuoteQuery = strictObject({
  max_age_ms: optional(Ms),
  deadline_ms: optional(DeadlineMs),
  max_hops: optional(integer({ minimum: 1, maximum: 3 })),
  min_depth_usd: optional(Count),
  view: optional(
    describe(
      'compact: only the state and its ids, below 2 kB. full, the default: with all its evidence.',
      enumeration(['full', 'compact']),
    ),
  ),
  exclude_pools: optional(
    describe(
      'Pool addresses, separated by commas.',
      pattern('^0x[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?(?:,0x[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?)*$'),
    ),
  ),
})
export type TokenQuoteQuery = Static<typeof TokenQuoteQuery>

/** The ratio in one direction. The reverse is the exact reciprocal of the evidence, not an executable quote. */
export const Orientation = object({
  from: Address,
  to: Address,
  ratio: nullable(ExactValue),
  marginal: nullable(ExactValue),
  reciprocal: boolean(),
})

/** The amounts that move the price by this step; null when the known ticks do not reach that far. */
export const DepthStep = object({
  percent: Count,
  up_microusd: nullable(Microusd),
  down_microusd: nullable(Microusd),
})

/**
 * GET /v1/quote/pool: the pool, its ratio in both directions, the price of each side, and its depth at 1, 2, 5, 10%.
 */
export const PoolQuote = object({
  ...poolFields,
  source: QuoteSource,
  ratios: array(Orientation),
  prices: object({ token0_usd: nullable(ExactValue), token1_usd: nullable(ExactValue) }),
  depth_ladder: array(DepthStep),
  as_of: AsOf,
  policy_version: string(),
})
export type PoolQuote = Static<typeof PoolQuote>

/** Query of GET /v1/quote/pool. */
export const PoolQuoteQuery = strictObject({ deadline_ms: optional(DeadlineMs), max_age_ms: optional(Ms) })
export type PoolQuoteQuery = Static<typeof PoolQuoteQuery>

export const MAX_BATCH_TOKENS = 100

/** Body of POST /v1/quote/tokens. */
export const BatchRequest = strictObject({
  tokens: array(strictObject({ chain_id: ChainId, token_address: AddressInput }), {
    minItems: 1,
    maxItems: MAX_BATCH_TOKENS,
  }),
  min_score: optional(Score),
})
export type BatchRequest = Static<typeof BatchRequest>

/** Either `quote` or `error`. */
const BatchEntry = union(
  object({
    chain_id: ChainId,
    token_address: Address,
    quote: union(CompactPriced, CompactUnpriced, PendingQuote),
  }),
  object({ chain_id: ChainId, token_address: Address, error: QuoteErrorBody }),
)

/** In the order of the request, all from one snapshot. */
export const BatchResponse = object({ quotes: array(BatchEntry) })
export type BatchResponse = Static<typeof BatchResponse>
