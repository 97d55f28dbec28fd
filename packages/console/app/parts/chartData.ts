/** The data of a chart: points of a line, candles, and retractions. */
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
  /** The retracted price; null when it is no longer kept. */
  readonly withdrawn: { readonly price: ExactValue; readonly score: number } | null
  /** The state published instead; null for no price. */
  readonly now: ExactValue | null
  readonly bps: number | null
}
