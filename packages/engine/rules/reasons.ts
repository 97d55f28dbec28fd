/**
 * The closed sets of reason codes. Every refusal of the engine is one of these codes, with its numbers. A code that
 * nothing can produce, or a rule that refuses without a code, is a mistake.
 */
import type { Score } from '../units.ts'

/** Why a route, or one of its hops, takes no part. */
export type Rejection =
  | 'FEE_TOO_HIGH'
  | 'DECIMALS_UNVERIFIED'
  | 'DECIMALS_CHANGED'
  | 'STATE_UNVERIFIED'
  | 'NO_ACTIVE_LIQUIDITY'
  | 'DEPTH_UNKNOWN'
  | 'EVIDENCE_TOO_COARSE'
  | 'VALUE_IMBALANCE'
  | 'ANCHOR_UNPRICED'
  | 'STABLE_SUSPENDED'
  | 'BELOW_MIN_DEPTH'
  | 'EXPIRED'
  | 'FEED'
  | 'NO_ANCHOR'
  | 'CIRCULAR'
  | 'TOO_MANY_HOPS'
  | 'TOO_MANY_ROUTES'
  | 'NO_WEIGHT'
  | 'SCORE_ZERO'
  | 'TOO_LARGE'
  | 'UNSUPPORTED_FAMILY'
  | 'HOOK_UNSUPPORTED'

/** Why a qualified route was not accepted into the price. */
export type Exclusion = 'IMMATERIAL' | 'OUTLIER'

/** Why a token has no price. */
export type UnpricedReason =
  | 'ROUTE_EXPIRED'
  | 'NO_ROUTE'
  | 'FEED'
  | 'ANCHOR_UNPRICED'
  | 'STABLE_SUSPENDED'
  | 'DECIMALS'
  | 'OPERATOR'
  | 'NO_POOL'
  | 'DORMANT'

/** Why a published state was retracted. */
export type RetractReason =
  | Exclude<UnpricedReason, 'NO_POOL' | 'DORMANT'>
  | 'REORG'
  | 'POLICY'
  | 'POOL_ORPHANED'

/** A limit on a score that is not one of its components. */
export type Cap = { readonly code: CapCode; readonly cap: Score }

/** The same caps in the same order. */
export const isSameCaps = (a: readonly Cap[], b: readonly Cap[]): boolean =>
  a.length === b.length && a.every(({ code, cap }, at) => code === b[at]?.code && cap === b[at]?.cap)

export type CapCode =
  | 'SINGLE_POOL_PAIR'
  | 'SINGLE_SOURCE'
  | 'SINGLE_DEPLOYMENT'
  | 'NO_INDEPENDENT_CONSENSUS'
  | 'DISSENT'
  | 'INSUFFICIENT_HISTORY'
  | 'HISTORY_UNREAD'
  | 'HISTORY_SHORT'
  | 'NO_RECENT_TRADE'
  | 'MAGNITUDE_JUMP'
  | 'PRICE_JUMP'
  | 'STABLE_DEPEG'
  | 'STABLE_STALE'
  | 'STABLE_NOMINAL'
  | 'STABLE_SUSPENDED'
  | 'STABLE_DISPUTED'
  | 'ANCHOR_DISPUTED'
  | 'COVERAGE_UNKNOWN'
  | 'UNSELLABLE'
  | 'SELL_RESTRICTED'
  | 'TRANSFER_TAX'
  | 'SELLABILITY_UNKNOWN'
  | 'UNBACKED'
  | 'HOOK_FEE'

/** The rule a candidate failed, the value it had and the value it needed, in the unit of that rule. */
export type Failure = {
  readonly rule: Rejection
  readonly actual: string | null
  readonly required: string | null
}
