/**
 * Confidence: a weakest-link score from 0 to 10 with its components, each with the inputs it was computed from, and
 * the caps in force. The score is the minimum of all of them. It is not a probability.
 */
import { FeedStatus } from './health.ts'
import { Count, ExactValue, Microusd, Ms, PlainDecimal, Score, Unsigned } from './quantity.ts'
import { CapCode } from './reason.ts'
import {
  array,
  boolean,
  describe,
  enumeration,
  known,
  map,
  nullable,
  object,
  optional,
  type Static,
  union,
} from './schema.ts'

export const SCORE_LABELS = ['Unusable', 'Low', 'Medium', 'High', 'Very high'] as const

/** `unverified` state prices nothing; `finalized` state cannot be removed by a reorganisation. */
export const Finality = enumeration(['unverified', 'canonical', 'finalized'])

export const Cap = object({ code: CapCode, cap: Score })

const Scored = object({ score: Score })

const agreementFields = {
  score: Score,
  sources: Count,
  deployments: Count,
  spread_bps: PlainDecimal,
  retained_weight_bps: Count,
} as const

/** Agreement among a pair's pools. */
export const Agreement = object(agreementFields)

/** Agreement among a token's sources. */
export const PathAgreement = object({
  ...agreementFields,
  source_score: optional(describe('The combined score of the sources.', Score)),
})

/** What was read of a pool's time before it was followed, and how far to trust that history. */
export const Past = object({
  kind: describe(
    'READ: folded from the logs of 35 minutes; SHORT: from their first event only; UNREAD: not available.',
    known(['READ', 'SHORT', 'UNREAD']),
  ),
  read_at_ms: describe('The time of the block it was read at; blocks are followed from there on.', Ms),
  is_proven: describe('Whether it was proven that no log is missing.', boolean()),
  times: known(['EXACT', 'INTERPOLATED']),
  traded_by_ms: describe('The last trade before that block was no later than this.', nullable(Ms)),
})

/**
 * A pool's holdings when its balances were last read, and the amounts it accounts for: a pair's reserves, or what v3
 * would pay out down to 2%.
 */
export const Backing = object({
  balance0: Unsigned,
  balance1: Unsigned,
  against0: Unsigned,
  against1: Unsigned,
  read_at_ms: describe('The time of the block they were read at.', Ms),
  excess_since_ms: describe('Since when it held slightly too much; null if it does not.', nullable(Ms)),
})

/** The components of the score of a pool, and of a hop through it; the score is their minimum. */
export const EdgeComponents = object({
  depth: object({ score: Score, l_eff: nullable(Microusd) }),
  freshness: object({ score: Score, age_ms: Ms, ttl_ms: Ms }),
  agreement: Agreement,
  temporal: object({
    score: Score,
    covered_ms: Ms,
    median: describe('Y per X in whole tokens.', nullable(ExactValue)),
    deviation_bps: nullable(PlainDecimal),
  }),
  feed: object({ score: Score, status: FeedStatus }),
  state: object({ score: Score, finality: Finality }),
  stable: optional(Scored),
  coverage: optional(
    object({ score: Score, anchors_microusd: Microusd, external_microusd: nullable(Microusd) }),
  ),
})
export type EdgeComponents = Static<typeof EdgeComponents>

/** The score of a route is the minimum of those of its hops and of the asset it continues on. */
export const RouteComponents = map(Scored)

/** Components of a token's published score. */
export const PathComponents = object({
  path_agreement: PathAgreement,
  material_routes: object({ score: Score, routes: Count }),
  aggregate_state: Scored,
})

/** Components of a stable's own score; a stable has no routes. */
export const StableComponents = object({ stable: Scored, feed: Scored, state: Scored })

export const Confidence = object({
  score: Score,
  label: enumeration(SCORE_LABELS),
  components: union(PathComponents, StableComponents),
  caps: array(Cap),
})
export type Confidence = Static<typeof Confidence>
