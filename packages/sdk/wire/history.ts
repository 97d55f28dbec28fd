/** Our own published prices over time: as they were said, or as candles of them. */
import { NextCursor, pageQueryFields } from './page.ts'
import { CompactState } from './price.ts'
import { Count, ExactValue, Ms, Sequence } from './quantity.ts'
import { array, enumeration, object, optional, type Static, strictObject } from './schema.ts'

/** Query of GET /v1/history/token: a range, or one moment named by time, block or sequence. */
export const HistoryQuery = strictObject({
  from_ms: optional(Ms),
  to_ms: optional(Ms),
  at_ms: optional(Ms),
  at_block: optional(Count),
  at_sequence: optional(Sequence),
  interval: optional(enumeration(['1m', '5m', '1h', '1d'])),
  ...pageQueryFields,
})
export type HistoryQuery = Static<typeof HistoryQuery>

export const HistoryPage = object({ prices: array(CompactState), next_cursor: NextCursor })
export type HistoryPage = Static<typeof HistoryPage>

/** A bucket in which something was published; there is none for a time without evidence. */
export const Candle = object({
  from_ms: Ms,
  to_ms: Ms,
  open: ExactValue,
  high: ExactValue,
  low: ExactValue,
  close: ExactValue,
  records: Count,
})

export const CandlePage = object({ candles: array(Candle), next_cursor: NextCursor })
export type CandlePage = Static<typeof CandlePage>
