/** The published score: the minimum of its components and of every cap in force (R-score-1, R-score-2). */
import type { Edge, Route } from '../price/evaluation.ts'
import { score, type Score, weaker } from '../units.ts'
import type { Cap, CapCode } from './reasons.ts'

export function publishedScore(components: readonly Score[], caps: readonly Cap[]): Score {
  let least = score(10)
  for (const each of components) least = weaker(least, each)
  for (const { cap } of caps) least = weaker(least, cap)
  return least
}

/**
 * Every cap in force: the token's own, list by list, and those of the routes and hops whose scores limit the
 * published score; the lowest for each code.
 */
export function activeCaps(own: readonly (readonly Cap[])[], material: readonly Route[]): Cap[] {
  const lowest = new Map<CapCode, Score>()
  const note = (caps: readonly Cap[]) => {
    for (const { code, cap } of caps) lowest.set(code, weaker(cap, lowest.get(code) ?? cap))
  }
  for (const caps of own) note(caps)
  let last: Edge | null = null
  for (const { first, via } of material) {
    // Routes of one first hop are adjacent.
    if (first !== last) note(first.caps)
    last = first
    if (via !== null) note(via.caps)
  }
  return [...lowest].map(([code, cap]) => ({ code, cap })).sort((a, b) => (a.code < b.code ? -1 : 1))
}
