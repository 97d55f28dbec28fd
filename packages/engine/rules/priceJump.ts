/**
 * PRICE_JUMP (R-past-5): a price far from what the token's own pools showed over the last hour is trusted less until
 * most of that hour agrees with it. A change of route cannot hide a change of price.
 *
 * Prices here are dollars per unit of X. Time only moves weight from the oldest ratios to the newest, so the
 * reference moves towards the newest and passes a bound once. Bisection finds that time.
 */
import { apart, apartApprox } from '../exact/apart.ts'
import { firstFrom } from '../exact/firstFrom.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { type Count, type Ms, ms, type Approx, type Score, type Sign } from '../units.ts'
import type { Kept, TokenPast, PastAt } from './ownPast.ts'
import { JUMP_CAPS, LEAST_COVERED_MS, MINUTE_MS, minuteOf, PAST_MS } from './pastWindow.ts'
import type { Cap } from './reasons.ts'
import { earlier, FOREVER, type Timed } from './timed.ts'
import { ascending } from './weightedMedian.ts'

/** The value of a unit of Y, in dollars. */
export type Worth = Fraction & { readonly approx: Approx }
export type WorthOf = (y: Kept['y']) => Worth | null

export type Reference = {
  /** The median by duration; null when nothing is covered. */
  readonly value: Fraction | null
  readonly coveredMs: Ms
}

/** The reference of a price: the median of the token's own pools over the last hour; null when nothing is covered. */
export type OwnPast = {
  readonly coveredMs: Ms
  readonly reference: Fraction | null
  readonly marginalUsd: Fraction
}

export type PriceJump = { readonly cap: Cap | null; readonly reference: Reference }

/**
 * The cap of a marginal price this far from its reference; null when the price is close, or when too little time is
 * covered.
 */
export function jumpCap(marginal: Fraction, reference: Reference): Cap | null {
  if (reference.value === null || reference.coveredMs < LEAST_COVERED_MS) return null
  for (const [bound, cap] of JUMP_CAPS)
    if (apart(marginal, reference.value, bound) >= 0) return { code: 'PRICE_JUMP', cap }
  return null
}

/** Expects a past without a finished minute left in its running one. */
export function priceJump({ past, toMs }: PastAt, worthOf: WorthOf, marginal: Fraction): Timed<PriceJump> {
  const newestMs = past.open.at(-1)?.fromMs ?? toMs
  const window = new Window(past, worthOf, marginal)
  const reference = window.reference(toMs)
  const cap = jumpCap(marginal, reference)
  return { value: { cap, reference }, untilMs: window.untilMs(toMs, newestMs) }
}

/** One ratio of the past, at the present value of its Y. */
class Span {
  readonly id = ''
  readonly approx: Approx
  readonly fromMs: Ms
  readonly untilMs: Ms
  /** The cap if the reference is here, and the side of the marginal price it is on. */
  readonly cap: Score | null
  readonly side: Sign
  readonly #ratio: Fraction
  readonly #worth: Worth

  constructor(
    { fromMs, ratio, approx }: Kept,
    untilMs: Ms,
    worth: Worth,
    marginal: Fraction,
    approxMarginal: Approx,
  ) {
    this.fromMs = fromMs
    this.untilMs = untilMs
    this.#ratio = ratio
    this.#worth = worth
    this.approx = fraction.approxProduct(approx, worth.approx)
    let cap: Score | null = null
    for (const [bound, value] of JUMP_CAPS) {
      const sign = apartApprox(this.approx, approxMarginal, bound) || apart(this.price, marginal, bound)
      if (sign < 0) continue
      cap = value
      break
    }
    this.cap = cap
    this.side =
      cap === null
        ? 0
        : fraction.compareApprox(this.approx, approxMarginal) || fraction.compareExactly(this.price, marginal)
  }

  get price(): Fraction {
    return fraction.times(this.#ratio, this.#worth)
  }
}

class Window {
  readonly #spans: readonly Span[]
  /** Indices of the spans by ascending price. */
  readonly #order: readonly Count[]
  /** A Y has no value at all, so its time is not covered. */
  readonly #isTorn: boolean
  /** When the running minute is replaced by its median. */
  readonly #rollsMs: Ms

  constructor({ minutes, open }: TokenPast, worthOf: WorthOf, marginal: Fraction) {
    const kept: readonly Kept[] = [...minutes, ...open]
    const approxMarginal = fraction.approx(marginal)
    const spans: Span[] = []
    kept.forEach((each, at) => {
      const worth = worthOf(each.y)
      const untilMs = kept[at + 1]?.fromMs ?? FOREVER
      if (worth !== null) spans.push(new Span(each, untilMs, worth, marginal, approxMarginal))
    })
    this.#spans = spans
    this.#order = ascending(spans)
    this.#isTorn = spans.length < kept.length
    const [first] = open
    this.#rollsMs =
      first === undefined || open.length === 1 ? FOREVER : ms(minuteOf(first.fromMs) + MINUTE_MS)
  }

  reference(toMs: Ms): Reference {
    return { value: this.#medianAt(toMs)?.price ?? null, coveredMs: this.#coveredMs(toMs) }
  }

  /** The first time after `toMs` at which the cap changes if nothing happens. */
  untilMs(toMs: Ms, newestMs: Ms): Ms {
    if (this.#spans.every(({ cap }) => cap === null)) return FOREVER
    if (this.#isTorn) return ms(toMs + MINUTE_MS)
    const [first] = this.#spans
    if (first !== undefined && toMs - first.fromMs < LEAST_COVERED_MS)
      return ms(first.fromMs + LEAST_COVERED_MS)
    const now = this.#medianAt(toMs)
    const isOther = (thenMs: Ms): boolean => {
      const then = this.#medianAt(thenMs)
      return then?.cap !== now?.cap || then?.side !== now?.side
    }
    // Once the newest ratio has held for the whole window, no other ratio is left in it.
    let last: Ms = ms(newestMs + PAST_MS)
    if (this.#rollsMs <= last) {
      last = ms(this.#rollsMs - 1)
      if (last <= toMs || !isOther(last)) return this.#rollsMs
    }
    if (last <= toMs || !isOther(last)) return FOREVER
    return firstFrom(toMs, last, isOther)
  }

  /** The first span by price at which twice the time at or below it reaches the covered time. */
  #medianAt(toMs: Ms): Span | null {
    const coveredMs = this.#coveredMs(toMs)
    let passedMs = 0
    for (const at of this.#order) {
      const span = this.#spans[at] as Span
      const heldMs = heldIn(span, toMs)
      passedMs += heldMs
      if (heldMs > 0 && 2 * passedMs >= coveredMs) return span
    }
    return null
  }

  #coveredMs(toMs: Ms): Ms {
    let coveredMs = 0
    for (const span of this.#spans) coveredMs += heldIn(span, toMs)
    return ms(coveredMs)
  }
}

/** How long the span held within the hour that ends at `toMs`. */
function heldIn({ fromMs, untilMs }: Span, toMs: Ms): Ms {
  const sinceMs = toMs - PAST_MS
  const beganMs = fromMs > sinceMs ? fromMs : sinceMs
  const endedMs = earlier(untilMs, toMs)
  return ms(endedMs > beganMs ? endedMs - beganMs : 0)
}
