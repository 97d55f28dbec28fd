/**
 * How much of an asset's market the anchors on this chain cover (R-coverage-1, R-coverage-2): their total depth
 * divided by the 2% depth that an external source reports. A share on a bound is in the higher band.
 *
 * External data may lower or cap a score and never raises one. Without it, with outdated data, or with a reported
 * depth of zero, the anchors are capped.
 */
import type { Policy } from '../policy/policy.ts'
import { type Ms, ms, type Score, score } from '../units.ts'
import type { Cap } from './reasons.ts'
import { FOREVER, type Timed } from './timed.ts'

/** The depth a source reports for a 2% move of the whole market, and the time of that report. */
export type ExternalDepth = { readonly depthMicrousd: bigint; readonly asOfMs: Ms }

export type Coverage = {
  readonly score: Score
  readonly caps: readonly Cap[]
  readonly anchorsMicrousd: bigint
  readonly externalMicrousd: bigint | null
}

/** Basis points of the external depth from which coverage scores 2, 3, … 10; any depth above zero scores 1. */
const FROM_BPS = [30n, 60n, 100n, 200n, 300n, 600n, 1_000n, 1_750n, 2_500n]

/** `anchorsMicrousd` is the sum of L_eff over the asset's accepted anchors. */
export function coverage(
  anchorsMicrousd: bigint,
  external: ExternalDepth | null,
  policy: Policy,
  atMs: Ms,
): Timed<Coverage> {
  const { max_age_ms, unknown_cap } = policy.coverage
  if (external !== null && external.depthMicrousd > 0n && atMs - external.asOfMs <= max_age_ms) {
    const externalMicrousd = external.depthMicrousd
    return {
      value: {
        score: shareScore(anchorsMicrousd, externalMicrousd),
        caps: [],
        anchorsMicrousd,
        externalMicrousd,
      },
      untilMs: ms(external.asOfMs + max_age_ms + 1),
    }
  }
  const value: Coverage = {
    // Zero depth covers nothing, whatever the size of the market.
    score: anchorsMicrousd > 0n ? unknown_cap : score(0),
    caps: [{ code: 'COVERAGE_UNKNOWN', cap: unknown_cap }],
    anchorsMicrousd,
    externalMicrousd: null,
  }
  return { value, untilMs: FOREVER }
}

function shareScore(anchorsMicrousd: bigint, externalMicrousd: bigint): Score {
  if (anchorsMicrousd <= 0n) return score(0)
  return score(1 + FROM_BPS.filter(from => 10_000n * anchorsMicrousd >= from * externalMicrousd).length)
}
