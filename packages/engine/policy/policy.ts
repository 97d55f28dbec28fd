/**
 * The policy object: every number of the pricing rules that an operator may change, with its default and its limits.
 *
 * It is a wire record (`GET /v1/policies/{policy_version}`, `policy:` in the configuration), hence the snake_case
 * keys and JSON-safe values. Values fixed by the specification (the 2% boundary, 67%, tau's clamp, depth and
 * freshness bands) are not here: they are constants in the files of their rules.
 */
import { count, type Count, ms, type Ms, score, type Score } from '../units.ts'
import { byChain, type Field, field, group, integer, list, object, pair } from './field.ts'

/** `[upper bound in basis points, inclusive, score]`, ascending; `beyond` applies after the last one. */
export type BpsBands = { readonly up_to: readonly (readonly [Count, Score])[]; readonly beyond: Score }

const MINUTE = 60_000
const DAY = 86_400_000
const anyScore = integer(score(0), score(10))
const shareBps = integer(count(0), count(10_000))
const unitCount = integer(count(1), count(1_000_000_000))
const deviationBps = integer(count(0), count(1_000_000))
const dollars = integer(count(0), count(1_000_000_000))
const durationMs = integer(ms(0), ms(365 * DAY))
/** At least a second: anything shorter expires before a block is processed. */
const ttlMs = integer(ms(1_000), ms(30 * DAY))

type Ordered = readonly (Count | Ms | Score)[]
const isAscending = (values: Ordered): boolean =>
  values.every((value, at) => at === 0 || value > (values[at - 1] ?? 0))
const isFalling = (values: Ordered): boolean =>
  values.every((value, at) => at === 0 || value <= (values[at - 1] ?? 0))
const isRising = (values: Ordered): boolean => isFalling([...values].reverse())

const sourceScores = list(anyScore, scores =>
  isRising(scores) ? null : 'scores that never fall as sources are added',
)

const bpsBands = object<BpsBands>(
  {
    up_to: list(pair(deviationBps, anyScore), bands =>
      isAscending(bands.map(([bound]) => bound)) ? null : 'bands by ascending bound',
    ),
    beyond: anyScore,
  },
  ({ up_to, beyond }) =>
    isFalling([...up_to.map(([, value]) => value), beyond])
      ? null
      : 'scores that never rise with the deviation',
)

const bands = (up_to: BpsBands['up_to'], beyond: Score): Field<BpsBands> => field({ up_to, beyond }, bpsBands)

/** Consensus keeps at least this share (R-consensus-4), so the lowest band must reach down to it. */
const LEAST_RETAINED_BPS = 6_700

const retainedBands = list(pair(shareBps, anyScore), bands => {
  const bounds = bands.map(([bound]) => bound)
  if (!isAscending([...bounds].reverse())) return 'bands by descending bound'
  if (!isFalling(bands.map(([, value]) => value))) return 'scores that never rise as less is retained'
  return (bounds.at(-1) ?? 0) <= LEAST_RETAINED_BPS
    ? null
    : `a last band that starts at ${LEAST_RETAINED_BPS} or below`
})

const tradeAgeCaps = list(
  object<{ readonly over_ms: Ms; readonly cap: Score }>({ over_ms: durationMs, cap: anyScore }),
  caps => {
    if (!isAscending(caps.map(({ over_ms }) => over_ms))) return 'ages in ascending order'
    return isFalling(caps.map(({ cap }) => cap)) ? null : 'caps that never rise with the age'
  },
)

export const POLICY = group({
  /** Which vote applies: 2 for that of RULES.md, 1 for that of version 0.1 (`former.ts`). */
  revision: field(count(2), integer(count(1), count(2))),
  max_hops: field(count(3), integer(count(1), count(8))),
  max_routes: field(count(64), integer(count(1), count(1_024))),
  /** Accepted routes of a routing asset that others may continue along. */
  max_asset_routes: field(count(8), integer(count(1), count(64))),
  /**
   * A first-hop pool with less of the total weight than this is dust: not even its dissent counts. Revision 1: the
   * floor.
   */
  observation_share_bps: field(count(200), shareBps),
  /**
   * The floor of the vote is the first of these at which the voters carry `observation_kept_bps`, otherwise the last.
   */
  observation_floors_bps: field(
    [count(1000), count(500), count(200), count(0)],
    list(shareBps, floors => (isFalling(floors) ? null : 'floors of the vote, the greatest first')),
  ),
  observation_kept_bps: field(count(9000), shareBps),
  /** Revision 1 only: a first-hop pool with at least this share of the accepted weight is a source, and material. */
  source_share_bps: field(count(1000), shareBps),
  /** A first-hop pool whose best route is at most this far from the published price is a source. */
  source_within_bps: field(count(200), deviationBps),
  /** A first-hop pool with at least this share of the accepted weight is material. */
  material_share_bps: field(count(3400), shareBps),
  /** A pool that was left out of the vote and is further away than this caps the score. */
  dissent: group({ beyond_bps: field(count(1000), deviationBps), cap: field(score(4), anyScore) }),
  evidence: group({
    observed_tolerance_bps: field(count(50), shareBps),
    /** Observed output over the adapter's own, in ten-thousandths. */
    observed_output_share_bps: field(count(9999), shareBps),
    /** The reference input is the depth divided by this. */
    reference_divisor: field(count(1000), unitCount),
    /** Least output of the reference input; in revision 1 also its least input. */
    reference_min_units: field(count(10_000), unitCount),
    reference_min_input: group({ amm_v2: field(count(1), unitCount), amm_v3: field(count(200), unitCount) }),
  }),
  ttl_ms: group({
    default: field(ms(30 * MINUTE), ttlMs),
    by_chain: field({ '1': ms(60 * MINUTE), '42161': ms(60 * MINUTE) }, byChain(ttlMs)),
  }),
  /** Caps by the age of the last real swap, longest last. */
  trade_age_caps: field(
    [
      { over_ms: ms(DAY), cap: score(6) },
      { over_ms: ms(7 * DAY), cap: score(3) },
    ],
    tradeAgeCaps,
  ),
  /**
   * The value from which a swap counts as a trade, and the cap while no trade is known. Revision 1: every swap
   * counts.
   */
  trade: group({
    min_usd: field(count(10), integer(count(0), count(1_000_000))),
    unknown_cap: field(score(6), anyScore),
  }),
  min_depth_usd: field(count(50), dollars),
  fee_ceiling_ppm: field(count(30_000), integer(count(0), count(1_000_000))),
  imbalance_ratio: field(count(10), unitCount),
  depth_asymmetry: field(count(1000), unitCount),
  jump: group({
    ratio: field(count(100), integer(count(2), count(1_000_000_000))),
    hold_ms: field(ms(30 * MINUTE), durationMs),
    cap: field(score(1), anyScore),
  }),
  republish: group({
    move_bps: field(count(10), deviationBps),
    interval_ms: field(ms(10_000), durationMs),
  }),
  agreement: group({
    /** Score by number of verified pools of the pair: 1, 2, 3, …; the last one applies beyond. */
    edge_sources: field([score(8), score(9), score(10)], sourceScores),
    path_sources: field([score(5), score(8), score(9), score(10)], sourceScores),
    /** The cap for sources that all belong to one deployment. */
    single_deployment_cap: field(score(7), anyScore),
    spread: bands(
      [
        [count(25), score(10)],
        [count(50), score(8)],
        [count(100), score(6)],
        [count(200), score(5)],
        [count(500), score(4)],
        [count(1000), score(3)],
      ],
      score(2),
    ),
    /** `[lower bound in basis points of retained weight, score]`, descending. */
    retained: field(
      [
        [count(10_000), score(10)],
        [count(9000), score(8)],
        [count(8000), score(6)],
        [count(6700), score(5)],
      ],
      retainedBands,
    ),
  }),
  stable: group({
    depeg: bands(
      [
        [count(50), score(10)],
        [count(200), score(6)],
        [count(500), score(3)],
      ],
      score(0),
    ),
    stale_cap: field(score(4), anyScore),
    nominal_cap: field(score(3), anyScore),
    /** A last value further than this from 1 is never replaced by the nominal 1. */
    nominal_limit_bps: field(count(200), shareBps),
    sequencer_grace_ms: field(ms(3_600_000), durationMs),
    /** How far pools of two stables may contradict the feeds of both. */
    dispute: group({
      /** By their distance from the ratio of the answers. */
      bands: bands(
        [
          [count(100), score(10)],
          [count(500), score(3)],
        ],
        score(1),
      ),
      /** When only one pool disagrees and it is not `lone_average_usd` deep. */
      thin_cap: field(score(6), anyScore),
      /** A pool whose 30-minute average is below this takes no part. */
      min_average_usd: field(count(250_000), dollars),
      /** A pool with at least this average needs no second one. */
      lone_average_usd: field(count(2_500_000), dollars),
    }),
  }),
  /** By the distance of a routing asset's price from its own dollar feed. */
  anchor_dispute: bands(
    [
      [count(200), score(10)],
      [count(500), score(6)],
    ],
    score(3),
  ),
  /** Caps by the result of a simulated sale. Not read in revision 1. */
  sellability: group({
    unsellable_cap: field(score(1), anyScore),
    /** Our sale fails, though others' sales were seen. */
    restricted_cap: field(score(3), anyScore),
    unknown_cap: field(score(7), anyScore),
    /** By the greater of the taxes on a sale and on a transfer. */
    tax: bands(
      [
        [count(50), score(10)],
        [count(300), score(6)],
      ],
      score(3),
    ),
  }),
  /** How far the balances of a pool may be below, or above, the amounts it accounts for. Not read in revision 1. */
  backing: group({
    below_bps: field(count(50), shareBps),
    above_bps: field(count(1000), deviationBps),
    cap: field(score(3), anyScore),
  }),
  coverage: group({ unknown_cap: field(score(8), anyScore), max_age_ms: field(ms(DAY), durationMs) }),
  /** Blocks of undo kept while finality is behind; a deeper reorganisation halts the chain. */
  max_undo_blocks: field(count(8192), integer(count(1), count(1_000_000))),
})

export type Policy = typeof POLICY extends Field<infer Whole> ? Whole : never

export const DEFAULT_POLICY: Policy = POLICY.preset
