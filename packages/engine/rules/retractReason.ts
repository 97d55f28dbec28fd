/** Why a price is retracted: the codes for a token that no longer has a price. */
import type { RetractReason, UnpricedReason } from './reasons.ts'

export function retractReasonFor(reason: UnpricedReason): RetractReason {
  if (reason === 'NO_POOL') return 'NO_ROUTE'
  return reason === 'DORMANT' ? 'OPERATOR' : reason
}
