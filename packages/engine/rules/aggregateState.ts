/** The lowest state score among everything a price used: one reading that is not final lowers it (R-state-1). */
import type { Edge, Route } from '../price/evaluation.ts'
import { score, type Score, weaker } from '../units.ts'
import { stateScore } from './feedAndState.ts'

/** The minimum over the feed and every pool, decimals reading and stable answer that an accepted route used. */
export function aggregateState(feed: Score, accepted: readonly Route[]): Score {
  let least = feed
  let last: Edge | null = null
  for (const route of accepted) {
    if (route.first !== last) least = weaker(least, route.first.settled)
    last = route.first
    if (route.via !== null) least = weaker(least, route.via.settled)
    else if (route.stable !== null) least = weaker(least, stateScore(route.stable.finality))
  }
  return least
}

/** The lowest state score of every hop of a route and of the stable the route ends in. */
export function settledAlong({ edges, stable }: Route): Score {
  const ofStable = stable === null ? score(10) : stateScore(stable.finality)
  return edges.reduce<Score>((least, edge) => weaker(least, edge.settled), ofStable)
}
