/**
 * The compact price state of a token: used by the stream, the snapshot and the lists, and at the head of the full
 * quote. The last one published is the price, until the next one or until `expires_at_ms`.
 */
import { AsOf } from './block.ts'
import { Confidence } from './confidence.ts'
import { Address, Hash, Id } from './identifier.ts'
import { Family } from './chain.ts'
import { PoolKey } from './poolKey.ts'
import { Count, ExactValue, Microusd, Ms, PlainDecimal, Score, Sequence, Unsigned } from './quantity.ts'
import { UnpricedReason } from './reason.ts'
import {
  array,
  boolean,
  describe,
  enumeration,
  integer,
  known,
  literal,
  nullable,
  object,
  optional,
  type Static,
  string,
  union,
} from './schema.ts'

/** Discovered and not evaluated yet, priced, or evaluated without a usable price. */
export const TokenState = enumeration(['PENDING', 'PRICED', 'UNPRICED'])

export const STABLE_STATUSES = ['OK', 'DEPEG', 'STALE', 'NOMINAL', 'SUSPENDED'] as const

/** The range of accepted prices: a diagnostic, not a probability interval. */
export const Support = object({
  low: ExactValue,
  high: ExactValue,
  accepted: Count,
  rejected: Count,
  retained_weight_bps: Count,
  tau_bps: PlainDecimal,
  mad_bps: PlainDecimal,
})

/** The weighted-median route, whose exact value is the price. */
export const SelectedRoute = object({
  route_id: describe('Pool ids joined by `-`.', string()),
  pool_ids: array(Id),
  weight_microusd: Microusd,
})

/** The stable the price ends in, and the value used for it. */
export const StableAnchor = object({
  token_address: Address,
  usd: ExactValue,
  status: known(STABLE_STATUSES),
})

export const SELLABILITY_STATUSES = ['SELLABLE', 'TAXED', 'UNSELLABLE', 'UNKNOWN'] as const

const taxBps = nullable(Count)

const sellabilityFields = {
  status: known(SELLABILITY_STATUSES),
  buy_tax_bps: describe(
    'The part of a pool’s payout that does not arrive; null if it was not measured.',
    taxBps,
  ),
  transfer_tax_bps: taxBps,
  sell_tax_bps: taxBps,
  reason: describe(
    'Why it is UNKNOWN or UNSELLABLE, or another result: NOT_YET, NO_PATH, NO_OVERRIDES, OUT_OF_GAS, BUY_REVERTED, SELL_REVERTED, SELL_RESTRICTED, SIZE_LIMITED, TRANSFER_REVERTED.',
    nullable(string()),
  ),
} as const

/** The result of a simulated purchase, transfer and sale: the status, the taxes, and the reason. */
export const SellabilityHead = object(sellabilityFields)
export type SellabilityHead = Static<typeof SellabilityHead>

/** The same result with everything needed to run it again. */
export const Sellability = object({
  ...sellabilityFields,
  pool_id: describe('The pool of the simulated trades; null if there was none.', nullable(Id)),
  block_number: nullable(Count),
  block_hash: nullable(Hash),
  checked_at_ms: describe(
    'Time of the check. A later check with the same result is not published.',
    nullable(Ms),
  ),
  method: nullable(known(['CALL_OVERRIDE', 'SIMULATE', 'TRANSFER_LOGS'])),
  path: describe(
    'The pools from wrapped native to the token, the last one that of `pool_id`.',
    array(
      object({
        pool_id: Id,
        family: Family,
        fee_ppm: Count,
        manager_address: optional(
          describe('The contract that manages the pool, if the pool is not a contract itself.', Address),
        ),
        wrapped_address: optional(
          describe(
            'The token that wraps its currency 0 if that is the native one, else null.',
            nullable(Address),
          ),
        ),
        pool_key: optional(PoolKey),
      }),
    ),
  ),
  sizes: describe('The amounts spent on the two purchases, in wei of native currency.', array(Unsigned)),
  revert: describe('The message or the selector of the revert.', nullable(string())),
})
export type Sellability = Static<typeof Sellability>

/** The fields themselves, for records that include them among their own. */
export const compactPricedFields = {
  state: literal('PRICED'),
  price_usd: ExactValue,
  confidence: Confidence,
  support: describe("Null for a stable's own price.", nullable(Support)),
  selected: describe("Null for a stable's own price.", nullable(SelectedRoute)),
  stable: StableAnchor,
  sellability: optional(
    describe(
      'Null for a stable or a routing asset, which is not probed. Absent from records written before this field existed.',
      nullable(SellabilityHead),
    ),
  ),
  evaluated_at_ms: Ms,
  as_of: AsOf,
  expires_at_ms: describe('From this time on the state counts as UNPRICED ROUTE_EXPIRED.', nullable(Ms)),
  policy_version: string(),
} as const

/** The last price of a token that has none now, and the record that published it. */
export const LastPriced = object({
  price_usd: ExactValue,
  score: Score,
  at_ms: Ms,
  stream_sequence: Sequence,
})
export type LastPriced = Static<typeof LastPriced>

export const compactUnpricedFields = {
  state: literal('UNPRICED'),
  reason: UnpricedReason,
  evaluated_at_ms: Ms,
  as_of: AsOf,
  policy_version: string(),
  last_priced: optional(
    describe(
      'The last price of the token in the log, and its record; null if there was none. Absent from records written before this field existed.',
      nullable(LastPriced),
    ),
  ),
} as const

/** Fields that a reader adds to a state presented over the stored record; the stream never has them. */
export const presentedFields = {
  presented: optional(
    describe(
      'True if this state was derived when it was read, because the feed is gone or the price has expired; the stored record is unchanged.',
      boolean(),
    ),
  ),
} as const

export const CompactPriced = object(compactPricedFields)
export type CompactPriced = Static<typeof CompactPriced>

/** A completed evaluation without a usable price: not zero, and not an error. */
export const CompactUnpriced = object({ ...compactUnpricedFields, ...presentedFields })
export type CompactUnpriced = Static<typeof CompactUnpriced>

export const CompactState = union(CompactPriced, CompactUnpriced)
export type CompactState = Static<typeof CompactState>

/** The change of a price against the prices published an hour and a day before its evaluation. */
export const PriceChange = object({ h1_bps: nullable(integer()), h24_bps: nullable(integer()) })
export type PriceChange = Static<typeof PriceChange>
