/**
 * The reason codes of the wire. Every refusal is one of these. Each list may grow, so a reader treats an unknown code
 * like the absence it explains.
 */
import { known, type Static } from './schema.ts'

/** Why a published state was retracted. */
export const RETRACT_REASONS = [
  'REORG',
  'ROUTE_EXPIRED',
  'NO_ROUTE',
  'FEED',
  'ANCHOR_UNPRICED',
  'STABLE_SUSPENDED',
  'DECIMALS',
  'POLICY',
  'OPERATOR',
  'POOL_ORPHANED',
] as const

/** Why a token has no price. */
export const UNPRICED_REASONS = [...RETRACT_REASONS, 'NO_POOL', 'DORMANT'] as const

/** The rule that a pool, hop or route failed. */
export const REJECTION_RULES = [
  'FEE_TOO_HIGH',
  'DECIMALS_UNVERIFIED',
  'DECIMALS_CHANGED',
  'STATE_UNVERIFIED',
  'NO_ACTIVE_LIQUIDITY',
  'DEPTH_UNKNOWN',
  'EVIDENCE_TOO_COARSE',
  'VALUE_IMBALANCE',
  'ANCHOR_UNPRICED',
  'STABLE_SUSPENDED',
  'BELOW_MIN_DEPTH',
  'EXPIRED',
  'FEED',
  'NO_ANCHOR',
  'CIRCULAR',
  'TOO_MANY_HOPS',
  'TOO_MANY_ROUTES',
  'NO_WEIGHT',
  'SCORE_ZERO',
  'TOO_LARGE',
  'UNSUPPORTED_FAMILY',
  'HOOK_UNSUPPORTED',
] as const

/** Why a route that qualified was not accepted into the price. */
export const EXCLUSIONS = ['IMMATERIAL', 'OUTLIER'] as const

export const CAP_CODES = [
  'SINGLE_POOL_PAIR',
  'SINGLE_SOURCE',
  'SINGLE_DEPLOYMENT',
  'NO_INDEPENDENT_CONSENSUS',
  'DISSENT',
  'INSUFFICIENT_HISTORY',
  'HISTORY_UNREAD',
  'HISTORY_SHORT',
  'NO_RECENT_TRADE',
  'MAGNITUDE_JUMP',
  'PRICE_JUMP',
  'STABLE_DEPEG',
  'STABLE_STALE',
  'STABLE_NOMINAL',
  'STABLE_SUSPENDED',
  'STABLE_DISPUTED',
  'ANCHOR_DISPUTED',
  'COVERAGE_UNKNOWN',
  'UNSELLABLE',
  'SELL_RESTRICTED',
  'TRANSFER_TAX',
  'SELLABILITY_UNKNOWN',
  'UNBACKED',
  'HOOK_FEE',
] as const

export const RetractReason = known(RETRACT_REASONS)
export const UnpricedReason = known(UNPRICED_REASONS)
export type UnpricedReason = Static<typeof UnpricedReason>
export const RejectionRule = known(REJECTION_RULES)
export const RouteReason = known([...REJECTION_RULES, ...EXCLUSIONS])
export const CapCode = known(CAP_CODES)
