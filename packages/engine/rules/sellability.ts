/**
 * The effect of a simulated sale on a price (R-sell-3): it caps the score and never changes the value. Taxes are
 * whole basis points, as on the wire, so that a client that recomputes a quote gets the same cap.
 */
import type { Policy } from '../policy/policy.ts'
import { type Count, type Ms, score } from '../units.ts'
import { bpsScore } from './bpsBands.ts'
import type { Cap } from './reasons.ts'

export type SellabilityStatus = 'SELLABLE' | 'TAXED' | 'UNSELLABLE' | 'UNKNOWN'

/** A finding about a token, from any method. A tax is null if it could not be measured. */
export type Sellable = {
  readonly status: SellabilityStatus
  readonly buyTaxBps: Count | null
  readonly transferTaxBps: Count | null
  readonly sellTaxBps: Count | null
  readonly reason: string | null
}

/**
 * Others sold the token within this time before the block: a sale that fails for us is then a restriction, not a trap
 * for everybody.
 */
export const SALES_SEEN_MS = 86_400_000

/** Before the first probe. */
export const NOT_YET: Sellable = {
  status: 'UNKNOWN',
  buyTaxBps: null,
  transferTaxBps: null,
  sellTaxBps: null,
  reason: 'NOT_YET',
}

/** Reasons for finding no way to sell that say something about the token: the probe tried, and it failed. */
const FAILED: ReadonlySet<string | null> = new Set(['BUY_REVERTED', 'SELL_REVERTED'])

/** When our sale failed although others' sales were seen, the token is restricted (R-sell-2). */
export function withSales<Found extends Sellable>(found: Found, lastSaleMs: Ms | null, blockMs: Ms): Found {
  const isFailed = found.status === 'UNSELLABLE' || (found.status === 'UNKNOWN' && FAILED.has(found.reason))
  const isSold = lastSaleMs !== null && blockMs - lastSaleMs <= SALES_SEEN_MS
  return isFailed && isSold ? { ...found, status: 'UNKNOWN', reason: 'SELL_RESTRICTED' } : found
}

/** The cap on the score of a token; null if there is none, and always null under a policy of revision 1. */
export function sellabilityCap({ status, reason, ...taxes }: Sellable, policy: Policy): Cap | null {
  if (policy.revision === 1) return null
  const { unsellable_cap, restricted_cap, unknown_cap, tax } = policy.sellability
  if (status === 'UNSELLABLE') return { code: 'UNSELLABLE', cap: unsellable_cap }
  if (reason === 'SELL_RESTRICTED') return { code: 'SELL_RESTRICTED', cap: restricted_cap }
  const [sell, transfer] = [BigInt(taxes.sellTaxBps ?? 0), BigInt(taxes.transferTaxBps ?? 0)]
  const cap = bpsScore(tax, { num: sell > transfer ? sell : transfer, den: 1n })
  const taxed: Cap | null = cap < score(10) ? { code: 'TRANSFER_TAX', cap } : null
  if (status !== 'UNKNOWN') return taxed
  return taxed !== null && taxed.cap < unknown_cap ? taxed : { code: 'SELLABILITY_UNKNOWN', cap: unknown_cap }
}
