/**
 * The rules that disqualify a hop, in order. The first that fails is the reason, reported with the value found and
 * the value required. Guards reject a hop; they never replace a value (R-guard-1).
 */
import { FAMILIES } from '../amm/familyNames.ts'
import type { Address } from '../chain/block.ts'
import type { Policy } from '../policy/policy.ts'
import type { Edge, EdgeComponents } from '../price/evaluation.ts'
import type { Decimals, Pool, PoolState } from '../entities.ts'
import type { UnpricedPool } from '../chain/block.ts'
import type { Count, Ms, Score } from '../units.ts'
import type { Freshness } from './freshness.ts'
import { hookFailure } from './hook.ts'
import { feeOf } from './poolFee.ts'
import type { Cap, Failure, Rejection } from './reasons.ts'
import { earlier, FOREVER, type Timed } from './timed.ts'

/** Guards whose outcome only an event, a reading or the operator can change. They do not depend on time. */
export function flawOf(
  pool: Pool,
  policy: Policy,
  from: Decimals | null,
  to: Decimals | null,
): Failure | null {
  const hook = hookFailure(pool)
  if (hook !== null) return hook
  const feePpm = feeOf(pool)
  if (feePpm > BigInt(policy.fee_ceiling_ppm))
    return failure('FEE_TOO_HIGH', `${feePpm} ppm`, `at most ${policy.fee_ceiling_ppm} ppm`)
  return (
    decimalsFailure(from, pool.from) ??
    decimalsFailure(to, pool.to) ??
    stateFailure(pool.state, policy.depth_asymmetry)
  )
}

/** A hop without a flaw, as input to the guards that depend on time. */
export type GuardedHop = {
  readonly freshness: Freshness
  readonly expiresAtMs: Ms
  /** Why the token this hop leads to has no value. */
  readonly anchorRule: Rejection | null
  /** L_e in microdollars, which may grow with time; null when unknown. */
  readonly capacity: Timed<bigint | null>
  readonly leastMicrousd: bigint
  readonly feed: { readonly score: Score }
}

/**
 * The first time-dependent guard that fails. Age heals nothing: of the failures, only depth that is still climbing
 * may pass later, and every failed hop eventually expires.
 */
export function guardOf(hop: GuardedHop): Timed<Rejection | null> {
  const { expiresAtMs, capacity } = hop
  if (hop.freshness.score === 0) return { value: 'EXPIRED', untilMs: FOREVER }
  if (hop.anchorRule !== null) return { value: hop.anchorRule, untilMs: expiresAtMs }
  if (capacity.value === null || capacity.value < hop.leastMicrousd)
    return { value: 'BELOW_MIN_DEPTH', untilMs: earlier(expiresAtMs, capacity.untilMs) }
  if (hop.feed.score === 0) return { value: 'FEED', untilMs: expiresAtMs }
  return { value: null, untilMs: capacity.untilMs }
}

type Shown = Pick<Edge, 'pool' | 'freshness' | 'capacity'>

/** The found and required values of a hop that failed a time-dependent guard. */
export function guardFailure(
  rule: Rejection,
  { freshness, pool, capacity }: Shown,
  leastMicrousd: bigint,
  feed: { readonly status: string },
): Failure {
  if (rule === 'EXPIRED') return failure(rule, `${freshness.ageMs} ms`, `less than ${freshness.ttlMs} ms`)
  if (rule === 'BELOW_MIN_DEPTH')
    return failure(rule, `${capacity ?? 0n} microusd`, `${leastMicrousd} microusd`)
  if (rule === 'FEED') return failure(rule, feed.status, 'HEALTHY or DEGRADED')
  return failure(rule, pool.to, null)
}

/** No guard failed, but a component or cap is 0, as the operator's policy demands. */
export function zeroScore(components: EdgeComponents, caps: readonly Cap[]): Failure {
  const cap = caps.find(each => each.cap === 0)?.code
  const name = Object.entries(components).find(([, each]) => each !== null && each.score === 0)?.[0]
  return failure('SCORE_ZERO', cap ?? name ?? null, 'a score of at least 1')
}

/** The token's liquidity is in a pool that no adapter can compute. */
export const unsupportedFamily = ({ family, deploymentId, address }: UnpricedPool): Failure =>
  failure('UNSUPPORTED_FAMILY', `${family} pool ${address} of ${deploymentId}`, FAMILIES.join(' or '))

function decimalsFailure(decimals: Decimals | null, address: Address): Failure | null {
  if (decimals !== null && decimals.changedTo !== null)
    return failure(
      'DECIMALS_CHANGED',
      `${address} ${decimals.value} → ${decimals.changedTo}`,
      'an equal reading 30 minutes later',
    )
  if (decimals === null || decimals.value === null)
    return failure(
      'DECIMALS_UNVERIFIED',
      `${address} ${decimals?.reason ?? 'not read'}`,
      'decimals 0 to 36, read twice',
    )
  return null
}

/** What is missing from the pool's own state. */
function stateFailure(state: PoolState, asymmetry: Count): Failure | null {
  if (!state.verified) {
    const [first] = state.differences
    return failure(
      'STATE_UNVERIFIED',
      first === undefined ? null : `${first.field} ${first.computed}`,
      first === undefined ? null : `${first.event}`,
    )
  }
  if (state.marginal === null) return failure('NO_ACTIVE_LIQUIDITY', '0', 'more than 0')
  if (state.depth === null || state.depthY === null)
    return failure('DEPTH_UNKNOWN', null, 'ticks known to ±2%')
  const { up } = state.depth
  // The down depth as a value: gross X at the marginal ratio, floored, in units of Y.
  const down = (state.depth.down * state.marginal.num) / state.marginal.den
  const [high, low] = up > down ? [up, down] : [down, up]
  if (high > low * BigInt(asymmetry))
    return failure('VALUE_IMBALANCE', `up ${up}, down ${down}`, `within ${asymmetry}×`)
  if (state.evidence === null)
    return failure(
      'EVIDENCE_TOO_COARSE',
      `${state.depth.down} units`,
      'an input inside the depth that gives 10000 units',
    )
  return null
}

const failure = (rule: Rejection, actual: string | null, required: string | null): Failure => ({
  rule,
  actual,
  required,
})
