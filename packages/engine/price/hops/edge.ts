/**
 * A pool as a hop X→Y at one moment: its ratio, its capacity in dollars, and the weakest link of its score.
 *
 * An edge always stands in the pool's canonical orientation, which is the only one a route ever walks. A
 * hop that breaks a guard has score 0 and says which rule it failed and by how much; its other numbers are
 * still shown, but worked out only for whoever looks: most candidates are never asked.
 */
import { divideUp } from '../../amm/sqrtPriceMath.ts'
import type { Address } from '../../chain/block.ts'
import { powerOfTen } from '../../exact/decimal.ts'
import type { Fraction } from '../../exact/ratio.ts'
import type { Decimals, Pool, PoolState, ProvenRun } from '../../state.ts'
import { type Count, type Ms, ms, type Near, score, type Score } from '../../units.ts'
import { depthScore, freshnessScore, nextFreshnessBoundary, stateScore } from '../../rules/bands.ts'
import * as depthAverage from '../../rules/depthAverage.ts'
import type { Agreement, Edge, EdgeComponents, Finality, Scale, StableView } from '../evaluation.ts'
import { type Figures, figuresOf } from './figures.ts'
import { failureOf, zeroScore } from '../../rules/guards.ts'
import { type Anchor, finalityAt, type Moment } from '../moment.ts'
import { pairAgreement } from '../vote/pairAgreement.ts'
import type { Cap, Failure, Rejection } from '../../rules/reasons.ts'
import { stableView } from './stableView.ts'

const MICRO = 1_000_000n

/** While an average is still climbing to its depth, capacity grows with time: look again this often. */
export const CLIMBING_MS = 60_000

const NEVER = ms(Number.POSITIVE_INFINITY)

/** Rules asked only of a hop that has not expired: once it has, that is the reason. */
const AFTER_EXPIRY: ReadonlySet<Rejection> = new Set([
  'ANCHOR_UNPRICED',
  'BELOW_MIN_DEPTH',
  'CIRCULAR',
  'FEED',
  'NO_ANCHOR',
  'STABLE_SUSPENDED',
])

export function edgeOf(moment: Moment, pool: Pool): Edge {
  const known = moment.edges.get(pool)
  if (known !== undefined) return known
  const edge = new PoolEdge(moment, pool)
  moment.edges.set(pool, edge)
  return edge
}

/**
 * Of a hop that surely has no price to give, told without working it out: when time alone may change a component of
 * it, as `dueMs` of the edge would say. Null where only the edge itself can tell.
 */
export function deadUntil(moment: Moment, pool: Pool, figures: Figures, verifiedMs: Ms): Ms | null {
  const { atMs, ttlMs } = moment
  if (figures.flaw !== null) return NEVER
  const expiresAtMs = ms(verifiedMs + ttlMs)
  if (atMs >= expiresAtMs) return NEVER
  const { leastY, rule } = anchorOf(moment, pool.to)
  if (rule === 'NO_ANCHOR') return expiresAtMs
  const { depthY } = figures
  const effective = figures.effectiveAt(atMs)
  if (leastY === null || effective === null || depthY === null || effective >= leastY) return null
  if (figures.isFull) return expiresAtMs
  return depthAverage.isFarBelow(effective, depthY) ? ms(Math.min(atMs + CLIMBING_MS, expiresAtMs)) : null
}

class PoolEdge implements Edge {
  readonly pool: Pool
  readonly state: PoolState
  readonly toUsd: Fraction | null
  readonly finality: Finality
  readonly verifiedMs: Ms
  readonly expiresAtMs: Ms
  readonly freshness: EdgeComponents['freshness']
  readonly failure: Failure | null
  readonly #moment: Moment
  readonly #anchor: Anchor
  readonly #figures: Figures
  #capacity: bigint | null | undefined = undefined
  #agreed: Agreement | null = null
  #caps: readonly Cap[] | null = null
  #components: EdgeComponents | null = null
  #score: Score | null = null

  constructor(moment: Moment, pool: Pool) {
    const { atMs, ttlMs } = moment
    const anchor = anchorOf(moment, pool.to)
    const figures = figuresOf(moment, pool)
    this.pool = pool
    this.state = figures.state
    this.#moment = moment
    this.#anchor = anchor
    this.#figures = figures
    this.toUsd = anchor.usd
    this.finality = figures.isVerified ? finalityAt(moment, figures.changedNumber) : 'unverified'
    this.verifiedMs = verifiedAt(moment.state.chain.proven, figures)
    this.expiresAtMs = ms(this.verifiedMs + ttlMs)
    const ageMs = ms(Math.max(0, atMs - this.verifiedMs))
    this.freshness = { score: freshnessScore(ageMs, ttlMs), ageMs, ttlMs }
    const failed = figures.flaw ?? failureOf(moment, this, anchor)
    if (failed !== null) this.#score = score(0)
    this.failure = failed ?? (this.#isWorthless() ? zeroScore(this.components, this.caps) : null)
  }

  get ratio(): Fraction | null {
    return this.#figures.ratio
  }

  get near(): Near {
    return this.#figures.near
  }

  get bits(): Count {
    return this.#figures.bits
  }

  get marginal(): Fraction | null {
    return this.#figures.marginal
  }

  get scale(): Scale | null {
    return this.#figures.scale
  }

  get unitMicrousd(): Fraction | null {
    return this.scale === null ? null : this.#anchor.unitMicrousd
  }

  get averageY(): bigint | null {
    const { average } = this.state
    return average === null ? null : depthAverage.value(average, this.#moment.atMs)
  }

  get effectiveY(): bigint | null {
    const { depthY } = this.#figures
    // The depth that the average goes towards is this one, so only an average below it holds it back.
    const effective = this.#figures.effectiveAt(this.#moment.atMs)
    return effective === null || depthY === null ? null : min(depthY, effective)
  }

  get capacity(): bigint | null {
    if (this.#capacity === undefined) {
      const { effectiveY, unitMicrousd } = this
      this.#capacity =
        effectiveY === null || unitMicrousd === null ? null : microusd(effectiveY, unitMicrousd)
    }
    return this.#capacity
  }

  get settled(): Score {
    const { from, to } = this.#figures
    const moment = this.#moment
    return score(Math.min(stateScore(this.finality), decimalsScore(moment, from), decimalsScore(moment, to)))
  }

  get caps(): readonly Cap[] {
    this.#caps ??= this.#activeCaps()
    return this.#caps
  }

  get components(): EdgeComponents {
    this.#components ??= this.#allComponents()
    return this.#components
  }

  get score(): Score {
    this.#score ??= this.#weakest()
    return this.#score
  }

  /** Past the guards only the policy, a stable or a depth of nothing can leave a score of 0; else it is not asked for. */
  #isWorthless(): boolean {
    const mayBe = this.#moment.mayScoreZero || this.capacity === 0n || this.#anchor.stable?.score === 0
    return mayBe && this.score === 0
  }

  /**
   * The earliest later time at which a component, a cap or the failed rule changes with no event. Nothing heals
   * with age: of what has failed only depth that is still climbing, and expiry comes before the later rules.
   */
  get dueMs(): Ms {
    const rule = this.failure?.rule
    if (rule === undefined || rule === 'SCORE_ZERO') return this.#nextChange()
    if (!AFTER_EXPIRY.has(rule)) return NEVER
    const mayPass = rule === 'BELOW_MIN_DEPTH' && this.isClimbing
    return mayPass ? ms(Math.min(this.#moment.atMs + CLIMBING_MS, this.expiresAtMs)) : this.expiresAtMs
  }

  #nextChange(): Ms {
    const { atMs, ttlMs } = this.#moment
    let dueMs = this.#figures.nextChange(atMs)
    if (this.isClimbing && atMs + CLIMBING_MS < dueMs) dueMs = ms(atMs + CLIMBING_MS)
    const untilFreshness = nextFreshnessBoundary(this.freshness.ageMs, ttlMs)
    if (untilFreshness === null) return dueMs
    const agedMs = ms(atMs - this.freshness.ageMs + untilFreshness)
    return agedMs > atMs && agedMs < dueMs ? agedMs : dueMs
  }

  get isClimbing(): boolean {
    const { depthY, isFull } = this.#figures
    if (depthY === null || isFull) return false
    const effective = this.#figures.effectiveAt(this.#moment.atMs) as bigint
    return depthAverage.isFarBelow(effective, depthY) || this.#isBelowBand(depthY)
  }

  /** Even the last thousandth counts where it leads into another band. */
  #isBelowBand(depthY: bigint): boolean {
    const { capacity, unitMicrousd } = this
    if (capacity === null || unitMicrousd === null) return false
    const { leastMicrousd } = this.#moment
    const full = microusd(depthY, unitMicrousd)
    return depthScore(full) > depthScore(capacity) || (capacity < leastMicrousd && full >= leastMicrousd)
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
    return this.#figures.temporalScoreAt(this.#moment.atMs)
  }

  #activeCaps(): Cap[] {
    const { atMs, policy } = this.#moment
    const { jumpEndsMs, quietSinceMs } = this.#figures
    const caps: Cap[] = [...this.#agreement.caps]
    if (!this.#figures.isCoveredAt(atMs))
      caps.push({ code: 'INSUFFICIENT_HISTORY', cap: this.#temporalScore })
    const tradeAgeMs = atMs - quietSinceMs
    const quiet = policy.trade_age_caps.findLast(each => tradeAgeMs > each.over_ms)
    if (quiet !== undefined) caps.push({ code: 'NO_RECENT_TRADE', cap: quiet.cap })
    if (jumpEndsMs !== null && atMs < jumpEndsMs) caps.push({ code: 'MAGNITUDE_JUMP', cap: policy.jump.cap })
    if (this.#anchor.stable !== null) caps.push(...this.#anchor.stable.caps)
    return caps
  }

  #allComponents(): EdgeComponents {
    const past = this.#figures.pastAt(this.#moment.atMs)
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

/** ⌊units × what one is worth⌋ in microdollars: depth never rounds up. */
export const microusd = (units: bigint, { num, den }: Fraction): bigint => (units * num) / den

type Verified = Pick<PoolState, 'verifiedMs' | 'verifiedNumber'>

/** The time of the last verification: the pool's own, or a proven run that reaches back to it. */
export function verifiedAt(runs: readonly ProvenRun[], state: Verified): Ms {
  for (let at = runs.length - 1; at >= 0; at--) {
    const run = runs[at] as ProvenRun
    if (state.verifiedNumber > run.last) break
    if (state.verifiedNumber >= run.first - 1)
      return run.lastMs > state.verifiedMs ? run.lastMs : state.verifiedMs
  }
  return state.verifiedMs
}

/** A decimals reading is causal state too: it counts as final when its block is. */
function decimalsScore(moment: Moment, decimals: Decimals | null): Score {
  return decimals === null ? score(0) : stateScore(finalityAt(moment, decimals.block.number))
}

const without = (rule: Rejection, stable: StableView | null = null): Anchor => ({
  usd: null,
  unitMicrousd: null,
  leastY: null,
  stable,
  rule,
})

const CIRCULAR = without('CIRCULAR')
const NO_ANCHOR = without('NO_ANCHOR')
const UNPRICED = without('ANCHOR_UNPRICED')

function anchorOf(moment: Moment, to: Address): Anchor {
  const known = moment.anchors.get(to)
  if (known !== undefined) return known
  const anchor = findAnchor(moment, to)
  // An asset that is not valued yet will be.
  if (anchor !== CIRCULAR) moment.anchors.set(to, anchor)
  return anchor
}

function findAnchor(moment: Moment, to: Address): Anchor {
  const stable = stableView(moment, to)
  if (stable !== null)
    return stable.status === 'SUSPENDED'
      ? without('STABLE_SUSPENDED', stable)
      : anchorAt(moment, to, stable.usd, stable)
  const valuation = moment.valuations.get(to)
  if (valuation === undefined) return moment.state.setup.routingAssets.includes(to) ? CIRCULAR : NO_ANCHOR
  const { evaluation } = valuation
  return evaluation.kind === 'PRICED' ? anchorAt(moment, to, evaluation.price, null) : UNPRICED
}

function anchorAt(moment: Moment, to: Address, usd: Fraction, stable: StableView | null): Anchor {
  const decimals = moment.state.tokens.get(to)?.decimals?.value ?? null
  if (decimals === null) return { usd, unitMicrousd: null, leastY: null, stable, rule: null }
  const unitMicrousd = { num: usd.num * MICRO, den: usd.den * powerOfTen(decimals) }
  // The least amount that is worth `min_depth_usd` when what it is worth is rounded down.
  const leastY = divideUp(moment.leastMicrousd * unitMicrousd.den, unitMicrousd.num)
  return { usd, unitMicrousd, leastY, stable, rule: null }
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
