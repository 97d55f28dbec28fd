/** Whether the service would publish a wanted price at a wanted score, and when: asked of the live rules on a rehearsal. */
import { compareExactly, type Fraction } from '../exact/fraction.ts'
import { WINDOW_MS } from '../rules/temporalWindow.ts'
import { type Ms, ms, type Score, score } from '../units.ts'
import type { Push } from './push.ts'
import type { Look, Rehearsal } from './rehearsal.ts'

/** The least score at which a price counts as accepted; below it readers are advised to be careful. */
export const BELIEVED: Score = score(4)

/** When every five-minute median has followed and what is held for longer changes nothing up to 1,000 bps. */
export const SETTLED_MS: Ms = ms(WINDOW_MS + 60_000)

/** Looks for the first moment of belief: dues between the push and then. */
const MAX_STEPS = 48

export type Wanted = {
  readonly isUp: boolean
  /** USD of a whole token: at least this far. */
  readonly target: Fraction
  /** How far that is from the present one. */
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
  /** How many millionths short of the wanted price it is, less than 0 for beyond it; null without a price. */
  readonly short: bigint | null
}

/** What comes of pushes that are held: at once, or once the medians have followed. */
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

/** Rounded towards what is further to go. */
function shortOf({ isUp, target }: Wanted, price: Fraction): bigint {
  const [far, near] = isUp
    ? [target.num * price.den, target.den * price.num]
    : [target.den * price.num, target.num * price.den]
  return (far * MILLION) / near - MILLION + 1n
}

const MILLION = 1_000_000n

/** How long what is believed in the end must be held, and what is published then. */
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
