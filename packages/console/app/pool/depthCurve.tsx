/** Dollars that move the price by 1, 2, 5 and 10 percent, in both directions. */
import type { PoolQuote } from '@assay/sdk'
import { dollars } from '../format.ts'

type Step = PoolQuote['depth_ladder'][number]

const WIDTH = 460
const HEIGHT = 190
const FOOT = 22
const HEAD = 16

export function DepthCurve({ steps }: { readonly steps: readonly Step[] }) {
  const known = (side: 'up_microusd' | 'down_microusd') =>
    steps.flatMap(step =>
      step[side] === null
        ? []
        : [{ percent: step.percent, usd: Number(step[side]) / 1e6, text: dollars(step[side]) }],
    )
  const [up, down] = [known('up_microusd'), known('down_microusd')]
  const most = Math.max(...up.map(({ usd }) => usd), ...down.map(({ usd }) => usd), 1)
  const widest = Math.max(...steps.map(({ percent }) => percent), 1)
  if (up.length + down.length === 0) return <p class="empty">The known ticks do not show how deep it is.</p>
  const x = (percent: number) => WIDTH / 2 + (percent / widest) * (WIDTH / 2 - 34)
  const y = (usd: number) => HEIGHT - FOOT - (usd / most) * (HEIGHT - FOOT - HEAD)
  const line = (points: readonly { percent: number; usd: number }[], sign: 1 | -1) =>
    [{ percent: 0, usd: 0 }, ...points].map(
      ({ percent, usd }) => `${x(sign * percent).toFixed(1)},${y(usd).toFixed(1)}`,
    )
  const area = (points: readonly string[]) =>
    `${points.join(' ')} ${points.at(-1)?.split(',')[0]},${HEIGHT - FOOT}`
  const [rising, falling] = [line(up, 1), line(down, -1)]
  return (
    <>
      <svg class="depth" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        <line x1="0" x2={WIDTH} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} class="base" />
        <line x1={WIDTH / 2} x2={WIDTH / 2} y1={HEAD} y2={HEIGHT - FOOT} class="base" />
        <polygon points={area(falling)} class="area down" />
        <polygon points={area(rising)} class="area up" />
        <polyline points={falling.join(' ')} class="curve down" />
        <polyline points={rising.join(' ')} class="curve up" />
        {[...up.map(each => ({ ...each, sign: 1 })), ...down.map(each => ({ ...each, sign: -1 }))].map(
          ({ percent, usd, text, sign }) => (
            <g key={`${sign}${percent}`}>
              <circle cx={x(sign * percent)} cy={y(usd)} r="3" class={sign > 0 ? 'dot up' : 'dot down'} />
              {percent >= 5 && (
                <text x={x(sign * percent)} y={y(usd) - 7} text-anchor="middle" class="value">
                  {text}
                </text>
              )}
              {percent !== 1 && (
                <text x={x(sign * percent)} y={HEIGHT - 6} text-anchor="middle">
                  {sign > 0 ? '+' : '−'}
                  {percent}%
                </text>
              )}
            </g>
          ),
        )}
      </svg>
      <table class="ladder">
        <caption class="hidden">Dollars that move the price</caption>
        <thead>
          <tr>
            <th scope="col">Move</th>
            {steps.map(({ percent }) => (
              <th key={percent} scope="col" class="right">
                {percent}%
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Side name="Up" values={steps.map(({ up_microusd }) => up_microusd)} />
          <Side name="Down" values={steps.map(({ down_microusd }) => down_microusd)} />
        </tbody>
      </table>
    </>
  )
}

const Side = ({ name, values }: { readonly name: string; readonly values: readonly (string | null)[] }) => (
  <tr>
    <th scope="row">{name}</th>
    {values.map((value, at) => (
      <td key={at} class="right number">
        {value === null ? '–' : dollars(value)}
      </td>
    ))}
  </tr>
)
