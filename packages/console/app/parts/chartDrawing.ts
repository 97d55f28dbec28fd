/** Draws over the chart's line: candles, a dot at the latest price, and a dashed line with an arrow at each retraction. */
import type uPlot from 'uplot'
import { colorOf } from '../theme.ts'
import type { Candle, Mark, Point } from './chartData.ts'

/** The share of a candle's time span that its body fills. */
const BODY = 0.7

export function drawCandles(plot: uPlot, candles: readonly Candle[]): void {
  if (candles.length === 0) return
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  const [up, down] = ['--ok', '--bad'].map(colorOf) as [string, string]
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.lineWidth = ratio
  for (const { fromMs, toMs, open, high, low, close } of candles) {
    const x = (ms: number) => plot.valToPos(ms / 1000, 'x', true)
    const y = (price: number) => plot.valToPos(price, 'y', true)
    const middle = Math.round((x(fromMs) + x(toMs)) / 2)
    const width = Math.max(ratio, (x(toMs) - x(fromMs)) * BODY)
    ctx.strokeStyle = ctx.fillStyle = close < open ? down : up
    ctx.beginPath()
    ctx.moveTo(middle, y(high))
    ctx.lineTo(middle, y(low))
    ctx.stroke()
    const [top, bottom] = [y(Math.max(open, close)), y(Math.min(open, close))]
    ctx.fillRect(middle - width / 2, top, width, Math.max(ratio, bottom - top))
  }
  ctx.restore()
}

/** A dot at the price in force: a first price is too short a line to be seen. */
export function drawLatest(
  plot: uPlot,
  { points, candles, untilMs }: { points: readonly Point[]; candles: readonly Candle[]; untilMs: number },
): void {
  const price = points.at(-1)?.price ?? null
  if (candles.length > 0 || price === null) return
  const { ctx } = plot
  ctx.save()
  ctx.fillStyle = colorOf('--accent')
  ctx.beginPath()
  const [x, y] = [plot.valToPos(untilMs / 1000, 'x', true), plot.valToPos(price, 'y', true)]
  ctx.arc(x, y, 3.5 * devicePixelRatio, 0, 2 * Math.PI)
  ctx.fill()
  ctx.restore()
}

export function drawMarks(plot: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = ctx.fillStyle = colorOf('--bad')
  ctx.lineWidth = ratio
  ctx.setLineDash([4 * ratio, 3 * ratio])
  for (const { atMs } of marks) {
    const x = plot.valToPos(atMs / 1000, 'x', true)
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    ctx.beginPath()
    ctx.moveTo(x - 5 * ratio, bbox.top)
    ctx.lineTo(x + 5 * ratio, bbox.top)
    ctx.lineTo(x, bbox.top + 8 * ratio)
    ctx.fill()
  }
  ctx.restore()
}
