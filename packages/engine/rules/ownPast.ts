/**
 * What a token was worth to its own pools over the last hour (R-past-2, R-past-3): at each moment the median pool's ratio,
 * in units of its Y per unit of X, and which Y that was.
 *
 * A past holds no dollars but those that put the ratios of one minute in order, so a move of an anchor is no move of the
 * token. It is a value: what is noted gives another past, and the journal may keep the old one.
 */
import type { Address } from '../chain/block.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { count, type Ms, ms, type Near } from '../units.ts'
import { MINUTE_MS, minuteOf, PAST_MS } from './pastWindow.ts'
import { ascending } from './weightedMedian.ts'

/** A ratio of the median pool, held from `fromMs` until the next one. */
export type Kept = {
  readonly fromMs: Ms
  readonly ratio: Fraction
  readonly near: Near
  readonly y: Address
}

/** In the running minute also what a unit of Y was worth. */
export type Noted = Kept & { readonly worth: Fraction }

/** The minute that is not over: every ratio of it, and when one of the token's own pools was last touched. */
export type Running = { readonly open: readonly Noted[]; readonly touchedMs: Ms }

/** `minutes` has one ratio of each full minute, oldest first, without those that only repeat the one before: at most 60. */
export type TokenPast = Running & { readonly minutes: readonly Kept[] }

/** The end of a moment that touched the token. `found` is null where no pool of it counts: what held goes on holding. */
export function note(past: TokenPast | null, timeMs: Ms, found: Omit<Noted, 'fromMs'> | null): TokenPast {
  const before = past ?? { minutes: [], open: [], touchedMs: timeMs }
  if (found === null) return before.touchedMs === timeMs ? before : { ...before, touchedMs: timeMs }
  const newest = before.open.at(-1)
  if (newest === undefined) return { ...before, touchedMs: timeMs, open: [{ ...found, fromMs: timeMs }] }
  // A chain's time does not run back; if a block says so it is taken as the same time.
  const atMs = timeMs > newest.fromMs ? timeMs : newest.fromMs
  const { minutes, open } = rolled(before, atMs)
  // Of moments with the same time only the last counts, and one that says what held before it has changed nothing.
  const isAgain = open.at(-1)?.fromMs === atMs && before.touchedMs >= timeMs
  const earlier = isAgain ? open.slice(0, -1) : open
  const held = earlier.at(-1)
  const isHeld = held !== undefined && isSame(held, found)
  return { minutes, open: isHeld ? earlier : [...earlier, { ...found, fromMs: atMs }], touchedMs: timeMs }
}

/** A past as it is read at a time. */
export type PastAt = { readonly past: TokenPast; readonly toMs: Ms }

/** A read from before the newest ratio, of a block ahead of our clock, counts as made when it began. */
export function readAt(past: TokenPast, atMs: Ms): PastAt {
  const newestMs = past.open.at(-1)?.fromMs ?? atMs
  const toMs = atMs > newestMs ? atMs : newestMs
  return { past: rolled(past, toMs), toMs }
}

/** The same past where all minutes that are over at `atMs` are full ones: of each only its median is left. */
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

function append(minutes: Kept[], { fromMs, ratio, near, y }: Kept): void {
  const last = minutes.at(-1)
  if (last === undefined || !isSame(last, { ratio, near, y })) minutes.push({ fromMs, ratio, near, y })
}

export const isSame = (a: Omit<Kept, 'fromMs'>, b: Omit<Kept, 'fromMs'>): boolean =>
  a.y === b.y &&
  (a.ratio === b.ratio ||
    (fraction.compareNear(a.near, b.near) === 0 && fraction.compareExactly(a.ratio, b.ratio) === 0))

/**
 * The ratio that the minute up to `endMs` is kept as: its median by duration. Each Y counts at the value it had with
 * its last change, so ratios into one Y are in their own order whatever Y did.
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
