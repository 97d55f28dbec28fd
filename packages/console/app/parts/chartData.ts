/** The data of a chart: points of a line, candles and retractions, and the texts of its time axis. */
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

type Step = Pick<Point, 'atMs' | 'price'>

/**
 * The points of a stepped line until `untilMs`. A price holds until it is gone: without a second point there, the line
 * would not be drawn up to the gap.
 */
export function stepsOf(points: readonly Point[], untilMs: number): readonly Step[] {
  const last = points.at(-1)
  const held: readonly Step[] =
    last === undefined || last.atMs >= untilMs ? points : [...points, { ...last, atMs: untilMs }]
  return held.flatMap((step, at) => {
    const before = held[at - 1]?.price ?? null
    return step.price === null && before !== null ? [{ atMs: step.atMs - 1, price: before }, step] : [step]
  })
}

/** As precise as the distance between the ticks requires; midnight shows its date. */
export function timeTexts(ticks: readonly number[]): string[] {
  const stepS = (ticks[1] ?? 0) - (ticks[0] ?? 0)
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
  const time = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    ...(stepS < 60 ? { second: '2-digit' } : {}),
  })
  return ticks.map(tick => {
    const at = new Date(tick * 1000)
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0 && at.getSeconds() === 0
    return (isMidnight || stepS >= 86_400 ? day : time).format(at)
  })
}

/** With the same number of decimals, so that they line up. */
export function priceTexts(ticks: readonly number[]): string[] {
  const texts = ticks.map(tickText)
  if (texts.some(text => text.includes('e'))) return texts
  const decimals = Math.max(...texts.map(text => text.split('.')[1]?.length ?? 0))
  return ticks.map(tick => tick.toFixed(decimals))
}

/** A price may be of any magnitude. */
const tickText = (value: number): string =>
  value === 0 ? '0' : Math.abs(value) >= 0.001 ? `${Number(value.toPrecision(6))}` : value.toExponential(2)
