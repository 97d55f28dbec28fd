/**
 * Joins a token's past folded from logs with the followed past, up to where the followed one begins (R-history-9).
 * The followed past is never replaced: a look-back knows only the pools it read.
 */
import type { Ms } from '../units.ts'
import { type Kept, rolled, type TokenPast } from './ownPast.ts'

export function joined(followed: TokenPast | null, folded: TokenPast, atMs: Ms): TokenPast {
  const sinceMs = followed === null ? undefined : beginning(followed)
  if (followed === null || sinceMs === undefined) return folded
  const isEarlier = ({ fromMs }: Pick<Kept, 'fromMs'>): boolean => fromMs < sinceMs
  const earlier = rolled(folded, atMs)
  if (![...earlier.minutes, ...earlier.open].some(isEarlier)) return followed
  const own = rolled(followed, atMs)
  return {
    minutes: [...earlier.minutes.filter(isEarlier), ...own.minutes],
    open: [...earlier.open.filter(isEarlier), ...own.open],
    touchedMs: own.touchedMs,
  }
}

const beginning = ({ minutes, open }: TokenPast): Ms | undefined => (minutes[0] ?? open[0])?.fromMs
