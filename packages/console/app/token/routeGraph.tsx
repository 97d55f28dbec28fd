/**
 * The routes as a picture: line width shows the depth of a pool, colour its score, and a dashed line a rejected pool.
 */
import { counted, dollars, fee, words } from '../format.ts'
import type { Live } from '../live.ts'
import { bandOf } from '../parts/score.tsx'
import { hrefOf } from '../place.ts'
import { depthOf, type Edge, type GraphRoute, layOut, NODE } from './graphLayout.ts'

type Props = {
  readonly live: Live
  readonly chainId: number
  readonly token: string
  readonly routes: readonly GraphRoute[]
}

const MARGIN = 12
/** Approximate width of a letter, for the plate behind a label. */
const LETTER = 6.6

export function RouteGraph({ live, chainId, token, routes }: Props) {
  const { width, height, nodes, edges, left } = layOut(token, routes)
  const symbol = (address: string) => live.symbol(chainId, address)
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Route graph">
        <svg
          class="graph"
          width={width + 2 * MARGIN}
          height={height + 2 * MARGIN}
          viewBox={`${-MARGIN} ${-MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`}
          role="group"
          aria-label={`Routes from ${symbol(token)} to stables: ${counted(edges.length, 'pool')}`}
        >
          {edges.map(edge => (
            <Pool key={`${edge.hop.pool_id}${edge.hop.from}`} edge={edge} chainId={chainId} symbol={symbol} />
          ))}
          {edges.map(edge => (
            <Label key={`${edge.hop.pool_id}${edge.hop.from}`} edge={edge} />
          ))}
          {nodes.map(({ address, x, y }) => (
            <a
              key={address}
              href={hrefOf.token(chainId, address)}
              class={address === token ? 'node own' : 'node'}
            >
              <rect
                x={x - NODE.width / 2}
                y={y - NODE.height / 2}
                width={NODE.width}
                height={NODE.height}
                rx={8}
              />
              <text x={x} y={y} dominant-baseline="central" text-anchor="middle">
                {symbol(address)}
              </text>
            </a>
          ))}
        </svg>
      </div>
      <p class="legend small muted">
        <span class="key thick" aria-hidden="true" /> width: dollars that move the pool by 2% · colour: score
        · <span class="key dashed" aria-hidden="true" /> not in the price, with its reason ·{' '}
        <span class="key chosen" aria-hidden="true" /> on the selected route
        {left > 0 && ` · ${left} smaller pools only in the list below`}
      </p>
    </>
  )
}

type PoolProps = {
  readonly edge: Edge
  readonly chainId: number
  readonly symbol: (address: string) => string
}

function Pool({ edge, chainId, symbol }: PoolProps) {
  const { hop, isAccepted, isSelected, path } = edge
  const depth = depthOf(hop)
  const label = labelOf(edge)
  // An accessible name must begin with the visible text.
  const about = [
    label,
    `${symbol(hop.from)} to ${symbol(hop.to)}`,
    isAccepted ? '' : `${nameOf(edge)}, not in the price`,
    `score ${hop.score}`,
    isSelected ? 'on the selected route' : '',
  ]
    .filter(part => part !== '')
    .join(', ')
  return (
    <a
      href={hrefOf.pool(chainId, hop.pool_address)}
      class={`edge band${bandOf(hop.score)} ${isAccepted ? '' : 'rejected'}`}
      aria-label={about}
    >
      {isSelected && <path d={path} class="halo" stroke-width={strokeOf(depth) + 7} />}
      <path d={path} class="line" stroke-width={strokeOf(depth)} />
      <Plate edge={edge} />
    </a>
  )
}

/** Above all lines, because the next one would run through it. The link below has the same target and text. */
const Label = ({ edge }: { readonly edge: Edge }) => (
  <g class={edge.isAccepted ? 'label' : 'label rejected'} aria-hidden="true">
    <Plate edge={edge} />
    <text x={edge.labelX} y={edge.labelY} dominant-baseline="central" text-anchor="middle">
      {labelOf(edge)}
    </text>
  </g>
)

function Plate({ edge }: { readonly edge: Edge }) {
  const width = labelOf(edge).length * LETTER + 14
  return (
    <rect class="plate" x={edge.labelX - width / 2} y={edge.labelY - 10} width={width} height={20} rx={6} />
  )
}

function nameOf({ hop }: Edge): string {
  const depth = hop.depth === null ? '' : ` ${dollars(hop.depth.effective_microusd)}`
  return `${hop.deployment_id} ${fee(hop.fee_ppm)}${depth}`
}

const labelOf = (edge: Edge): string => (edge.isAccepted ? nameOf(edge) : words(edge.reason ?? 'rejected'))

/** A logarithm: pools differ by orders of magnitude. */
const strokeOf = (usd: number): number => Math.min(11, 1.5 + Math.max(0, Math.log10(usd + 1) - 1) * 1.9)
