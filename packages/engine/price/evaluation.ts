/**
 * The findings of one evaluation: edges, routes, and the price of a token or the reason why it has none.
 *
 * An Evaluation is immutable. It shares its edges, and the routes of the routing assets it uses, with every other
 * evaluation of the same step. Compact record, full quote and committed data all come from it.
 */
import type { Fraction } from '../exact/fraction.ts'
import type { Ratio } from '../exact/ratio.ts'
import type { Address, BlockRef } from '../chain/block.ts'
import type { UnpricedPool } from '../chain/block.ts'
import type { FeedStatus } from '../input.ts'
import type { Derived, Outlook, Pool, PoolState, Sellability } from '../entities.ts'
import type { Count, Ms, Approx, Score } from '../units.ts'
import type { AnchorDispute } from '../rules/anchorDispute.ts'
import type { Coverage } from '../rules/coverage.ts'
import type { Freshness } from '../rules/freshness.ts'
import type { DisputePool, DisputeSide, StableDispute } from '../rules/stableDispute.ts'
import type { StableVerdict } from '../rules/stableGuard.ts'
import type { FeedTerms } from '../rules/feedAnswer.ts'
import type { OwnPast } from '../rules/priceJump.ts'
import type { Cap, Exclusion, Failure, Rejection, UnpricedReason } from '../rules/reasons.ts'
import type { Sellable } from '../rules/sellability.ts'

export type Finality = 'unverified' | 'canonical' | 'finalized'

/** A pool at one moment in its canonical orientation: a hop X→Y with its capacity and score. */
export type Edge = {
  readonly pool: Pool
  readonly state: PoolState
  readonly derived: Derived
  readonly averageY: bigint | null
  /** L_e in microdollars; null when Y has no price or depth is unknown. */
  readonly capacity: bigint | null
  /** The average of its depth still rises, so its capacity grows with time alone. */
  readonly isClimbing: boolean
  /** USD per whole Y used for `capacity`. */
  readonly toUsd: Fraction | null
  /** USD value of the smallest unit of Y, in microdollars; null while decimals are not verified. */
  readonly unitMicrousd: Fraction | null
  readonly finality: Finality
  /** The lowest state score of the pool and of the decimals readings used to scale it. */
  readonly settled: Score
  readonly verifiedMs: Ms
  readonly expiresAtMs: Ms
  readonly freshness: Freshness
  /** When time alone may change a component of this edge. */
  readonly dueMs: Ms
  readonly components: EdgeComponents
  readonly caps: readonly Cap[]
  readonly outlook: Outlook
  readonly score: Score
  /** The guard the hop failed; `failure` has the values. */
  readonly rule: Rejection | null
  readonly failure: Failure | null
}

export type EdgeComponents = {
  readonly depth: { readonly score: Score }
  readonly freshness: Freshness
  readonly agreement: Agreement
  readonly temporal: {
    readonly score: Score
    readonly median: Fraction | null
    readonly coveredMs: Ms
  }
  readonly feed: { readonly score: Score; readonly status: FeedStatus }
  readonly state: { readonly score: Score; readonly finality: Finality }
  readonly stable: { readonly score: Score } | null
  readonly coverage: Coverage | null
}

/** Agreement among the pools of a pair, or among the sources of a token. */
export type Agreement = {
  readonly score: Score
  readonly caps: readonly Cap[]
  /** The score of the sources alone, without spread and retained weight. */
  readonly bySources: Score
  readonly sources: Count
  readonly deployments: Count
  /** Greatest dev_bps of a survivor; `num` may be 0. */
  readonly spreadBps: Fraction
  readonly retainedBps: Count
  readonly unresolved: boolean
}

/** The feed of a routing asset and its effect on the price; null while the feed is silent. */
export type AssetFeedView = (AnchorDispute & { readonly terms: FeedTerms }) | null

/** One of two stables, with the findings of its guard. */
export type DisputeParty = DisputeSide & {
  readonly token: Address
  readonly source: StableVerdict['source']
}

/** The ratio in the pools of the pair x→y against the two feeds, with all inputs of the finding. */
export type ViewedDispute = StableDispute & {
  readonly x: DisputeParty
  readonly y: DisputeParty
  readonly pools: readonly DisputePool[]
}

/** A stable at one moment. */
export type StableView = StableVerdict & {
  readonly token: Address
  /** Disputes in which this stable is the disputed one. */
  readonly disputes: readonly ViewedDispute[]
  readonly finality: Finality
  readonly dueMs: Ms | null
}

/** A routing asset after the first hop, with the route that continues from it and its hops combined. */
export type Onward = {
  readonly asset: Valuation
  readonly route: Route
  /** The bit length of the longer side of its price. */
  readonly bits: Count
  /** The score of the route, or of the asset if that is lower. */
  readonly score: Score
  /** The lowest state score along the route, the stable's included. */
  readonly settled: Score
  readonly expiresAtMs: Ms
  /** The depth average of one of its hops still climbs. */
  readonly isClimbing: boolean
  /** Caps of its hops and of the asset itself. */
  readonly caps: readonly Cap[]
}

export type Route = {
  readonly id: string
  /** The token's own hop, then those of the routing assets. */
  readonly first: Edge
  readonly edges: readonly Edge[]
  readonly stable: StableView | null
  readonly via: Onward | null
  /** Price of the token along this route; null for a failed route. */
  readonly price: Fraction | null
  /** The approximation of that price. */
  readonly approx: Approx
  readonly capacity: bigint
  readonly weight: bigint
  readonly score: Score
  readonly failure: Failure | null
  readonly exclusion: Exclusion | null
  readonly material: boolean
}

/** A route under construction: an evaluation owns its routes until it is done, and fills these fields in place. */
export type RouteDraft = Omit<Route, Filled> & { -readonly [Field in Filled]: Route[Field] }
type Filled = 'weight' | 'failure' | 'exclusion' | 'material'

export type Priced = {
  readonly kind: 'PRICED'
  readonly token: Address
  readonly atMs: Ms
  readonly asOf: BlockRef
  readonly price: Ratio
  /** The selected route's fee-free price, used to decide whether the price has moved. */
  readonly marginalUsd: Fraction
  readonly score: Score
  readonly caps: readonly Cap[]
  readonly components: PublishedComponents
  readonly support: Support | null
  /** Null for a stable, and for a token that no moment has touched yet. */
  readonly ownPast: OwnPast | null
  readonly sellability: Sellability | Sellable | null
  readonly selected: Route | null
  /** All qualified routes: those that voted, then the dust; unordered within each part. */
  readonly routes: readonly Route[]
  readonly failed: { readonly nearest: readonly Route[] }
  readonly stable: StableView
  /** Undefined for a token without a feed to compare with; null while the feed is silent. */
  readonly usdFeed: AssetFeedView | undefined
  readonly expiresAtMs: Ms | null
  readonly dueMs: Ms | null
  readonly own: Own
}

export type PublishedComponents =
  | {
      readonly path_agreement: Agreement
      readonly material_routes: { readonly score: Score; readonly routes: Count }
      readonly aggregate_state: { readonly score: Score }
    }
  | {
      readonly stable: { readonly score: Score }
      readonly feed: { readonly score: Score }
      readonly state: { readonly score: Score }
    }

export type Support = {
  /** As the routes hold them; reduced only for output. */
  readonly low: Fraction
  readonly high: Fraction
  readonly accepted: Count
  readonly rejected: Count
  readonly retainedBps: Count
  readonly tauBps: bigint
  readonly madBps: Fraction
}

export type Unpriced = {
  readonly kind: 'UNPRICED'
  readonly token: Address
  readonly atMs: Ms
  readonly asOf: BlockRef
  readonly reason: UnpricedReason
  /** The candidates closest to a price first, each with the rule it failed. */
  readonly routes: readonly Route[]
  /** The token's pools of families that are not priced. */
  readonly elsewhere: readonly UnpricedPool[]
  readonly sellability: Sellability | Sellable | null
  readonly dueMs: Ms | null
  readonly own: Own
}

/** Values of the token's own hops. */
export type Own = {
  readonly lastTradeMs: Ms | null
  /** One of the hops is no longer in the best freshness band. */
  readonly isAged: boolean
}

export type Evaluation = Priced | Unpriced

/** A routing asset's evaluation in one step, with the routes tokens may continue along. */
export type Valuation = {
  readonly asset: Address
  readonly evaluation: Evaluation
  /** The accepted routes others may continue along, at most `max_asset_routes`, by weight. */
  readonly onward: readonly Onward[]
}
