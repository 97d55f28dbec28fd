/**
 * Compares the price of a routing asset with its own dollar feed (R-dispute-1, R-dispute-2). The feed never makes or
 * replaces the price: when the pools disagree with it for long enough to be published, the price is published with a
 * cap.
 *
 * A silent feed proves nothing: it neither caps a price nor confirms it.
 */
import type { Fraction } from '../exact/fraction.ts'
import type { Policy } from '../policy/policy.ts'
import { type Ms, ms } from '../units.ts'
import { bpsScore, isAtMost } from './bpsBands.ts'
import type { Cap } from './reasons.ts'
import { type FeedTerms, isGood, type Round } from './feedAnswer.ts'
import { FOREVER, type Timed } from './timed.ts'
import { devBps } from './weightedMedian.ts'

export type AnchorFeed = {
  /** The newest answer of the feed; `complete` is false for an unfinished round. Null: not read. */
  readonly answer: Round | null
  readonly terms: FeedTerms
}

export type AnchorDispute = {
  /** The feed's price of one whole asset, and the time of its answer. */
  readonly usd: Fraction
  readonly updatedAtMs: Ms
  /** Deviation of the fee-free price from the feed's price; `num` may be 0. */
  readonly deviationBps: Fraction
  readonly cap: Cap | null
  /** Within the first band: the feed confirms the price. */
  readonly isNear: boolean
}

/** Null while the feed is silent: no answer, an incomplete one, or one older than heartbeat plus grace. */
export function anchorDispute(
  marginalUsd: Fraction,
  { answer, terms }: AnchorFeed,
  policy: Policy,
  atMs: Ms,
): Timed<AnchorDispute | null> {
  if (!isGood(answer)) return { value: null, untilMs: FOREVER }
  const { updatedAtMs } = answer
  // "Older than" includes its limit, so the feed becomes silent one millisecond past it.
  const silentMs = ms(updatedAtMs + terms.heartbeatMs + terms.graceMs + 1)
  if (atMs >= silentMs) return { value: null, untilMs: FOREVER }
  const usd = { num: answer.value, den: 10n ** BigInt(answer.decimals) }
  return { value: { updatedAtMs, ...deviating(marginalUsd, usd, policy) }, untilMs: silentMs }
}

/** The effect of a fresh answer on a price. */
export function deviating(
  marginalUsd: Fraction,
  usd: Fraction,
  policy: Policy,
): Omit<AnchorDispute, 'updatedAtMs'> {
  const deviationBps = devBps(marginalUsd, usd)
  const bands = policy.anchor_dispute
  const cap = bpsScore(bands, deviationBps)
  const [nearest] = bands.up_to
  return {
    usd,
    deviationBps,
    cap: cap < 10 ? { code: 'ANCHOR_DISPUTED', cap } : null,
    isNear: nearest !== undefined && isAtMost(deviationBps, BigInt(nearest[0])),
  }
}
