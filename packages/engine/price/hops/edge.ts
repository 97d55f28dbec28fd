/**
 * A pool as a hop X→Y at one moment: its ratio, its capacity in dollars, and the weakest link of its score.
 *
 * An edge always has the pool's canonical orientation, the only one that routes use. A hop that fails a guard has
 * score 0, with the rule and the values. Its other numbers are computed only on demand: most are never read.
 */
import type { Fraction } from '../../exact/fraction.ts'
import { reference } from '../../memory/tapeMedian.ts'
import type { Coverage } from '../../rules/coverage.ts'
import { value as averageAt } from '../../rules/depthAverage.ts'
import { scalingOf } from '../../rules/decimals.ts'
import { depthScore } from '../../rules/depthScore.ts'
import { stateScore } from '../../rules/feedAndState.ts'
import { type Freshness, freshness, verifiedAt } from '../../rules/freshness.ts'
import { guardFailure, guardOf, zeroScore } from '../../rules/guards.ts'
import { hookCaps } from '../../rules/hook.ts'
import { hopCapacity } from '../../rules/hopCapacity.ts'
import type { Cap, Failure, Rejection } from '../../rules/reasons.ts'
import { earlier, FOREVER } from '../../rules/timed.ts'
import type { Decimals, Pool, PoolState, Derived, Outlook } from '../../entities.ts'
import { type Ms, ms, score, type Score } from '../../units.ts'
import type { Agreement, Edge, EdgeComponents, Finality } from '../evaluation.ts'
import { type Anchor, finalityAt, type Moment } from '../moment.ts'
import { derivedAt } from './derived.ts'
import { outlookOf } from './outlook.ts'

/** How far a hop is to be trusted. */
type Confidence = { readonly agreement: Agreement; readonly caps: readonly Cap[]; readonly score: Score }

export class PoolEdge implements Edge {
  readonly pool: Pool
  readonly state: PoolState
  readonly derived: Derived
  readonly verifiedMs: Ms
  readonly expiresAtMs: Ms
  readonly freshness: Freshness
  readonly capacity: bigint | null
  readonly isClimbing: boolean
  readonly rule: Rejection | null
  readonly dueMs: Ms
  readonly #moment: Moment
  readonly #anchor: Anchor
  readonly #coverage: Coverage | null
  #confidence: Confidence | null = null
  #outlook: Outlook | null = null

  constructor(moment: Moment, pool: Pool, coverage: Coverage | null = null) {
    const { atMs, ttlMs, leastMicrousd, feed } = moment
    const { state } = pool
    const anchor = moment.anchor(pool.to)
    const derived = derivedAt(moment, pool)
    this.pool = pool
    this.state = state
    this.#moment = moment
    this.#anchor = anchor
    this.derived = derived
    this.#coverage = coverage
    this.verifiedMs = verifiedAt(moment.state.chain.proven, state)
    this.expiresAtMs = ms(this.verifiedMs + ttlMs)
    const fresh = freshness(this.verifiedMs, ttlMs, atMs)
    this.freshness = fresh.value
    const capacity = hopCapacity(
      state,
      derived.scale === null ? null : anchor.unitMicrousd,
      leastMicrousd,
      atMs,
    )
    this.capacity = capacity.value
    this.isClimbing = capacity.untilMs !== FOREVER
    const guarded =
      derived.flaw === null
        ? guardOf({
            freshness: fresh.value,
            expiresAtMs: this.expiresAtMs,
            anchorRule: anchor.rule,
            capacity,
            leastMicrousd,
            feed,
          })
        : { value: derived.flaw.rule, untilMs: FOREVER }
    this.rule = guarded.value ?? (coverage === null && this.#isWorthless() ? 'SCORE_ZERO' : null)
    this.dueMs =
      guarded.value === null
        ? earlier(earlier(guarded.untilMs, fresh.untilMs), this.outlook.untilMs)
        : guarded.untilMs
  }

  get failure(): Failure | null {
    const { rule } = this
    const { feed, leastMicrousd } = this.#moment
    if (rule === null || this.derived.flaw !== null) return this.derived.flaw
    return rule === 'SCORE_ZERO'
      ? zeroScore(this.components, this.caps)
      : guardFailure(rule, this, leastMicrousd, feed)
  }

  get toUsd(): Fraction | null {
    return this.#anchor.usd
  }

  get unitMicrousd(): Fraction | null {
    return this.derived.scale === null ? null : this.#anchor.unitMicrousd
  }

  get averageY(): bigint | null {
    const { average } = this.state
    return average === null ? null : averageAt(average, this.#moment.atMs)
  }

  get finality(): Finality {
    const { verified, changed } = this.state
    return verified ? finalityAt(this.#moment, changed.number) : 'unverified'
  }

  get settled(): Score {
    const { from, to } = this.pool.around
    const moment = this.#moment
    return score(
      Math.min(
        stateScore(this.finality),
        decimalsScore(moment, from.decimals),
        decimalsScore(moment, to.decimals),
      ),
    )
  }

  get score(): Score {
    return this.rule === null ? this.#trust.score : score(0)
  }

  get caps(): readonly Cap[] {
    return this.#trust.caps
  }

  get components(): EdgeComponents {
    const { atMs, feed } = this.#moment
    const { stable } = this.#anchor
    const past = reference(this.state.history, atMs)
    return {
      depth: { score: this.#depthScore },
      freshness: this.freshness,
      agreement: this.#trust.agreement,
      temporal: {
        score: this.outlook.temporal,
        median: 'median' in past ? past.median : null,
        coveredMs: past.coveredMs,
      },
      feed,
      state: { score: stateScore(this.finality), finality: this.finality },
      stable: stable === null ? null : { score: stable.score },
      coverage: this.#coverage,
    }
  }

  /** Once the guards pass, only the policy, a stable or zero depth can leave a score of 0. */
  #isWorthless(): boolean {
    const mayBe = this.#moment.mayScoreZero || this.capacity === 0n || this.#anchor.stable?.score === 0
    return mayBe && this.#trust.score === 0
  }

  get #trust(): Confidence {
    this.#confidence ??= this.#weigh()
    return this.#confidence
  }

  /** The minimum of all components and caps. */
  #weigh(): Confidence {
    const { stable } = this.#anchor
    const outlook = this.outlook
    const agreement = this.#moment.agreement(this.pool)
    const coverage = this.#coverage
    const caps = together(agreement.caps, outlook.caps, hookCaps(this.pool), stable?.caps, coverage?.caps)
    let least = Math.min(
      this.#depthScore,
      this.freshness.score,
      agreement.score,
      outlook.temporal,
      this.#moment.feed.score,
      stateScore(this.finality),
      stable === null ? 10 : stable.score,
      coverage === null ? 10 : coverage.score,
    )
    for (const { cap } of caps) least = Math.min(least, cap)
    return { agreement, caps, score: score(least) }
  }

  get #depthScore(): Score {
    return this.capacity === null ? score(0) : depthScore(this.capacity)
  }

  get outlook(): Outlook {
    this.#outlook ??= outlookAt(this.#moment, this)
    return this.#outlook
  }
}

function outlookAt({ policy, atMs }: Moment, { pool, state }: Edge): Outlook {
  const { outlook, from, to } = pool.around
  const [x, y] = [from.decimals, to.decimals]
  const known = outlook.recall(atMs, state, policy, x, y)
  return known ?? outlook.keep(atMs, state, policy, x, y, outlookOf(state, scalingOf(x, y), policy, atMs))
}

/** Most edges have no cap, or those of one list alone. */
function together(...lists: readonly (readonly Cap[] | undefined)[]): readonly Cap[] {
  let all: readonly Cap[] = NO_CAPS
  for (const list of lists)
    if (list !== undefined && list.length > 0) all = all.length === 0 ? list : [...all, ...list]
  return all
}

const NO_CAPS: readonly Cap[] = []

/** A decimals reading is causal state too: it counts as final when its block is. */
function decimalsScore(moment: Moment, decimals: Decimals | null): Score {
  return decimals === null ? score(0) : stateScore(finalityAt(moment, decimals.block.number))
}
