/** When a price is no longer one, if nothing is verified before. */
import type { Route } from '../price/evaluation.ts'
import { type Ms, ms } from '../units.ts'

/** The price lives as long as its longest-lived route, and a route as long as its first hop to expire. */
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
