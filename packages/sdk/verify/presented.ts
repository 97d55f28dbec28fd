/**
 * A presented quote: the stored record first, then what stands over it. The overlay must be one that a reader may make
 * (its feed is gone, or the price has expired) and must name the price of the record it covers.
 */
import { toGone } from '../wire/presented.ts'
import type { HistoryPage } from '../wire/history.ts'
import type { CompactUnpriced } from '../wire/price.ts'
import type { Findings } from './findings.ts'

/** `history` as `fetchHistory({ …, at_sequence: quote.as_of.stream_sequence })` gives it. */
export function checkPresented(
  findings: Findings,
  quote: CompactUnpriced,
  history: HistoryPage | undefined,
): void {
  const { reason, last_priced: last } = quote
  findings.holds(
    'reason',
    reason,
    reason === 'FEED' || reason === 'ROUTE_EXPIRED',
    'FEED or ROUTE_EXPIRED: nothing else is presented',
    ['presented'],
  )
  if (last != null) {
    findings.value('last_priced.price_usd', last.price_usd)
    findings.same('last_priced.at_ms', last.at_ms, quote.evaluated_at_ms, ['evaluated_at_ms'])
    findings.same('last_priced.stream_sequence', last.stream_sequence, quote.as_of.stream_sequence, ['as_of'])
  }
  if (history !== undefined) checkStored(findings, quote, history)
}

function checkStored(findings: Findings, quote: CompactUnpriced, { prices, feed }: HistoryPage): void {
  const [stored] = prices
  if (stored === undefined)
    return findings.differ('as_of.stream_sequence', quote.as_of.stream_sequence, 'a record of the token')
  for (const field of ['as_of', 'evaluated_at_ms', 'policy_version'] as const)
    findings.same(field, quote[field], stored[field], ['the stored record'])
  if (stored.state === 'PRICED') {
    findings.same('last_priced.price_usd', quote.last_priced?.price_usd, stored.price_usd, [
      'the stored record',
    ])
    findings.same('last_priced.score', quote.last_priced?.score, stored.confidence.score, [
      'the stored record',
    ])
  }
  if (quote.reason === 'FEED' && feed !== undefined)
    findings.holds(
      'reason',
      quote.reason,
      toGone(feed.status) !== null,
      `a feed that is gone; it is ${feed.status}`,
    )
  if (quote.reason === 'ROUTE_EXPIRED')
    findings.holds(
      'reason',
      quote.reason,
      stored.state === 'PRICED' && stored.expires_at_ms !== null,
      'a stored price that expires',
    )
}
