/**
 * How much of an asset's market the anchors on this chain see (R-coverage-1, R-coverage-2): their depth together over the
 * 2% depth an external source reports.
 *
 * External data may lower or cap a score and never lifts one: without it, with data too old, or with a
 * reported depth of nothing, the anchors are capped.
 */
import { type Ms, ms } from '../units.ts'
import { coverageScore } from './bands.ts'
import type { Coverage } from './evaluation.ts'
import type { Policy } from './policy.ts'

/** What a source says the whole market takes for a 2% move, and when it said so. */
export type ExternalDepth = { readonly depthMicrousd: bigint; readonly asOfMs: Ms }

/** `anchorsMicrousd` is the sum of L_eff over the asset's accepted anchors. */
export function coverage(
  anchorsMicrousd: bigint,
  external: ExternalDepth | null,
  policy: Policy,
  atMs: Ms,
): Coverage {
  if (external !== null && isKnown(external, policy, atMs)) {
    const externalMicrousd = external.depthMicrousd
    return {
      score: coverageScore(anchorsMicrousd, externalMicrousd),
      caps: [],
      anchorsMicrousd,
      externalMicrousd,
    }
  }
  const cap = policy.coverage.unknown_cap
  return {
    // No depth at all is known to cover nothing, whatever the market.
    score: anchorsMicrousd > 0n ? cap : coverageScore(0n, 1n),
    caps: [{ code: 'COVERAGE_UNKNOWN', cap }],
    anchorsMicrousd,
    externalMicrousd: null,
  }
}

/** When known data turns too old; null if there is none to. */
export function nextCoverageBoundary(external: ExternalDepth | null, policy: Policy, atMs: Ms): Ms | null {
  if (external === null || !isKnown(external, policy, atMs)) return null
  return ms(external.asOfMs + policy.coverage.max_age_ms + 1)
}

function isKnown(external: ExternalDepth, policy: Policy, atMs: Ms): boolean {
  return external.depthMicrousd > 0n && atMs - external.asOfMs <= policy.coverage.max_age_ms
}
