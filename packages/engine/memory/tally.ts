/**
 * How long the ratios of a tape held below a place, and at it. Kept from one read to the next: of the hundreds in a
 * window only those that have left it or have ended since are looked at.
 */
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { type Count, count, type Ms, ms, type Near, type Sign } from '../units.ts'

/** A ratio, and about where it is. */
export type Place = { readonly ratio: Fraction; readonly near: Near }

/** Changes that follow one another without a gap, side by side, oldest first. What stands here stays as it is. */
export type Changes = {
  readonly fromMs: readonly Ms[]
  readonly ratios: readonly Fraction[]
  readonly nears: readonly Near[]
}

/** Where nothing was found. */
export const NOWHERE = count(-1)

export class Tally {
  readonly place: Place
  /** Of the changes [start, end). */
  #start = count(0)
  #end = count(0)
  #belowMs = ms(0)
  #sameMs = ms(0)
  /** The oldest of them that is the same ratio. */
  #first = NOWHERE

  constructor(place: Place) {
    this.place = place
  }

  get belowMs(): Ms {
    return this.#belowMs
  }

  get sameMs(): Ms {
    return this.#sameMs
  }

  get first(): Count {
    return this.#first
  }

  /** Counts the changes [start, end), of which the last ends where another begins. */
  moveTo(changes: Changes, start: Count, end: Count): void {
    if (this.#start > start || this.#end > end || this.#end < start) this.#startAt(start)
    while (this.#start < start) {
      this.#count(changes, this.#start, -1)
      this.#start = count(this.#start + 1)
    }
    if (this.#first < start) this.#first = this.#sameMs > 0 ? this.#nextSame(changes) : NOWHERE
    while (this.#end < end) {
      const isSame = this.#count(changes, this.#end, 1)
      if (isSame && this.#first === NOWHERE) this.#first = this.#end
      this.#end = count(this.#end + 1)
    }
  }

  #startAt(start: Count): void {
    this.#start = start
    this.#end = start
    this.#belowMs = ms(0)
    this.#sameMs = ms(0)
    this.#first = NOWHERE
  }

  #count(changes: Changes, at: Count, times: 1 | -1): boolean {
    const heldMs = times * ((changes.fromMs[at + 1] as Ms) - (changes.fromMs[at] as Ms))
    const sign = this.#signAt(changes, at)
    if (sign < 0) this.#belowMs = ms(this.#belowMs + heldMs)
    else if (sign === 0) this.#sameMs = ms(this.#sameMs + heldMs)
    return sign === 0
  }

  #nextSame(changes: Changes): Count {
    let at = this.#start
    while (this.#signAt(changes, at) !== 0) at = count(at + 1)
    return at
  }

  #signAt({ nears, ratios }: Changes, at: Count): Sign {
    return compareTo(this.place, ratios[at] as Fraction, nears[at] as Near)
  }
}

/** Which side of a place a ratio is on; -1 is below. Taken apart: to make a place for every comparison would take longer. */
export function compareTo(place: Place, own: Fraction, near: Near): Sign {
  const sign = fraction.compareNear(near, place.near)
  if (sign !== 0) return sign
  return own === place.ratio ? 0 : fraction.compareExactly(own, place.ratio)
}
