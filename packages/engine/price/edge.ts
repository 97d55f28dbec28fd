/**
 * A pool as a hop X→Y at one moment: its ratio, its capacity in dollars, and the weakest link of its score.
 *
 * An edge always stands in the pool's canonical orientation, which is the only one a route ever walks. A
 * hop that breaks a guard has score 0 and says which rule it failed and by how much; its other numbers are
 * still shown, but worked out only for whoever looks: most candidates are never asked.
 */
import type { Address } from '../chain/block.ts'
import { powerOfTen } from '../exact/decimal.ts'
import type { Fraction } from '../exact/ratio.ts'
import type { Pool, PoolState, ProvenRun, Token } from '../state.ts'
import { type Count, type Ms, ms, score, type Score } from '../units.ts'
import {
  depthScore,
  freshnessScore,
  nextFreshnessBoundary,
  stateScore,
  STEADY_BPS,
  temporalScore,
} from './bands.ts'
import type { Agreement, Edge, EdgeComponents, Finality, Scale } from './evaluation.ts'
import { type Anchor, failureOf, zeroScore } from './guards.ts'
import * as jump from './jump.ts'
import { averageOf, finalityAt, type Moment } from './moment.ts'
import { pairAgreement } from './pairAgreement.ts'
import type { Cap, Failure } from './reasons.ts'
import { stableView } from './stableView.ts'
import * as temporal from './temporal.ts'

const MICRO = 1_000_000n

/** While an average is still climbing to its depth, capacity grows with time: look again this often. */
const WARMING_MS = 60_000

const NEVER = ms(Number.POSITIVE_INFINITY)

export function edgeOf(moment: Moment, pool: Pool): Edge {
  const known = moment.edges.get(pool)
  if (known !== undefined) return known
  const edge = new PoolEdge(moment, pool)
  moment.edges.set(pool, edge)
  return edge
}

class PoolEdge implements Edge {
  readonly pool: Pool
  readonly state: PoolState
  readonly scale: Scale | null
  readonly averageY: bigint | null
  readonly effectiveY: bigint | null
  readonly capacity: bigint | null
  readonly toUsd: Fraction | null
  readonly finality: Finality
  readonly settled: Score
  readonly verifiedMs: Ms
  readonly expiresAtMs: Ms
  readonly freshness: EdgeComponents['freshness']
  readonly failure: Failure | null
  readonly score: Score
  readonly #moment: Moment
  readonly #anchor: Anchor
  #agreed: Agreement | null = null
  #steadiness: Score | null = null
  #caps: readonly Cap[] | null = null
  #components: EdgeComponents | null = null

  constructor(moment: Moment, pool: Pool) {
    const { atMs, ttlMs } = moment
    const { state } = pool
    const from = moment.state.tokens.get(pool.from)
    const to = moment.state.tokens.get(pool.to)
    const anchor = anchorOf(moment, pool.to)
    this.pool = pool
    this.state = state
    this.#moment = moment
    this.#anchor = anchor
    this.toUsd = anchor.usd
    this.scale = scaleOf(from, to)
    this.averageY = averageOf(moment, pool)
    this.effectiveY =
      this.averageY === null || state.depthY === null ? null : min(state.depthY, this.averageY)
    this.capacity =
      this.effectiveY === null || anchor.usd === null || this.scale === null
        ? null
        : microusd(this.effectiveY, anchor.usd, this.scale.to)
    this.finality = state.verified ? finalityAt(moment, state.changed.number) : 'unverified'
    this.settled = score(
      Math.min(stateScore(this.finality), decimalsScore(moment, from), decimalsScore(moment, to)),
    )
    this.verifiedMs = verifiedAt(moment.state.chain.proven, state)
    this.expiresAtMs = ms(this.verifiedMs + ttlMs)
    const ageMs = ms(Math.max(0, atMs - this.verifiedMs))
    this.freshness = { score: freshnessScore(ageMs, ttlMs), ageMs, ttlMs }
    const failed = failureOf(moment, {
      pool,
      from,
      to,
      anchor,
      freshness: this.freshness,
      capacity: this.capacity,
    })
    const weakestLink = failed === null ? this.#weakest() : score(0)
    this.failure = failed ?? (weakestLink === 0 ? zeroScore(this.components, this.caps) : null)
    this.score = weakestLink
  }

  get ratio(): Fraction | null {
    const { scale } = this
    const { evidence } = this.state
    if (evidence === null || scale === null) return null
    return { num: evidence.amountOut * scale.from, den: evidence.amountIn * scale.to }
  }

  get marginal(): Fraction | null {
    const { scale } = this
    const { marginal } = this.state
    if (marginal === null || scale === null) return null
    return { num: marginal.num * scale.from, den: marginal.den * scale.to }
  }

  get caps(): readonly Cap[] {
    this.#caps ??= this.#activeCaps()
    return this.#caps
  }

  get components(): EdgeComponents {
    this.#components ??= this.#allComponents()
    return this.#components
  }

  /**
   * The earliest later time at which a component, a cap or the failed rule changes with no event. Nothing heals
   * with age: of what has failed only depth that is still climbing, and expiry comes before the later rules.
   */
  get dueMs(): Ms {
    switch (this.failure?.rule) {
      case undefined:
      case 'SCORE_ZERO':
        return this.#nextChange()
      case 'BELOW_MIN_DEPTH':
        return this.#isWarming()
          ? ms(Math.min(this.#moment.atMs + WARMING_MS, this.expiresAtMs))
          : this.expiresAtMs
      case 'ANCHOR_UNPRICED':
      case 'CIRCULAR':
      case 'FEED':
      case 'NO_ANCHOR':
      case 'STABLE_SUSPENDED':
        return this.expiresAtMs
      default:
        return NEVER
    }
  }

  #nextChange(): Ms {
    const { atMs, policy, ttlMs } = this.#moment
    const { state } = this
    const untilFreshness = nextFreshnessBoundary(this.freshness.ageMs, ttlMs)
    let due: number = untilFreshness === null ? NEVER : atMs - this.freshness.ageMs + untilFreshness
    const consider = (time: Ms | null) => {
      if (time !== null && time > atMs && time < due) due = time
    }
    // The median only ever walks towards the ratio of now, so the best score stays the best.
    if (this.#temporalScore < 10) consider(temporal.nextFlip(state.history, atMs))
    const lastTradeMs = state.lastTradeMs ?? state.trackedSinceMs
    for (const { over_ms } of policy.trade_age_caps) consider(ms(lastTradeMs + over_ms + 1))
    if (state.jump !== null) consider(jump.jumpEndsAt(state.jump, policy))
    if (this.#isWarming()) consider(ms(atMs + WARMING_MS))
    return ms(due)
  }

  #isWarming(): boolean {
    const { averageY } = this
    const { depthY } = this.state
    return averageY !== null && depthY !== null && averageY * 1000n < depthY * 999n
  }

  #weakest(): Score {
    let least = Math.min(
      this.#depthScore,
      this.freshness.score,
      this.#agreement.score,
      this.#temporalScore,
      this.#moment.feed.score,
      stateScore(this.finality),
      this.#anchor.stable === null ? 10 : this.#anchor.stable.score,
    )
    for (const { cap } of this.caps) least = Math.min(least, cap)
    return score(least)
  }

  get #depthScore(): Score {
    return this.capacity === null ? score(0) : depthScore(this.capacity)
  }

  get #agreement(): Agreement {
    this.#agreed ??= pairAgreement(this.#moment, this.pool)
    return this.#agreed
  }

  get #temporalScore(): Score {
    this.#steadiness ??= steadiness(this.state, this.#moment.atMs)
    return this.#steadiness
  }

  #activeCaps(): Cap[] {
    const { atMs, policy } = this.#moment
    const { state } = this
    const caps: Cap[] = [...this.#agreement.caps]
    if (!temporal.isCovered(state.history, atMs))
      caps.push({ code: 'INSUFFICIENT_HISTORY', cap: this.#temporalScore })
    const tradeAgeMs = atMs - (state.lastTradeMs ?? state.trackedSinceMs)
    const quiet = policy.trade_age_caps.findLast(each => tradeAgeMs > each.over_ms)
    if (quiet !== undefined) caps.push({ code: 'NO_RECENT_TRADE', cap: quiet.cap })
    if (state.jump !== null && jump.isJumping(state.jump, atMs, policy))
      caps.push({ code: 'MAGNITUDE_JUMP', cap: policy.jump.cap })
    if (this.#anchor.stable !== null) caps.push(...this.#anchor.stable.caps)
    return caps
  }

  #allComponents(): EdgeComponents {
    const past = temporal.reference(this.state.history, this.#moment.atMs)
    const { stable } = this.#anchor
    return {
      depth: { score: this.#depthScore },
      freshness: this.freshness,
      agreement: this.#agreement,
      temporal: {
        score: this.#temporalScore,
        median: 'median' in past ? past.median : null,
        coveredMs: past.coveredMs,
      },
      feed: this.#moment.feed,
      state: { score: stateScore(this.finality), finality: this.finality },
      stable: stable === null ? null : { score: stable.score },
      coverage: null,
    }
  }
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

/** The temporal score; without the median where no ratio of the window is far enough away to matter. */
function steadiness({ history, marginal }: PoolState, atMs: Ms): Score {
  if (marginal === null) return score(0)
  if (temporal.isCovered(history, atMs) && temporal.isWithin(history, marginal, STEADY_BPS)) return score(10)
  return temporalScore(marginal, temporal.reference(history, atMs))
}

/** 10^decimals of X and Y, or null while either is not verified. */
function scaleOf(from: Token | undefined, to: Token | undefined): Scale | null {
  const fromDecimals = decimalsOf(from)
  const toDecimals = decimalsOf(to)
  return fromDecimals === null || toDecimals === null
    ? null
    : { from: powerOfTen(fromDecimals), to: powerOfTen(toDecimals) }
}

function decimalsOf(token: Token | undefined): Count | null {
  const decimals = token?.decimals
  return decimals === undefined || decimals === null || decimals.changedTo !== null ? null : decimals.value
}

/** A decimals reading is causal state too: it counts as final when its block is. */
function decimalsScore(moment: Moment, token: Token | undefined): Score {
  const decimals = token?.decimals
  return decimals === undefined || decimals === null
    ? score(0)
    : stateScore(finalityAt(moment, decimals.block.number))
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

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
