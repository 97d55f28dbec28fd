/** When a price expires if nothing is verified before then. */
import type { Route } from '../price/evaluation.ts'
import { type Ms, ms } from '../units.ts'

/** A price expires with its longest-lived route, and a route with the first of its hops to expire. */
export function expiryOf(accepted: readonly Route[]): Ms {
  let latest = ms(0)
  for (const route of accepted) {
    const { first, via } = route
    const earliest = via !== null && via.expiresAtMs < first.expiresAtMs ? via.expiresAtMs : first.expiresAtMs
    if (earliest > latest) latest = earliest
  }
  return latest
}

/** When the first hop of a route expires. */
export const expiryAlong = ({ edges }: Route): Ms => ms(Math.min(...edges.map(edge => edge.expiresAtMs)))
