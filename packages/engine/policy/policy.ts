/**
 * The policy object: every number of the pricing rules that an operator may change, with its default.
 *
 * It is a wire record (`GET /v1/policies/{policy_version}`, `policy:` in the configuration), hence the snake_case
 * keys and JSON-safe values. Values fixed by the specification (the 2% boundary, 67%, tau's clamp, depth and
 * freshness bands) are not here: they are constants in the files of their rules.
 */
import { count, type Count, ms, type Ms, score, type Score } from '../units.ts'

/** `[upper bound in basis points, inclusive, score]`, ascending; `beyond` applies after the last one. */
export type BpsBands = { readonly up_to: readonly (readonly [Count, Score])[]; readonly beyond: Score }

/** How far pools of two stables may contradict the feeds of both. */
export type StableDisputePolicy = {
  /** By their distance from the ratio of the answers. */
  readonly bands: BpsBands
  /** When only one pool disagrees and it is not `lone_average_usd` deep. */
  readonly thin_cap: Score
  /** A pool whose 30-minute average is below this takes no part. */
  readonly min_average_usd: Count
  /** A pool with at least this average needs no second one. */
  readonly lone_average_usd: Count
}

export type Policy = {
  /** Which vote applies: 2 for that of RULES.md, 1 for that of version 0.1 (`former.ts`). */
  readonly revision: Count
  readonly max_hops: Count
  readonly max_routes: Count
  /** Accepted routes of a routing asset that others may continue along. */
  readonly max_asset_routes: Count
  /**
   * A first-hop pool with less of the total weight than this is dust: not even its dissent counts. Revision 1: the
   * floor.
   */
  readonly observation_share_bps: Count
  /**
   * The floor of the vote is the first of these at which the voters carry `observation_kept_bps`, otherwise the last.
   */
  readonly observation_floors_bps: readonly Count[]
  readonly observation_kept_bps: Count
  /** Revision 1 only: a first-hop pool with at least this share of the accepted weight is a source, and material. */
  readonly source_share_bps: Count
  /** A first-hop pool whose best route is at most this far from the published price is a source. */
  readonly source_within_bps: Count
  /** A first-hop pool with at least this share of the accepted weight is material. */
  readonly material_share_bps: Count
  /** A pool that was left out of the vote and is further away than this caps the score. */
  readonly dissent: { readonly beyond_bps: Count; readonly cap: Score }
  readonly evidence: {
    readonly observed_tolerance_bps: Count
    /** Observed output over the adapter's own, in ten-thousandths. */
    readonly observed_output_share_bps: Count
    /** The reference input is the depth divided by this. */
    readonly reference_divisor: Count
    /** Least output of the reference input; in revision 1 also its least input. */
    readonly reference_min_units: Count
    readonly reference_min_input: { readonly amm_v2: Count; readonly amm_v3: Count }
  }
  readonly ttl_ms: { readonly default: Ms; readonly by_chain: Readonly<Record<string, Ms>> }
  /** Caps by the age of the last real swap, longest last. */
  readonly trade_age_caps: readonly { readonly over_ms: Ms; readonly cap: Score }[]
  /**
   * The value from which a swap counts as a trade, and the cap while no trade is known. Revision 1: every swap
   * counts.
   */
  readonly trade: { readonly min_usd: Count; readonly unknown_cap: Score }
  readonly min_depth_usd: Count
  readonly fee_ceiling_ppm: Count
  readonly imbalance_ratio: Count
  readonly depth_asymmetry: Count
  readonly jump: { readonly ratio: Count; readonly hold_ms: Ms; readonly cap: Score }
  readonly republish: { readonly move_bps: Count; readonly interval_ms: Ms }
  readonly agreement: {
    /** Score by number of verified pools of the pair: 1, 2, 3, …; the last one applies beyond. */
    readonly edge_sources: readonly Score[]
    readonly path_sources: readonly Score[]
    /** The cap for sources that all belong to one deployment. */
    readonly single_deployment_cap: Score
    readonly spread: BpsBands
    /** `[lower bound in basis points of retained weight, score]`, descending. */
    readonly retained: readonly (readonly [Count, Score])[]
  }
  readonly stable: {
    readonly depeg: BpsBands
    readonly stale_cap: Score
    readonly nominal_cap: Score
    /** A last value further than this from 1 is never replaced by the nominal 1. */
    readonly nominal_limit_bps: Count
    readonly sequencer_grace_ms: Ms
    readonly dispute: StableDisputePolicy
  }
  /** By the distance of a routing asset's price from its own dollar feed. */
  readonly anchor_dispute: BpsBands
  /** Caps by the result of a simulated sale. Not read in revision 1. */
  readonly sellability: {
    readonly unsellable_cap: Score
    /** Our sale fails, though others' sales were seen. */
    readonly restricted_cap: Score
    readonly unknown_cap: Score
    /** By the greater of the taxes on a sale and on a transfer. */
    readonly tax: BpsBands
  }
  /** How far the balances of a pool may be below, or above, the amounts it accounts for. Not read in revision 1. */
  readonly backing: { readonly below_bps: Count; readonly above_bps: Count; readonly cap: Score }
  readonly coverage: { readonly unknown_cap: Score; readonly max_age_ms: Ms }
  /** Blocks of undo kept while finality is behind; a deeper reorganisation halts the chain. */
  readonly max_undo_blocks: Count
}

const MINUTE = 60_000
const DAY = 86_400_000

export const DEFAULT_POLICY: Policy = {
  revision: count(2),
  max_hops: count(3),
  max_routes: count(64),
  max_asset_routes: count(8),
  observation_share_bps: count(200),
  observation_floors_bps: [count(1000), count(500), count(200), count(0)],
  observation_kept_bps: count(9000),
  source_share_bps: count(1000),
  source_within_bps: count(200),
  material_share_bps: count(3400),
  dissent: { beyond_bps: count(1000), cap: score(4) },
  evidence: {
    observed_tolerance_bps: count(50),
    observed_output_share_bps: count(9999),
    reference_divisor: count(1000),
    reference_min_units: count(10_000),
    reference_min_input: { amm_v2: count(1), amm_v3: count(200) },
  },
  ttl_ms: { default: ms(30 * MINUTE), by_chain: { '1': ms(60 * MINUTE), '42161': ms(60 * MINUTE) } },
  trade_age_caps: [
    { over_ms: ms(DAY), cap: score(6) },
    { over_ms: ms(7 * DAY), cap: score(3) },
  ],
  trade: { min_usd: count(10), unknown_cap: score(6) },
  min_depth_usd: count(50),
  fee_ceiling_ppm: count(30_000),
  imbalance_ratio: count(10),
  depth_asymmetry: count(1000),
  jump: { ratio: count(100), hold_ms: ms(30 * MINUTE), cap: score(1) },
  republish: { move_bps: count(10), interval_ms: ms(10_000) },
  agreement: {
    edge_sources: [score(8), score(9), score(10)],
    path_sources: [score(5), score(8), score(9), score(10)],
    single_deployment_cap: score(7),
    spread: {
      up_to: [
        [count(25), score(10)],
        [count(50), score(8)],
        [count(100), score(6)],
        [count(200), score(5)],
        [count(500), score(4)],
        [count(1000), score(3)],
      ],
      beyond: score(2),
    },
    retained: [
      [count(10_000), score(10)],
      [count(9000), score(8)],
      [count(8000), score(6)],
      [count(6700), score(5)],
    ],
  },
  stable: {
    depeg: {
      up_to: [
        [count(50), score(10)],
        [count(200), score(6)],
        [count(500), score(3)],
      ],
      beyond: score(0),
    },
    stale_cap: score(4),
    nominal_cap: score(3),
    nominal_limit_bps: count(200),
    sequencer_grace_ms: ms(3_600_000),
    dispute: {
      bands: {
        up_to: [
          [count(100), score(10)],
          [count(500), score(3)],
        ],
        beyond: score(1),
      },
      thin_cap: score(6),
      min_average_usd: count(250_000),
      lone_average_usd: count(2_500_000),
    },
  },
  anchor_dispute: {
    up_to: [
      [count(200), score(10)],
      [count(500), score(6)],
    ],
    beyond: score(3),
  },
  sellability: {
    unsellable_cap: score(1),
    restricted_cap: score(3),
    unknown_cap: score(7),
    tax: {
      up_to: [
        [count(50), score(10)],
        [count(300), score(6)],
      ],
      beyond: score(3),
    },
  },
  backing: { below_bps: count(50), above_bps: count(1000), cap: score(3) },
  coverage: { unknown_cap: score(8), max_age_ms: ms(DAY) },
  max_undo_blocks: count(8192),
}
