/**
 * Prices over time with uPlot: a stepped line that breaks where there was none and goes on to `untilMs`, as the last price
 * does, and a mark at each retraction. The bundle has no more of uPlot than this chart uses (lean.ts).
 */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { clockTime } from '../format.ts'
import { colorOf } from '../theme.ts'

export type Point = { readonly atMs: number; readonly price: number | null }
export type Mark = { readonly atMs: number; readonly reason: string }

type Props = {
  readonly points: readonly Point[]
  readonly marks: readonly Mark[]
  readonly untilMs: number
  readonly about: string
}

const HEIGHT = 240
/** A price of just now has a place in time all the same. */
const LEAST_S = 60

export function Chart({ points, marks, untilMs, about }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const marked = useRef(marks)
  marked.current = marks
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const make = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(element.clientWidth, marked), dataOf(points, untilMs), element)
    }
    make()
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    resized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', make)
    window.addEventListener('assay-theme', make)
    return () => {
      resized.disconnect()
      scheme.removeEventListener('change', make)
      window.removeEventListener('assay-theme', make)
      plot.current?.destroy()
      plot.current = null
    }
  }, [])
  useEffect(() => plot.current?.setData(dataOf(points, untilMs)), [points, marks, untilMs])
  return <div ref={box} class="chart" role="img" aria-label={`${about}: ${summaryOf(points)}`} />
}

function dataOf(points: readonly Point[], untilMs: number): uPlot.AlignedData {
  const last = points.at(-1)
  const held = last === undefined || last.atMs >= untilMs ? points : [...points, { ...last, atMs: untilMs }]
  return [held.map(({ atMs }) => atMs / 1000), held.map(({ price }) => price)]
}

function summaryOf(points: readonly Point[]): string {
  const prices = points.flatMap(({ price }) => price ?? [])
  if (prices.length === 0) return 'no price'
  const [low, high] = [Math.min(...prices), Math.max(...prices)]
  return `${prices.length} prices from ${low} to ${high}, last at ${clockTime(points.at(-1)?.atMs ?? 0)}`
}

function optionsOf(width: number, marked: { readonly current: readonly Mark[] }): uPlot.Options {
  const [ink, line, accent, bad] = ['--muted', '--line', '--accent', '--bad'].map(colorOf) as [
    string,
    string,
    string,
    string,
  ]
  const axis = {
    stroke: ink,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
    font: '12px system-ui',
  }
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    scales: { x: { time: true, range: (_, from, to) => [Math.min(from, to - LEAST_S), to] } },
    axes: [
      { ...axis, values: (_, ticks) => timeTexts(ticks) },
      { ...axis, size: 76, values: (_, ticks) => ticks.map(tick => tickText(tick)) },
    ],
    series: [
      {},
      {
        stroke: accent,
        width: 2,
        paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder,
        points: { show: false },
        spanGaps: false,
      },
    ],
    hooks: { draw: [plot => drawMarks(plot, marked.current, bad)] },
  }
}

/** As fine as the ticks are apart. */
function timeTexts(ticks: readonly number[]): string[] {
  const stepS = (ticks[1] ?? 0) - (ticks[0] ?? 0)
  const options: Intl.DateTimeFormatOptions =
    stepS >= 43_200
      ? { day: 'numeric', month: 'short' }
      : { hour: '2-digit', minute: '2-digit', ...(stepS < 60 ? { second: '2-digit' } : {}) }
  return ticks.map(tick => new Intl.DateTimeFormat('en-GB', options).format(tick * 1000))
}

/** A price may be of any magnitude. */
const tickText = (value: number): string =>
  value === 0 ? '0' : Math.abs(value) >= 0.001 ? `${Number(value.toPrecision(6))}` : value.toExponential(2)

function drawMarks(plot: uPlot, marks: readonly Mark[], color: string): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = color
  ctx.fillStyle = color
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
