/** The distance of a sale's result from the price, by its size: both on logarithmic scales, with 1% and 5% marked. */
import type { Exit } from '@assay/sdk'
import { dollars } from '../format.ts'

const WIDTH = 560
const HEIGHT = 190
const LEFT = 56
const FOOT = 24
const HEAD = 10
/** Distance from the price in percent, from the top down. */
const [LEAST, MOST] = [0.01, 100]
const LINES = [0.1, 1, 5, 50]

export function ExitCurve({ exit }: { readonly exit: Exit }) {
  const points = exit.sales.flatMap(({ asked_microusd, distance_bps }) =>
    asked_microusd === null || distance_bps === null
      ? []
      : [{ usd: Number(asked_microusd) / 1e6, off: Math.max(0, -Number(distance_bps) / 100) }],
  )
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || first.usd === last.usd) return null
  const log = (value: number, from: number, to: number) =>
    (Math.log10(Math.min(Math.max(value, from), to)) - Math.log10(from)) / (Math.log10(to) - Math.log10(from))
  const x = (usd: number) => LEFT + log(usd, first.usd, last.usd) * (WIDTH - LEFT - 30)
  const y = (percent: number) => HEAD + log(percent, LEAST, MOST) * (HEIGHT - HEAD - FOOT)
  return (
    <svg class="depth exit" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {LINES.map(percent => (
        <g key={percent}>
          <line x1={LEFT} x2={WIDTH - 8} y1={y(percent)} y2={y(percent)} class="base" />
          <text x={LEFT - 6} y={y(percent)} text-anchor="end" dominant-baseline="central">
            −{percent}%
          </text>
        </g>
      ))}
      <polyline
        class="curve down"
        points={points.map(({ usd, off }) => `${x(usd).toFixed(1)},${y(off).toFixed(1)}`).join(' ')}
      />
      {points.map(({ usd, off }) => (
        <g key={usd}>
          <circle class="dot down" cx={x(usd)} cy={y(off)} r="3" />
          <text x={x(usd)} y={HEIGHT - 8} text-anchor="middle">
            {dollars(String(Math.round(usd * 1e6)))}
          </text>
        </g>
      ))}
    </svg>
  )
}
