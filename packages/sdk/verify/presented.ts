/**
 * A presented quote: the stored record first, then the overlay. The overlay must be the one that a reader derives
 * from that record, and must name the price of the record it covers.
 */
import type { HistoryPage } from '../wire/history.ts'
import { overlayOf, presentedAs, toGone } from '../wire/presented.ts'
import type { CompactUnpriced } from '../wire/price.ts'
import type { Findings } from './findings.ts'

/** `history` as `fetchHistory({ …, at_sequence: quote.as_of.stream_sequence })` gives it. */
export function checkPresented(
  findings: Findings,
  quote: CompactUnpriced,
  { prices: [stored], feed }: HistoryPage,
): void {
  if (stored === undefined)
    return findings.differ('as_of.stream_sequence', quote.as_of.stream_sequence, 'a record')
  // When it was read is not known: that a price expires at all is what can be checked.
  const reading = { nowMs: Infinity, feedGone: feed === undefined ? null : toGone(feed.status) }
  const reason = overlayOf(stored, reading)
  const from = ['history']
  findings.same('reason', quote.reason, reason, from)
  const expected = presentedAs(stored, reason ?? 'FEED')
  for (const field of ['as_of', 'evaluated_at_ms', 'policy_version', 'last_priced'] as const)
    findings.same(field, quote[field], expected[field], from)
}
