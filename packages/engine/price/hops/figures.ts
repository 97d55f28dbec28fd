/**
 * What follows from a pool's own state and the decimals of its tokens, whatever the time: its ratios in whole
 * tokens, the guard it fails by itself, and how steady its price has been. Worked out once per state; most pools
 * are asked for again and again between two changes.
 */
import { bitsOf } from '../../exact/bits.ts'
import { powerOfTen } from '../../exact/decimal.ts'
import { type Fraction, near, times } from '../../exact/ratio.ts'
import type { Decimals, Pool, PoolState } from '../../state.ts'
import { asNear, type Count, count, type Ms, ms, type Near, type Score, score } from '../../units.ts'
import { temporalScore } from '../../rules/bands.ts'
import * as depthAverage from '../../rules/depthAverage.ts'
import type { DepthAverage } from '../../rules/depthAverage.ts'
import type { Scale } from '../evaluation.ts'
import { flawOf } from '../../rules/guards.ts'
import { jumpEndsAt } from '../../rules/magnitudeJump.ts'
import type { Moment } from '../moment.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Failure } from '../../rules/reasons.ts'
import * as temporal from '../../rules/temporalMedian.ts'

const NEVER = ms(Number.POSITIVE_INFINITY)

export class Figures {
  readonly state: PoolState
  readonly policy: Policy
  readonly from: Decimals | null
  readonly to: Decimals | null
  /** Of the state itself, copied to where every look at the pool finds it with the rest. */
  readonly verifiedNumber: Count
  readonly verifiedMs: Ms
  readonly isVerified: boolean
  readonly changedNumber: Count
  readonly depthY: bigint | null
  /** When it last traded, or else since when it is followed. */
  readonly quietSinceMs: Ms
  readonly jumpEndsMs: Ms | null
  /** L_eff is the depth itself, and stays so. */
  readonly isFull: boolean
  readonly scale: Scale | null
  /** q(X→Y) in whole tokens, from the evidence. */
  readonly ratio: Fraction | null
  /** About where that ratio is, and its longer side. */
  readonly near: Near
  readonly bits: Count
  /** The same from the fee-free marginal. */
  readonly marginal: Fraction | null
  /** The first guard that neither time nor anchors have a part in. */
  readonly flaw: Failure | null
  /** From when on the whole window of the history is known. */
  readonly #coveredFromMs: Ms
  /** From then on the best temporal score holds: the median only ever walks towards the ratio of now. */
  #bestFromMs: Ms = NEVER
  readonly #average: DepthAverage | null
  #changeMs: Ms = NEVER
  #changeSeenMs: Ms = NEVER
  #effective: bigint | null = null
  #effectiveAtMs: Ms = NEVER
  #past: { readonly fromMs: Ms; readonly untilMs: Ms; readonly reference: temporal.Reference } | null = null

  constructor(pool: Pool, policy: Policy, from: Decimals | null, to: Decimals | null) {
    const { state } = pool
    const { average, evidence, history, marginal } = state
    this.state = state
    this.policy = policy
    this.from = from
    this.to = to
    this.verifiedNumber = state.verifiedNumber
    this.verifiedMs = state.verifiedMs
    this.isVerified = state.verified
    this.changedNumber = state.changed.number
    this.depthY = state.depthY
    this.quietSinceMs = state.lastTradeMs ?? state.trackedSinceMs
    this.jumpEndsMs = state.jump === null ? null : jumpEndsAt(state.jump, policy)
    this.isFull = average === null || depthAverage.isFull(average)
    this.#average = average
    const scale = scaleOf(from, to)
    this.scale = scale
    this.ratio =
      evidence === null || scale === null
        ? null
        : times({ num: evidence.amountOut, den: evidence.amountIn }, scale.whole)
    this.near = this.ratio === null ? asNear(Number.NaN) : near(this.ratio)
    this.bits = this.ratio === null ? count(0) : bitsOf(this.ratio)
    this.marginal = marginal === null || scale === null ? null : times(marginal, scale.whole)
    this.flaw = flawOf(pool, policy, from, to)
    this.#coveredFromMs = temporal.coveredFrom(history) ?? NEVER
  }

  /** L_eff in Y; null before the first depth. */
  effectiveAt(atMs: Ms): bigint | null {
    const average = this.#average
    if (average === null || this.isFull) return average === null ? null : average.l
    if (this.#effectiveAtMs !== atMs) {
      this.#effective = depthAverage.effective(average, atMs)
      this.#effectiveAtMs = atMs
    }
    return this.#effective
  }

  /** Whether the five minutes before `atMs` are known. */
  isCoveredAt(atMs: Ms): boolean {
    return atMs >= this.#coveredFromMs
  }

  /** Its five-minute median at `atMs`: the last one found, until it gives way to another. */
  pastAt(atMs: Ms): temporal.Reference {
    const past = this.#past
    if (past !== null && (atMs === past.fromMs || (atMs > past.fromMs && atMs < past.untilMs)))
      return past.reference
    const reference = temporal.reference(this.state.history, atMs)
    // How long it holds is not known before someone asks.
    this.#past = { fromMs: atMs, untilMs: atMs, reference }
    return reference
  }

  temporalScoreAt(atMs: Ms): Score {
    if (atMs >= this.#bestFromMs) return score(10)
    const { history, marginal } = this.state
    if (marginal === null) return score(0)
    const found = temporalScore(marginal, this.pastAt(atMs), history.open?.near)
    if (found === 10) this.#bestFromMs = atMs
    return found
  }

  /** When a cap or the temporal score may next change by itself: the same for every look until then. */
  nextChange(atMs: Ms): Ms {
    if (atMs < this.#changeSeenMs || atMs >= this.#changeMs) {
      this.#changeMs = this.#findChange(atMs)
      this.#changeSeenMs = atMs
    }
    return this.#changeMs
  }

  #findChange(atMs: Ms): Ms {
    let next = this.#nextTemporalChange(atMs) ?? NEVER
    const note = (time: Ms): void => {
      if (time > atMs && time < next) next = time
    }
    for (const { over_ms } of this.policy.trade_age_caps) note(ms(this.quietSinceMs + over_ms + 1))
    if (this.jumpEndsMs !== null) note(this.jumpEndsMs)
    return next
  }

  /** When the temporal score may change by itself; null if never. */
  #nextTemporalChange(atMs: Ms): Ms | null {
    const isCovered = this.isCoveredAt(atMs)
    if (isCovered && this.temporalScoreAt(atMs) === 10) return null
    const reference = this.pastAt(atMs)
    const flipMs = temporal.nextFlip(this.state.history, atMs, reference)
    if (isCovered) this.#past = { fromMs: atMs, untilMs: flipMs ?? NEVER, reference }
    return flipMs
  }
}

/** A caller's narrowed policy is not the operator's: what follows from it is not kept. */
export function figuresOf(moment: Moment, pool: Pool): Figures {
  const { policyView } = moment.state
  const { around } = pool
  const from = around.from.decimals
  const to = around.to.decimals
  const known = around.figures
  if (
    known !== null &&
    known.state === pool.state &&
    known.from === from &&
    known.to === to &&
    known.policy === moment.policy
  )
    return known
  const figures = new Figures(pool, moment.policy, from, to)
  if (moment.policy === policyView.policy) around.figures = figures
  return figures
}

/** Null while the decimals of either token are not verified. */
function scaleOf(from: Decimals | null, to: Decimals | null): Scale | null {
  const fromDecimals = usable(from)
  const toDecimals = usable(to)
  if (fromDecimals === null || toDecimals === null) return null
  const common = Math.min(fromDecimals, toDecimals)
  return {
    from: powerOfTen(fromDecimals),
    to: powerOfTen(toDecimals),
    whole: { num: powerOfTen(count(fromDecimals - common)), den: powerOfTen(count(toDecimals - common)) },
  }
}

const usable = (decimals: Decimals | null) =>
  decimals === null || decimals.changedTo !== null ? null : decimals.value
