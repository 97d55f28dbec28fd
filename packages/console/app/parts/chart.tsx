/**
 * Prices over time with uPlot: candles, or a stepped line that breaks where there was no price and extends to
 * `untilMs`, like the last price; a mark at each retraction; and a readout of the value at the crosshair. The bundle
 * contains only the parts of uPlot that this chart uses (lean.ts).
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { clockTime, count, counted, dateTime, shortDecimal } from '../format.ts'
import { colorOf } from '../theme.ts'
import { type Candle, type Mark, type Point, priceTexts, stepsOf, timeTexts } from './chartData.ts'
import { drawCandles, drawLatest, drawMarks } from './chartDrawing.ts'
import { Score } from './score.tsx'

type Shown = {
  readonly points: readonly Point[]
  readonly candles: readonly Candle[]
  readonly marks: readonly Mark[]
  readonly fromMs: number
  readonly untilMs: number
}
type Props = Shown & { readonly about: string }

const HEIGHT = 280
/**
 * The least height of the price axis, relative to the price, so that a move of one basis point does not look like a
 * crash.
 */
const LEAST_SPAN = 0.004
/** Margin above and below, relative to the range shown. */
const ROOM = 0.08

export function Chart({ about, ...shown }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const latest = useRef<Shown>(shown)
  latest.current = shown
  const [atMs, setAtMs] = useState<number | null>(null)
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const make = () => {
      plot.current?.destroy()
      plot.current = new uPlot(
        optionsOf(element.clientWidth, latest, setAtMs),
        dataOf(latest.current),
        element,
      )
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
  useEffect(
    () => plot.current?.setData(dataOf(shown)),
    [shown.points, shown.candles, shown.marks, shown.untilMs],
  )
  return (
    <>
      <p class="readout number" data-testid="readout">
        <Readout {...shown} atMs={atMs ?? shown.untilMs} />
      </p>
      <div ref={box} class="chart" role="img" aria-label={`${about}: ${summaryOf(shown)}`} />
    </>
  )
}

/** The value at a moment. */
function Readout({ points, candles, atMs }: Shown & { readonly atMs: number }) {
  if (candles.length > 0) {
    const candle = candles.findLast(({ fromMs }) => fromMs <= atMs)
    if (candle === undefined || candle.toMs <= atMs) return <span class="muted">no price then</span>
    const { fromMs, open, high, low, close, records } = candle
    return (
      <>
        <span class="muted">{dateTime(fromMs)}</span> open <strong>{text(open)}</strong> high{' '}
        <strong>{text(high)}</strong> low <strong>{text(low)}</strong> close <strong>{text(close)}</strong>{' '}
        <span class="muted">{counted(records, 'record')}</span>
      </>
    )
  }
  const point = points.findLast(each => each.atMs <= atMs)
  if (point === undefined || point.price === null) return <span class="muted">no price then</span>
  return (
    <>
      <span class="muted">{clockTime(atMs)}</span> <strong>{text(point.price)}</strong>{' '}
      {point.score !== null && <Score score={point.score} />}{' '}
      <span class="muted">block {count(point.block)}</span>
    </>
  )
}

/** A price of any magnitude as plain text. */
const text = (value: number): string => `$${shortDecimal(value.toFixed(Math.min(24, decimalsOf(value))))}`
const decimalsOf = (value: number): number => Math.max(2, 6 - Math.floor(Math.log10(Math.abs(value) || 1)))

function dataOf({ points, candles, untilMs }: Shown): uPlot.AlignedData {
  if (candles.length > 0)
    return [candles.map(({ fromMs, toMs }) => (fromMs + toMs) / 2000), candles.map(({ close }) => close)]
  const steps = stepsOf(points, untilMs)
  return [steps.map(({ atMs }) => atMs / 1000), steps.map(({ price }) => price)]
}

function summaryOf({ points, candles }: Shown): string {
  const prices =
    candles.length > 0
      ? candles.flatMap(({ high, low }) => [high, low])
      : points.flatMap(({ price }) => price ?? [])
  if (prices.length === 0) return 'no price'
  const last = candles.at(-1)?.toMs ?? points.at(-1)?.atMs ?? 0
  const number = candles.length > 0 ? counted(candles.length, 'candle') : counted(prices.length, 'price')
  return `${number} from ${Math.min(...prices)} to ${Math.max(...prices)}, last at ${clockTime(last)}`
}

/** The last candle extends past now, and is shown whole. */
const timeRange = ({ fromMs, untilMs, candles }: Shown): [number, number] => [
  fromMs / 1000,
  Math.max(untilMs, candles.at(-1)?.toMs ?? 0) / 1000,
]

/** The range of all values shown, with a margin. */
function priceRange({ points, candles, fromMs }: Shown): [number, number] {
  const before = points.findLast(({ atMs }) => atMs <= fromMs)
  const seen = [
    ...candles.flatMap(({ high, low }) => [high, low]),
    ...(candles.length > 0 ? [] : points.filter(({ atMs }) => atMs > fromMs)).flatMap(
      ({ price }) => price ?? [],
    ),
    ...(candles.length > 0 ? [] : [before?.price ?? []].flat()),
  ]
  if (seen.length === 0) return [0, 1]
  const [low, high] = [Math.min(...seen), Math.max(...seen)]
  const middle = (low + high) / 2
  const half = Math.max(((high - low) / 2) * (1 + 2 * ROOM), (middle * LEAST_SPAN) / 2)
  return [Math.max(0, middle - half), middle + half]
}

function optionsOf(
  width: number,
  shown: { readonly current: Shown },
  onMoment: (atMs: number | null) => void,
): uPlot.Options {
  const [ink, line, accent] = ['--muted', '--line', '--accent'].map(colorOf) as [string, string, string]
  const axis = {
    stroke: ink,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
    font: '12px system-ui',
  }
  const areCandles = () => shown.current.candles.length > 0
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { time: true, range: () => timeRange(shown.current) },
      y: { range: () => priceRange(shown.current) },
    },
    axes: [
      { ...axis, values: (_, ticks) => timeTexts(ticks) },
      { ...axis, size: 76, values: (_, ticks) => priceTexts(ticks) },
    ],
    series: [
      {},
      {
        stroke: () => (areCandles() ? 'transparent' : accent),
        width: 2,
        paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder,
        points: { show: false },
        spanGaps: false,
      },
    ],
    hooks: {
      draw: [
        plot => {
          drawCandles(plot, shown.current.candles)
          drawLatest(plot, shown.current)
          drawMarks(plot, shown.current.marks)
        },
      ],
      setCursor: [
        plot => {
          const left = plot.cursor.left ?? -1
          onMoment(left < 0 ? null : plot.posToVal(left, 'x') * 1000)
        },
      ],
    },
  }
}
