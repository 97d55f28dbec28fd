/**
 * The value of a token in its own pools over the last hour (R-past-2, R-past-3): at each moment the median pool's
 * ratio, in units of its Y per unit of X, and which Y that was.
 *
 * A past holds no dollars except those that order the ratios of one minute, so a move of an anchor is not a move of
 * the token. A past is immutable: noting a ratio gives another past, and the journal may keep the old one.
 */
import type { Address } from '../chain/block.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { count, type Ms, ms, type Approx } from '../units.ts'
import { MINUTE_MS, minuteOf, PAST_MS } from './pastWindow.ts'
import { ascending } from './weightedMedian.ts'

/** A ratio of the median pool, held from `fromMs` until the next one. */
export type Kept = {
  readonly fromMs: Ms
  readonly ratio: Fraction
  readonly approx: Approx
  readonly y: Address
}

/** In the running minute, also the value of a unit of Y. */
export type Noted = Kept & { readonly worth: Fraction }

/** The minute that has not ended: every ratio in it, and when one of the token's own pools was last touched. */
export type Running = { readonly open: readonly Noted[]; readonly touchedMs: Ms }

/** `minutes` has one ratio for each full minute, oldest first, without repetitions of the previous one: at most 60. */
export type TokenPast = Running & { readonly minutes: readonly Kept[] }

/**
 * Notes the end of a moment that touched the token. `found` is null when none of its pools counts; the previous ratio
 * then continues to hold.
 */
export function note(past: TokenPast | null, timeMs: Ms, found: Omit<Noted, 'fromMs'> | null): TokenPast {
  const before = past ?? { minutes: [], open: [], touchedMs: timeMs }
  if (found === null) return before.touchedMs === timeMs ? before : { ...before, touchedMs: timeMs }
  const newest = before.open.at(-1)
  if (newest === undefined) return { ...before, touchedMs: timeMs, open: [{ ...found, fromMs: timeMs }] }
  // Chain time does not run backwards. If a block claims that it does, use the previous time.
  const atMs = timeMs > newest.fromMs ? timeMs : newest.fromMs
  const { minutes, open } = rolled(before, atMs)
  // Of several moments with the same time only the last counts, and one that repeats the ratio held before has
  // changed nothing.
  const isAgain = open.at(-1)?.fromMs === atMs && before.touchedMs >= timeMs
  const earlier = isAgain ? open.slice(0, -1) : open
  const held = earlier.at(-1)
  const isHeld = held !== undefined && isSame(held, found)
  return { minutes, open: isHeld ? earlier : [...earlier, { ...found, fromMs: atMs }], touchedMs: timeMs }
}

/** A past together with the time at which it is read. */
export type PastAt = { readonly past: TokenPast; readonly toMs: Ms }

/** A read from before the newest ratio, of a block ahead of our clock, counts as made when that ratio began. */
export function readAt(past: TokenPast, atMs: Ms): PastAt {
  const newestMs = past.open.at(-1)?.fromMs ?? atMs
  const toMs = atMs > newestMs ? atMs : newestMs
  return { past: rolled(past, toMs), toMs }
}

/** The same past with every minute that has ended by `atMs` reduced to its median. */
export function rolled(past: TokenPast, atMs: Ms): TokenPast {
  const [first] = past.open
  const startMs = minuteOf(atMs)
  if (first === undefined) return past
  const endMs = ms(minuteOf(first.fromMs) + MINUTE_MS)
  if (startMs < endMs) return past
  const held = past.open.at(-1) as Noted
  const minutes = [...past.minutes]
  append(minutes, { ...medianOf(past.open, endMs), fromMs: first.fromMs })
  if (startMs > endMs) append(minutes, { ...held, fromMs: endMs })
  const sinceMs = startMs - PAST_MS
  let gone = 0
  while (gone < minutes.length && (minutes[gone + 1]?.fromMs ?? startMs) <= sinceMs) gone++
  return {
    minutes: minutes.slice(gone),
    open: [{ ...held, fromMs: startMs }],
    touchedMs: past.touchedMs,
  }
}

function append(minutes: Kept[], { fromMs, ratio, approx, y }: Kept): void {
  const last = minutes.at(-1)
  if (last === undefined || !isSame(last, { ratio, approx, y })) minutes.push({ fromMs, ratio, approx, y })
}

export const isSame = (a: Omit<Kept, 'fromMs'>, b: Omit<Kept, 'fromMs'>): boolean =>
  a.y === b.y &&
  (a.ratio === b.ratio ||
    (fraction.compareApprox(a.approx, b.approx) === 0 && fraction.compareExactly(a.ratio, b.ratio) === 0))

/**
 * The ratio that represents the minute up to `endMs`: its median by duration. Each Y counts at the value it had with
 * its last change, so ratios into the same Y keep their order whatever that Y did.
 */
function medianOf(open: readonly Noted[], endMs: Ms): Noted {
  if (open.length === 1) return open[0] as Noted
  const worths = new Map<Address, Fraction>()
  for (const { y, worth } of open) worths.set(y, worth)
  const items = open.map(({ ratio, y }) => ({
    id: '',
    price: fraction.times(ratio, worths.get(y) as Fraction),
  }))
  const totalMs = endMs - (open[0] as Noted).fromMs
  let passedMs = 0
  const order = ascending(items)
  for (const at of order) {
    passedMs += (open[at + 1]?.fromMs ?? endMs) - (open[at] as Noted).fromMs
    if (2 * passedMs >= totalMs) return open[at] as Noted
  }
  return open[order.at(-1) ?? count(0)] as Noted
}
