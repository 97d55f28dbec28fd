/** Our own published prices over time: as published, or aggregated into candles. */
import { Feed, Gap } from './health.ts'
import { NextCursor, pageQueryFields } from './page.ts'
import { compactPricedFields, compactUnpricedFields, presentedFields } from './price.ts'
import { Count, ExactValue, Ms, Sequence } from './quantity.ts'
import { RetractReason } from './reason.ts'
import {
  array,
  describe,
  enumeration,
  integer,
  nullable,
  object,
  optional,
  type Static,
  strictObject,
  string,
  union,
} from './schema.ts'

/** Query of GET /v1/history/token: a range, or one moment named by time, block or sequence. */
export const HistoryQuery = strictObject({
  from_ms: optional(Ms),
  to_ms: optional(Ms),
  at_ms: optional(Ms),
  at_block: optional(Count),
  at_sequence: optional(Sequence),
  interval: optional(enumeration(['1m', '5m', '1h', '1d'])),
  include: optional(
    describe(
      'Also returns records that a reorganisation withdrew; by default a range omits them.',
      enumeration(['withdrawn']),
    ),
  ),
  ...pageQueryFields,
})
export type HistoryQuery = Static<typeof HistoryQuery>

const retraction = {
  retracts: optional(
    describe(
      'On a record that withdraws an earlier one: which, and why.',
      object({ reason: RetractReason, record_id: string(), stream_sequence: nullable(Sequence) }),
    ),
  ),
  withdrawn: optional(
    describe(
      'On a record whose block was orphaned: why and when it was withdrawn, and by which record.',
      object({ reason: RetractReason, at_ms: Ms, stream_sequence: Sequence }),
    ),
  ),
} as const

/** A state as it was published; a state after a retraction names what was retracted. */
export const HistoryEntry = union(
  object({ ...compactPricedFields, ...retraction }),
  object({ ...compactUnpricedFields, ...presentedFields, ...retraction }),
)
export type HistoryEntry = Static<typeof HistoryEntry>

/** Query of GET /v1/export: a range of the log as a file. */
export const ExportQuery = strictObject({
  kind: enumeration(['prices', 'events', 'retractions', 'candles']),
  format: optional(enumeration(['csv', 'ndjson', 'parquet'])),
  after_sequence: optional(Sequence),
  to_sequence: optional(Sequence),
  from_ms: optional(Ms),
  to_ms: optional(Ms),
  chain_id: optional(integer({ minimum: 1 })),
  header: optional(enumeration(['yes', 'no'])),
  interval: optional(
    describe('Length of a candle; one hour by default.', enumeration(['1m', '5m', '1h', '1d'])),
  ),
  closed: optional(
    describe(
      'Ends with the commit-time bucket of the first record; empty while that bucket is open.',
      enumeration(['1m', '5m', '1h', '1d']),
    ),
  ),
})
export type ExportQuery = Static<typeof ExportQuery>

/** The feed's present state, whatever time was queried. */
const feedFields = { feed: optional(describe("The chain's feed as it is now.", Feed)) } as const

/** Gaps of the chain, oldest first: the service did not see what happened in their blocks. */
export const gapFields = {
  gaps: optional(
    describe('Blocks that were not followed, oldest first; their events are missing.', array(Gap)),
  ),
} as const

export const HistoryPage = object({
  prices: array(HistoryEntry),
  next_cursor: NextCursor,
  ...feedFields,
  ...gapFields,
})
export type HistoryPage = Static<typeof HistoryPage>

/** A bucket in which something was published. There is no bucket for a time without evidence. */
export const Candle = object({
  from_ms: Ms,
  to_ms: Ms,
  open: ExactValue,
  high: ExactValue,
  low: ExactValue,
  close: ExactValue,
  records: Count,
})

export const CandlePage = object({
  candles: array(Candle),
  next_cursor: NextCursor,
  ...feedFields,
  ...gapFields,
})
export type CandlePage = Static<typeof CandlePage>
