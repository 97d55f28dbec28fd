/**
 * Whether, and when, the service would publish a wanted price at a wanted score, decided by the live rules on a
 * rehearsal.
 */
import { compareExactly, type Fraction } from '../exact/fraction.ts'
import { WINDOW_MS } from '../rules/temporalWindow.ts'
import { type Ms, ms, type Score, score } from '../units.ts'
import type { Push } from './push.ts'
import type { Look, Rehearsal } from './rehearsal.ts'

/** The least score at which a price counts as accepted; below it, readers are advised to be careful. */
export const BELIEVED: Score = score(4)

/** By then every five-minute median has followed, and holding longer changes nothing up to 1,000 bps. */
export const SETTLED_MS: Ms = ms(WINDOW_MS + 60_000)

/** The most due times, between the push and the end, that a search for the first accepted moment visits. */
const MAX_STEPS = 48

export type Wanted = {
  readonly isUp: boolean
  /** USD per whole token: the price must be at least this far. */
  readonly target: Fraction
  /** Distance from the present price. */
  readonly millionths: bigint
}

export function isSaid(wanted: Wanted, { evaluation }: Look): boolean {
  if (evaluation.kind === 'UNPRICED' || evaluation.score < BELIEVED) return false
  return isMoved(wanted, evaluation.price)
}

function isMoved({ isUp, target }: Wanted, price: Fraction): boolean {
  const sign = compareExactly(price, target)
  return isUp ? sign >= 0 : sign <= 0
}

export type Tried = {
  readonly isBelieved: boolean
  /** How many millionths short of the wanted price it is, negative beyond it; null without a price. */
  readonly short: bigint | null
}

/** The outcome of pushes that are held: at once, or after the medians have followed. */
export function tried(rehearsal: Rehearsal, wanted: Wanted, pushes: readonly Push[]): Tried {
  return rehearsal.attempt(pushes, () => {
    const now = rehearsal.lookAfter(ms(0))
    const { evaluation } = now
    if (evaluation.kind === 'UNPRICED') return { isBelieved: false, short: null }
    const short = shortOf(wanted, evaluation.price)
    if (!isMoved(wanted, evaluation.price)) return { isBelieved: false, short }
    const isBelieved = isSaid(wanted, now) || isSaid(wanted, rehearsal.lookAfter(SETTLED_MS))
    return { isBelieved, short }
  })
}

/** Rounded so that the remaining distance is never understated. */
function shortOf({ isUp, target }: Wanted, price: Fraction): bigint {
  const [far, near] = isUp
    ? [target.num * price.den, target.den * price.num]
    : [target.den * price.num, target.num * price.den]
  return (far * MILLION) / near - MILLION + 1n
}

const MILLION = 1_000_000n

/** How long a price that is accepted in the end must be held, and the state published then. */
export function heldFor(
  rehearsal: Rehearsal,
  wanted: Wanted,
  pushes: readonly Push[],
  leastMs: Ms,
): { readonly holdMs: Ms; readonly look: Look } {
  return rehearsal.attempt(pushes, () => {
    let holdMs = leastMs
    for (let step = 0; step < MAX_STEPS && holdMs < SETTLED_MS; step++) {
      const look = rehearsal.lookAfter(holdMs)
      if (isSaid(wanted, look)) return { holdMs, look }
      const dueMs = look.dueMs === null ? SETTLED_MS : look.dueMs - rehearsal.startMs
      holdMs = ms(Math.max(dueMs, holdMs + 1))
    }
    return { holdMs: SETTLED_MS, look: rehearsal.lookAfter(SETTLED_MS) }
  })
}
