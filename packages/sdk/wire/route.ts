/** A route from a token to a stable, hop by hop, with all inputs of its price and score. */
import { Family } from './chain.ts'
import { Cap, Backing, EdgeComponents, Finality, Past, RouteComponents } from './confidence.ts'
import { Address, Id, PoolAddress } from './identifier.ts'
import { Depth, Evidence, holdingFields } from './pool.ts'
import { STABLE_STATUSES } from './price.ts'
import { Count, Decimals, ExactValue, Microusd, Ms, PlainDecimal, Score, Unsigned } from './quantity.ts'
import { RejectionRule, RouteReason } from './reason.ts'
import { array, boolean, describe, known, nullable, object, optional, type Static, string } from './schema.ts'

/** The rule a candidate failed, the value it had and the value it needed, in the unit of that rule. */
export const failureFields = {
  rule: RejectionRule,
  actual: nullable(string()),
  required: nullable(string()),
} as const
const Failure = object(failureFields)

/** A pool traversed from X to Y. */
export const Hop = object({
  pool_id: Id,
  pool_address: PoolAddress,
  family: Family,
  deployment_id: string(),
  fee_ppm: Count,
  from: Address,
  to: Address,
  from_decimals: nullable(Decimals),
  to_decimals: nullable(Decimals),
  ratio: describe('Y per X from the evidence, in whole tokens.', nullable(ExactValue)),
  evidence: nullable(Evidence),
  marginal: nullable(ExactValue),
  ...holdingFields,
  depth: nullable(Depth),
  depth_reason: optional(describe('Why depth is null.', RejectionRule)),
  verified_at_ms: describe('Freshness and expiry count from here.', Ms),
  quiet_since_ms: describe('Its last trade, or when tracking began if there was none.', Ms),
  last_trade_ms: optional(describe('Its last trade of a useful size; null if none is known.', nullable(Ms))),
  past: optional(Past),
  backing: optional(Backing),
  jump_since_ms: describe(
    'When a jump in magnitude began that has not lasted long enough yet.',
    nullable(Ms),
  ),
  settled: describe('The least state score of the pool and of both decimals readings.', Score),
  score: Score,
  components: EdgeComponents,
  caps: array(Cap),
  failure: optional(Failure),
})
export type Hop = Static<typeof Hop>

/** One of two stables that pools compare, with the value its feed gives. */
const DisputeParty = object({
  token_address: Address,
  usd: ExactValue,
  source: known(['CHAINLINK', 'LAST', 'NOMINAL']),
})

/**
 * Pools of the pair x→y that contradict the ratio of the two answers: `STABLE_DISPUTED` caps the stable that carries
 * this field.
 */
export const StableDispute = object({
  x: DisputeParty,
  y: DisputeParty,
  market: describe(
    'The ratio of the pools, y per x: the weighted median of their five-minute medians.',
    ExactValue,
  ),
  deviation_bps: PlainDecimal,
  cap: Score,
  pools: array(
    object({
      pool_id: Id,
      median: ExactValue,
      l_eff_y: describe('The weight: effective depth in units of y.', Unsigned),
      average_microusd: describe('The 30-minute average of its depth.', Microusd),
    }),
  ),
})
export type StableDispute = Static<typeof StableDispute>

/** The dollar feed a routing asset is compared with; it caps the score and never sets the price. */
export const UsdFeed = object({
  usd: ExactValue,
  updated_at_ms: Ms,
  heartbeat_ms: Ms,
  grace_ms: Ms,
  deviation_bps: describe('Deviation of the fee-free price from the answer.', PlainDecimal),
})

/** The stable a route ends in, and the guarded answer used for it. */
export const StableAnswer = object({
  token_address: Address,
  usd: ExactValue,
  source: known(['CHAINLINK', 'LAST', 'NOMINAL']),
  status: known(STABLE_STATUSES),
  updated_at_ms: nullable(Ms),
  finality: Finality,
  score: optional(Score),
  caps: optional(array(Cap)),
  disputes: optional(array(StableDispute)),
})

export const Route = object({
  route_id: string(),
  selected: boolean(),
  accepted: boolean(),
  material: boolean(),
  reason: describe('Why it was not accepted.', nullable(RouteReason)),
  failure: optional(Failure),
  weight_microusd: Microusd,
  capacity_microusd: Microusd,
  price_usd: nullable(ExactValue),
  stable: nullable(StableAnswer),
  score: Score,
  components: RouteComponents,
  caps: array(Cap),
  hops: array(Hop),
})
export type Route = Static<typeof Route>
