/**
 * The policy object: every number of the pricing rules that an operator may change, with its default.
 *
 * It is a wire record (`GET /v1/policies/{policy_version}`, `policy:` in the configuration), hence the
 * snake_case keys and JSON-safe values. What the specification fixes (the 2% boundary, 67%, tau's clamp,
 * depth and freshness bands) is not here: it lives as constants beside the rule.
 */
import { count, type Count, ms, type Ms, score, type Score } from '../units.ts'

/** `[upper bound in basis points, inclusive, score]`, ascending; past the last one `beyond` holds. */
export type BpsBands = { readonly up_to: readonly (readonly [Count, Score])[]; readonly beyond: Score }

export type Policy = {
  readonly max_hops: Count
  readonly max_routes: Count
  /** Accepted routes of a routing asset that others may continue on. */
  readonly max_asset_routes: Count
  /** A first-hop pool with less of the total weight than this is dust and does not vote. */
  readonly observation_share_bps: Count
  /** A first-hop pool with at least this share of the accepted weight is a source, and material. */
  readonly source_share_bps: Count
  readonly evidence: {
    readonly observed_tolerance_bps: Count
    /** Observed output over the adapter's own, in ten-thousandths. */
    readonly observed_output_share_bps: Count
    /** The reference input is the depth divided by this. */
    readonly reference_divisor: Count
    readonly reference_min_units: Count
  }
  readonly ttl_ms: { readonly default: Ms; readonly by_chain: Readonly<Record<string, Ms>> }
  /** Caps by the age of the last real swap, longest last. */
  readonly trade_age_caps: readonly { readonly over_ms: Ms; readonly cap: Score }[]
  readonly min_depth_usd: Count
  readonly fee_ceiling_ppm: Count
  readonly imbalance_ratio: Count
  readonly depth_asymmetry: Count
  readonly jump: { readonly ratio: Count; readonly hold_ms: Ms; readonly cap: Score }
  readonly republish: { readonly move_bps: Count; readonly interval_ms: Ms }
  readonly agreement: {
    /** Score by number of verified pools of the pair: 1, 2, 3, … the last one holds beyond. */
    readonly edge_sources: readonly Score[]
    readonly path_sources: readonly Score[]
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
  }
  readonly coverage: { readonly unknown_cap: Score; readonly max_age_ms: Ms }
  /** Blocks of undo kept while finality is behind; a deeper reorganisation halts the chain. */
  readonly max_undo_blocks: Count
}

const MINUTE = 60_000
const DAY = 86_400_000

export const DEFAULT_POLICY: Policy = {
  max_hops: count(3),
  max_routes: count(64),
  max_asset_routes: count(8),
  observation_share_bps: count(200),
  source_share_bps: count(1000),
  evidence: {
    observed_tolerance_bps: count(50),
    observed_output_share_bps: count(9999),
    reference_divisor: count(1000),
    reference_min_units: count(10_000),
  },
  ttl_ms: { default: ms(30 * MINUTE), by_chain: { '1': ms(60 * MINUTE), '42161': ms(60 * MINUTE) } },
  trade_age_caps: [
    { over_ms: ms(DAY), cap: score(6) },
    { over_ms: ms(7 * DAY), cap: score(3) },
  ],
  min_depth_usd: count(50),
  fee_ceiling_ppm: count(30_000),
  imbalance_ratio: count(10),
  depth_asymmetry: count(1000),
  jump: { ratio: count(100), hold_ms: ms(30 * MINUTE), cap: score(1) },
  republish: { move_bps: count(10), interval_ms: ms(10_000) },
  agreement: {
    edge_sources: [score(7), score(8), score(9), score(10)],
    path_sources: [score(5), score(7), score(8), score(9), score(10)],
    single_deployment_cap: score(8),
    spread: {
      up_to: [
        [count(25), score(10)],
        [count(50), score(9)],
        [count(100), score(8)],
        [count(200), score(6)],
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
  },
  coverage: { unknown_cap: score(8), max_age_ms: ms(DAY) },
  max_undo_blocks: count(8192),
}
