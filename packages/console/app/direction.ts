/** The direction of a price change from one record to the next. */
import { type CompactState, exact } from '@assay/sdk'

export function changeDirection(before: CompactState | null, after: CompactState): -1 | 0 | 1 {
  if (before?.state !== 'PRICED' || after.state !== 'PRICED') return 0
  return exact.compare(exact.from(after.price_usd), exact.from(before.price_usd))
}
