/** Why a price is retracted: the codes for a token that no longer has a price. */
import type { RetractReason, UnpricedReason } from './reasons.ts'

export function retractReasonFor(reason: UnpricedReason): RetractReason {
  switch (reason) {
    case 'NO_POOL':
      return 'NO_ROUTE'
    case 'DORMANT':
      return 'OPERATOR'
    case 'ROUTE_EXPIRED':
    case 'NO_ROUTE':
    case 'FEED':
    case 'ANCHOR_UNPRICED':
    case 'STABLE_SUSPENDED':
    case 'DECIMALS':
    case 'OPERATOR':
      return reason
  }
}
