/**
 * A presented quote: checks the stored record first, then the overlay. The overlay must be the one that a reader
 * derives from that record, and must contain the price of the record it covers.
 */
import type { HistoryPage } from '../wire/history.ts'
import { overlayOf, presentedAs, toGone } from '../wire/presented.ts'
import type { CompactUnpriced } from '../wire/price.ts'
import type { Findings } from './findings.ts'

/** `history` as returned by `fetchHistory({ …, at_sequence: quote.as_of.stream_sequence })`. */
export function checkPresented(
  findings: Findings,
  quote: CompactUnpriced,
  { prices: [stored], feed }: HistoryPage,
): void {
  if (stored === undefined)
    return findings.differ('as_of.stream_sequence', quote.as_of.stream_sequence, 'a record')
  // The time of the reading is unknown, so the check covers only that the price expires at all.
  const reading = { nowMs: Infinity, feedGone: feed === undefined ? null : toGone(feed.status) }
  const reason = overlayOf(stored, reading)
  const from = ['history']
  findings.same('reason', quote.reason, reason, from)
  const expected = presentedAs(stored, reason ?? 'FEED')
  for (const field of ['as_of', 'evaluated_at_ms', 'policy_version', 'last_priced'] as const)
    findings.same(field, quote[field], expected[field], from)
}
