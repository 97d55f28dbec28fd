/** What a chart shows: points of a line, candles, and what was taken back. */
import type { ExactValue } from '@assay/sdk'

export type Point = {
  readonly atMs: number
  readonly price: number | null
  readonly score: number | null
  readonly block: number
}
export type Candle = {
  readonly fromMs: number
  readonly toMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly records: number
}
export type Mark = {
  readonly atMs: number
  readonly reason: string
  readonly block: number
  /** What was taken back; null where it is no longer kept. */
  readonly withdrawn: { readonly price: ExactValue; readonly score: number } | null
  /** What was published instead; null for no price. */
  readonly now: ExactValue | null
  readonly bps: number | null
}
