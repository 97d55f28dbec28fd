/** The score of a hop: every component from its own inputs, the caps in force, and the minimum of them all. */
import {
  HOOK_FEE,
  hookClassOf,
  type EnginePast,
  freshness as freshnessAt,
  approx as approxOf,
  temporalLimit,
  temporalScore,
  feedScore as scoreOfFeed,
  historyCap,
  stateScore as scoreOfState,
  count,
  coverage,
  devBps,
  display,
  edgeAgreement,
  type Fraction,
  type Ms,
  ms,
  lastTradeCap,
  WINDOW_MS,
} from '@assay/engine/rules'
import type { Hop } from '../wire/route.ts'
import { checkBacking } from './backing.ts'
import type { Reading } from './reading.ts'

const ZERO: Fraction = { num: 0n, den: 1n }
const FEEDS: ReadonlySet<string> = new Set(['HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE'])
const KINDS = ['READ', 'SHORT', 'UNREAD'] as const
const TIMES = ['EXACT', 'INTERPOLATED'] as const
const FINALITIES: ReadonlySet<string> = new Set(['unverified', 'canonical', 'finalized'])

/** Additional fields on the accepted first hops of a routing asset: their total depth. */
export type Anchors = { readonly microusd: bigint; readonly from: readonly string[] }

/** The components whose inputs are shown. */
export function checkComponents(reading: Reading, hop: Hop, path: string): void {
  const { findings } = reading
  findings.part(() => checkTime(reading, hop, path))
  findings.part(() => checkTemporal(reading, hop, path))
  findings.part(() => checkFeedAndState(reading, hop, path))
  findings.part(() => checkAgreement(reading, hop, path))
}

function checkTime({ findings, atMs, ttlMs }: Reading, hop: Hop, path: string): void {
  const own = `${path}.components.freshness`
  const { freshness } = hop.components
  const verifiedMs = findings.integer(`${path}.verified_at_ms`, hop.verified_at_ms)
  findings.same(`${own}.ttl_ms`, freshness.ttl_ms, ttlMs, ['policy.ttl_ms', 'chain_id'])
  const ageMs = Math.max(0, atMs - verifiedMs)
  findings.same(`${own}.age_ms`, freshness.age_ms, ageMs, [`${path}.verified_at_ms`, 'evaluated_at_ms'])
  findings.same(`${own}.score`, freshness.score, freshnessAt(ms(0), ms(ttlMs), ms(ageMs)).value.score, [
    `${own}.age_ms`,
    `${own}.ttl_ms`,
  ])
}

/** The past that the hop shows; null when it shows none. */
function pastOf({ findings }: Reading, { past }: Hop, path: string): EnginePast | null {
  if (past === undefined) return null
  const own = `${path}.past`
  const kind = KINDS.find(each => each === past.kind)
  if (kind === undefined) return findings.unreadable(`${own}.kind`, past.kind, KINDS.join(', '))
  const times = TIMES.find(each => each === past.times)
  if (times === undefined) return findings.unreadable(`${own}.times`, past.times, TIMES.join(', '))
  const bound = past.traded_by_ms
  return {
    kind,
    times,
    readMs: ms(findings.integer(`${own}.read_at_ms`, past.read_at_ms)),
    isProven: past.is_proven,
    tradedByMs: bound === null ? null : ms(findings.integer(`${own}.traded_by_ms`, bound)),
  }
}

function checkTemporal(reading: Reading, hop: Hop, path: string): void {
  const { findings, atMs } = reading
  const limit = temporalLimit(pastOf(reading, hop, path), ms(atMs)).value
  const own = `${path}.components.temporal`
  const { temporal } = hop.components
  const coveredMs = findings.integer(`${own}.covered_ms`, temporal.covered_ms)
  if (hop.marginal === null) return
  const isCovered = coveredMs >= WINDOW_MS
  if (!isCovered || temporal.median === null) {
    findings.same(`${own}.median`, temporal.median, null, [`${own}.covered_ms`])
    findings.same(`${own}.deviation_bps`, temporal.deviation_bps, null, [`${own}.median`])
    const none = temporalScore(ZERO, { reason: 'INSUFFICIENT_HISTORY', coveredMs: ms(coveredMs) })
    findings.same(`${own}.score`, temporal.score, Math.min(none, limit), [`${own}.covered_ms`])
    return
  }
  const median = findings.value(`${own}.median`, temporal.median)
  const marginal = findings.value(`${path}.marginal`, hop.marginal)
  const from = [`${path}.marginal`, `${own}.median`]
  findings.same(`${own}.covered_ms`, coveredMs, WINDOW_MS, [])
  findings.same(`${own}.deviation_bps`, temporal.deviation_bps, bpsText(devBps(marginal, median)), from)
  const expected = temporalScore(marginal, { median, approx: approxOf(median), coveredMs: WINDOW_MS })
  findings.same(`${own}.score`, temporal.score, Math.min(expected, limit), [...from, `${path}.past`])
}

function checkFeedAndState({ findings }: Reading, hop: Hop, path: string): void {
  const { feed, state } = hop.components
  const own = `${path}.components`
  const feedScore = FEEDS.has(feed.status) ? scoreOfFeed(feed.status) : null
  findings.same(`${own}.feed.score`, feed.score, feedScore, [`${own}.feed.status`])
  const stateScore = FINALITIES.has(state.finality) ? scoreOfState(state.finality) : null
  findings.same(`${own}.state.score`, state.score, stateScore, [`${own}.state.finality`])
  findings.holds(
    `${path}.settled`,
    hop.settled,
    (hop.settled === 0 || hop.settled === 8 || hop.settled === 10) && hop.settled <= state.score,
    `0, 8 or 10, and at most the state score ${state.score}`,
    [`${own}.state.score`],
  )
}

function checkAgreement(reading: Reading, hop: Hop, path: string): void {
  const { findings } = reading
  const own = `${path}.components.agreement`
  const expected = agreementScores(reading, hop, path)
  const from = ['sources', 'spread_bps', 'retained_weight_bps'].map(name => `${own}.${name}`)
  // A spread is shown with 18 digits. On a bound, the part lost to rounding decides, so either score is right.
  if (!expected.some(each => each.score === hop.components.agreement.score))
    findings.same(`${own}.score`, hop.components.agreement.score, expected[0]?.score, from)
}

/** The agreement according to its shown inputs; two scores when the shown spread is on a bound. */
function agreementScores({ findings, policy }: Reading, hop: Hop, path: string) {
  const own = `${path}.components.agreement`
  const { agreement } = hop.components
  const spreadBps = findings.decimal(`${own}.spread_bps`, agreement.spread_bps)
  const retained = findings.integer(`${own}.retained_weight_bps`, agreement.retained_weight_bps)
  const lowest = policy.agreement.retained.at(-1)?.[0] ?? 0
  if (retained > 10_000 || retained < lowest)
    return findings.unreadable(`${own}.retained_weight_bps`, retained, `from ${lowest} to 10000`)
  const support = {
    sources: count(findings.integer(`${own}.sources`, agreement.sources)),
    deployments: count(findings.integer(`${own}.deployments`, agreement.deployments)),
    keptWeight: BigInt(retained),
    totalWeight: 10_000n,
    unresolved: hop.caps.some(({ code }) => code === 'NO_INDEPENDENT_CONSENSUS'),
  }
  const isOnBound = policy.agreement.spread.up_to.some(
    ([bound]) => spreadBps.num === BigInt(bound) * spreadBps.den,
  )
  const beyond = { num: spreadBps.num * 10n ** 40n + 1n, den: spreadBps.den * 10n ** 40n }
  return [spreadBps, ...(isOnBound ? [beyond] : [])].map(each =>
    edgeAgreement({ ...support, spreadBps: each }, policy),
  )
}

/** Checks the caps in their order, and the score. */
export function checkScore(reading: Reading, hop: Hop, path: string, anchors: Anchors | null): void {
  const { findings, policy, atMs } = reading
  const { components } = hop
  const caps: { code: string; cap: number }[] = [...(agreementScores(reading, hop, path)[0]?.caps ?? [])]
  if (components.temporal.covered_ms < WINDOW_MS)
    caps.push({ code: 'INSUFFICIENT_HISTORY', cap: components.temporal.score })
  const past = pastOf(reading, hop, path)
  const unknown = historyCap(past, ms(atMs)).value
  if (unknown !== null) caps.push(unknown)
  const quiet = lastTradeCap({ ...lastTradeOf(reading, hop, path), past }, policy, ms(atMs)).value
  if (quiet !== null) caps.push(quiet)
  if (hop.jump_since_ms !== null) {
    const sinceMs = findings.integer(`${path}.jump_since_ms`, hop.jump_since_ms)
    if (atMs < sinceMs + policy.jump.hold_ms) caps.push({ code: 'MAGNITUDE_JUMP', cap: policy.jump.cap })
  }
  const unbacked = checkBacking(reading, hop, path)
  if (unbacked !== null) caps.push(unbacked)
  const key = hop.pool_key
  if (key !== undefined && hookClassOf(key.hooks, BigInt(key.fee)) === 'FEE') caps.push(HOOK_FEE)
  const stable = reading.stables.get(hop.to)
  if (stable === undefined)
    findings.same(`${path}.components.stable`, components.stable ?? null, null, [`${path}.to`])
  else {
    findings.same(`${path}.components.stable`, components.stable, { score: stable.text.score }, [
      `${stable.path}.score`,
    ])
    caps.push(...(stable.text.caps ?? []))
  }
  if (anchors === null)
    findings.same(`${path}.components.coverage`, components.coverage ?? null, null, [`${path}.from`])
  else caps.push(...checkCoverage(reading, hop, path, anchors))
  findings.same(`${path}.caps`, hop.caps, caps, [
    `${path}.caps`,
    `${path}.components.agreement`,
    `${path}.components.temporal.covered_ms`,
    `${path}.past`,
    `${path}.backing`,
    `${path}.quiet_since_ms`,
    `${path}.jump_since_ms`,
    ...(stable === undefined ? [] : [`${stable.path}.caps`]),
  ])
  // A later service may show components of which this version knows nothing.
  const scores = Object.values(components).flatMap(({ score }) => (typeof score === 'number' ? [score] : []))
  const parts = [...scores, ...caps.map(each => each.cap)]
  findings.same(`${path}.score`, hop.score, Math.min(10, ...parts), [`${path}.components`, `${path}.caps`])
  findings.holds(
    `${path}.fee_ppm`,
    hop.fee_ppm,
    hop.fee_ppm <= policy.fee_ceiling_ppm,
    `at most ${policy.fee_ceiling_ppm}`,
  )
}

type LastTrade = { readonly lastTradeMs: Ms | null; readonly trackedSinceMs: Ms }

/** The last trade, and the start of its age when no trade is known. A quote of version 0.1 has both in one number. */
function lastTradeOf({ findings, policy }: Reading, hop: Hop, path: string): LastTrade {
  const quietSinceMs = ms(findings.integer(`${path}.quiet_since_ms`, hop.quiet_since_ms))
  if (policy.revision === 1 || hop.last_trade_ms === undefined)
    return { lastTradeMs: quietSinceMs, trackedSinceMs: quietSinceMs }
  if (hop.last_trade_ms === null) return { lastTradeMs: null, trackedSinceMs: quietSinceMs }
  const tradedMs = ms(findings.integer(`${path}.last_trade_ms`, hop.last_trade_ms))
  findings.same(`${path}.quiet_since_ms`, quietSinceMs, tradedMs, [`${path}.last_trade_ms`])
  return { lastTradeMs: tradedMs, trackedSinceMs: tradedMs }
}

/** External depth may lower or cap a score, and never raises one. */
function checkCoverage({ findings, policy }: Reading, hop: Hop, path: string, anchors: Anchors) {
  const own = `${path}.components.coverage`
  const shown = hop.components.coverage
  if (shown === undefined) return findings.unreadable(own, null, "a routing asset's coverage")
  const external =
    shown.external_microusd === null
      ? null
      : {
          depthMicrousd: findings.positive(`${own}.external_microusd`, shown.external_microusd),
          asOfMs: ms(0),
        }
  const { value: covered } = coverage(anchors.microusd, external, policy, ms(0))
  findings.same(`${own}.anchors_microusd`, shown.anchors_microusd, anchors.microusd.toString(), anchors.from)
  findings.same(`${own}.score`, shown.score, covered.score, [
    `${own}.anchors_microusd`,
    `${own}.external_microusd`,
  ])
  return covered.caps
}

export const bpsText = (deviation: Fraction): string => (deviation.num === 0n ? '0' : display(deviation))
