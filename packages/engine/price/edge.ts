/**
 * A pool as a hop X→Y at one moment: its ratio, its capacity in dollars, and the weakest link of its score.
 *
 * An edge always stands in the pool's canonical orientation, which is the only one a route ever walks. A
 * hop that breaks a guard has score 0 and says which rule it failed and by how much; its other numbers are
 * still shown.
 */
import type { Address } from '../chain/block.ts'
import { powerOfTen } from '../exact/decimal.ts'
import type { Fraction } from '../exact/ratio.ts'
import type { Pool, PoolState, ProvenRun } from '../state.ts'
import { type Count, type Ms, ms, score, type Score } from '../units.ts'
import { depthScore, freshnessScore, nextFreshnessBoundary, stateScore, temporalScore } from './bands.ts'
import * as depthAverage from './depthAverage.ts'
import type { Edge, EdgeComponents, Scale, StableView } from './evaluation.ts'
import * as jump from './jump.ts'
import { finalityAt, type Moment } from './moment.ts'
import { pairAgreement } from './pairAgreement.ts'
import type { Cap, Failure, Rejection } from './reasons.ts'
import { stableView } from './stableView.ts'
import * as temporal from './temporal.ts'

const MICRO = 1_000_000n

/** While an average is still climbing to its depth, capacity grows with time: look again this often. */
const WARMING_MS = 60_000

export function edgeOf(moment: Moment, pool: Pool): Edge {
  const known = moment.edges.get(pool)
  if (known !== undefined) return known
  const edge = build(moment, pool)
  moment.edges.set(pool, edge)
  return edge
}

function build(moment: Moment, pool: Pool): Edge {
  const { atMs, ttlMs } = moment
  const { state } = pool
  const scale = scaleOf(moment, pool)
  const anchor = anchorOf(moment, pool.to)

  const averageY = state.average === null ? null : depthAverage.value(state.average, atMs)
  const effectiveY = averageY === null || state.depthY === null ? null : min(state.depthY, averageY)
  const capacity =
    effectiveY === null || anchor.usd === null || scale === null
      ? null
      : microusd(effectiveY, anchor.usd, scale.to)

  const finality = state.verified ? finalityAt(moment, state.changed.number) : 'unverified'
  const verifiedMs = verifiedAt(moment.state.chain.proven, state)
  const ageMs = ms(Math.max(0, atMs - verifiedMs))
  const expiresAtMs = ms(verifiedMs + ttlMs)
  const agreement = pairAgreement(moment, pool)
  const past = temporal.reference(state.history, atMs)

  const components: EdgeComponents = {
    depth: { score: capacity === null ? score(0) : depthScore(capacity) },
    freshness: { score: freshnessScore(ageMs, ttlMs), ageMs, ttlMs },
    agreement,
    temporal: {
      score: state.marginal === null ? score(0) : temporalScore(state.marginal, past),
      median: 'median' in past ? past.median : null,
      coveredMs: past.coveredMs,
    },
    feed: moment.feed,
    state: { score: stateScore(finality), finality },
    stable: anchor.stable === null ? null : { score: anchor.stable.score },
    coverage: null,
  }
  const caps = capsOf(moment, pool, components, anchor.stable)
  const failed =
    failureOf(moment, pool, capacity, components, anchor) ??
    (weakest(components, caps) === 0 ? zeroScore(components, caps) : null)
  return {
    pool,
    state,
    ratio:
      state.evidence === null || scale === null
        ? null
        : { num: state.evidence.amountOut * scale.from, den: state.evidence.amountIn * scale.to },
    marginal:
      state.marginal === null || scale === null
        ? null
        : { num: state.marginal.num * scale.from, den: state.marginal.den * scale.to },
    scale,
    effectiveY,
    averageY,
    capacity,
    toUsd: anchor.usd,
    finality,
    settled: score(
      Math.min(stateScore(finality), decimalsScore(moment, pool.from), decimalsScore(moment, pool.to)),
    ),
    verifiedMs,
    expiresAtMs,
    dueMs: dueOf(moment, state, ageMs, averageY),
    components,
    caps,
    score: failed === null ? weakest(components, caps) : score(0),
    failure: failed,
  }
}

/** The least of all components and caps. */
export function weakest(components: EdgeComponents, caps: readonly Cap[]): Score {
  let least = Math.min(
    components.depth.score,
    components.freshness.score,
    components.agreement.score,
    components.temporal.score,
    components.feed.score,
    components.state.score,
    components.stable === null ? 10 : components.stable.score,
    components.coverage === null ? 10 : components.coverage.score,
  )
  for (const { cap } of caps) least = Math.min(least, cap)
  return score(least)
}

/** ⌊amount of Y × price⌋ in microdollars: depth never rounds up. */
export const microusd = (amount: bigint, usd: Fraction, scale: bigint): bigint =>
  (amount * usd.num * MICRO) / (usd.den * scale)

/** The time of the last verification: the pool's own, or a proven run that reaches back to it. */
export function verifiedAt(runs: readonly ProvenRun[], state: PoolState): Ms {
  for (let at = runs.length - 1; at >= 0; at--) {
    const run = runs[at] as ProvenRun
    if (state.verifiedNumber > run.last) break
    if (state.verifiedNumber >= run.first - 1)
      return run.lastMs > state.verifiedMs ? run.lastMs : state.verifiedMs
  }
  return state.verifiedMs
}

/** 10^decimals of X and Y, or null while either is not verified. */
function scaleOf(moment: Moment, pool: Pool): Scale | null {
  const from = decimalsOf(moment, pool.from)
  const to = decimalsOf(moment, pool.to)
  return from === null || to === null ? null : { from: powerOfTen(from), to: powerOfTen(to) }
}

function decimalsOf(moment: Moment, token: Address): Count | null {
  const decimals = moment.state.tokens.get(token)?.decimals
  return decimals === undefined || decimals === null || decimals.changedTo !== null ? null : decimals.value
}

/** A decimals reading is causal state too: it counts as final when its block is. */
function decimalsScore(moment: Moment, token: Address): Score {
  const decimals = moment.state.tokens.get(token)?.decimals
  return decimals === undefined || decimals === null
    ? score(0)
    : stateScore(finalityAt(moment, decimals.block.number))
}

/** What Y is worth, and the rule that failed where it is worth nothing. */
type Anchor = {
  readonly usd: Fraction | null
  readonly stable: StableView | null
  readonly rule: Rejection | null
}

function anchorOf(moment: Moment, to: Address): Anchor {
  const stable = stableView(moment, to)
  if (stable !== null)
    return stable.status === 'SUSPENDED'
      ? { usd: null, stable, rule: 'STABLE_SUSPENDED' }
      : { usd: stable.usd, stable, rule: null }
  const valuation = moment.valuations.get(to)
  if (valuation === undefined)
    return {
      usd: null,
      stable: null,
      rule: moment.state.setup.routingAssets.includes(to) ? 'CIRCULAR' : 'NO_ANCHOR',
    }
  return valuation.evaluation.kind === 'PRICED'
    ? { usd: valuation.evaluation.price, stable: null, rule: null }
    : { usd: null, stable: null, rule: 'ANCHOR_UNPRICED' }
}

function capsOf(moment: Moment, pool: Pool, components: EdgeComponents, stable: StableView | null): Cap[] {
  const { atMs, policy } = moment
  const { state } = pool
  const caps: Cap[] = [...components.agreement.caps]
  if (components.temporal.median === null)
    caps.push({ code: 'INSUFFICIENT_HISTORY', cap: components.temporal.score })
  const tradeAgeMs = atMs - (state.lastTradeMs ?? state.trackedSinceMs)
  const quiet = policy.trade_age_caps.findLast(each => tradeAgeMs > each.over_ms)
  if (quiet !== undefined) caps.push({ code: 'NO_RECENT_TRADE', cap: quiet.cap })
  if (state.jump !== null && jump.isJumping(state.jump, atMs, policy))
    caps.push({ code: 'MAGNITUDE_JUMP', cap: policy.jump.cap })
  if (stable !== null) caps.push(...stable.caps)
  return caps
}

function failureOf(
  moment: Moment,
  pool: Pool,
  capacity: bigint | null,
  components: EdgeComponents,
  anchor: Anchor,
): Failure | null {
  const { policy } = moment
  const { state } = pool
  if (pool.feePpm > BigInt(policy.fee_ceiling_ppm))
    return failure('FEE_TOO_HIGH', `${pool.feePpm} ppm`, `at most ${policy.fee_ceiling_ppm} ppm`)
  for (const token of [pool.from, pool.to]) {
    const decimals = moment.state.tokens.get(token)?.decimals ?? null
    if (decimals !== null && decimals.changedTo !== null)
      return failure(
        'DECIMALS_CHANGED',
        `${token} ${decimals.value} → ${decimals.changedTo}`,
        'a second equal reading',
      )
    if (decimals === null || decimals.value === null)
      return failure(
        'DECIMALS_UNVERIFIED',
        `${token} ${decimals?.reason ?? 'not read'}`,
        'decimals 0 to 36, read twice',
      )
  }
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
  if (isLopsided(state, policy.depth_asymmetry))
    return failure(
      'VALUE_IMBALANCE',
      `up ${state.depth.up}, down ${downValue(state)}`,
      `within ${policy.depth_asymmetry}×`,
    )
  if (state.evidence === null)
    return failure(
      'EVIDENCE_TOO_COARSE',
      `${state.depth.down} units`,
      'an input inside the depth that gives 10000 units',
    )
  if (components.freshness.score === 0)
    return failure(
      'EXPIRED',
      `${components.freshness.ageMs} ms`,
      `less than ${components.freshness.ttlMs} ms`,
    )
  if (anchor.rule !== null) return failure(anchor.rule, pool.to, null)
  const least = BigInt(policy.min_depth_usd) * MICRO
  if (capacity === null || capacity < least)
    return failure('BELOW_MIN_DEPTH', `${capacity ?? 0n} microusd`, `${least} microusd`)
  if (components.feed.score === 0) return failure('FEED', components.feed.status, 'HEALTHY or DEGRADED')
  return null
}

/** No guard failed, but a component or cap leaves nothing: the operator's policy says so. */
function zeroScore(components: EdgeComponents, caps: readonly Cap[]): Failure {
  const cap = caps.find(each => each.cap === 0)?.code
  const name = Object.entries(components).find(([, each]) => each !== null && each.score === 0)?.[0]
  return failure('SCORE_ZERO', cap ?? name ?? null, 'a score of at least 1')
}

const failure = (rule: Rejection, actual: string | null, required: string | null): Failure => ({
  rule,
  actual,
  required,
})

/** The down depth as a value: gross X at the marginal ratio, floored, in units of Y. */
const downValue = (state: PoolState): bigint =>
  state.depth === null || state.marginal === null
    ? 0n
    : (state.depth.down * state.marginal.num) / state.marginal.den

function isLopsided(state: PoolState, limit: Count): boolean {
  if (state.depth === null) return false
  const { up } = state.depth
  const down = downValue(state)
  const [high, low] = up > down ? [up, down] : [down, up]
  return high > low * BigInt(limit)
}

/** The earliest later time at which a component or cap changes with no event. */
function dueOf(moment: Moment, state: PoolState, ageMs: Ms, averageY: bigint | null): Ms {
  const { atMs, policy, ttlMs } = moment
  const untilFreshness = nextFreshnessBoundary(ageMs, ttlMs)
  let due = untilFreshness === null ? Number.POSITIVE_INFINITY : atMs - ageMs + untilFreshness
  const consider = (time: Ms | null) => {
    if (time !== null && time > atMs && time < due) due = time
  }
  consider(temporal.nextFlip(state.history, atMs))
  const lastTradeMs = state.lastTradeMs ?? state.trackedSinceMs
  for (const { over_ms } of policy.trade_age_caps) consider(ms(lastTradeMs + over_ms + 1))
  if (state.jump !== null) consider(jump.jumpEndsAt(state.jump, policy))
  if (averageY !== null && state.depthY !== null && averageY * 1000n < state.depthY * 999n)
    consider(ms(atMs + WARMING_MS))
  return ms(due)
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
