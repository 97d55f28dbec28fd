/**
 * Extrapolates the costs of the scaled-out form to ten, a hundred and a thousand times the reference demand. The
 * demand is invented; the scaling is measured.
 */
import { readBackMicros } from './market.ts'
import { type Costs, coresOf, type Demand } from './model.ts'
import { API_NODES, FULL, PLACES, REFERENCE } from './reference.ts'
import { casesOf, costsOf, pricesPerSwap, type Report } from './report.ts'
import { figure, table } from './tables.ts'

const FACTORS = [1, 10, 100, 1000]
/** Share of all records, for a client that requests the tokens it needs. */
const WANTED = 0.01

/** Empty unless both the scaled-out form and the market were run. */
export function growthPart(report: Report): string {
  const costs = new Map(costsOf(report, 'three').map(each => [each.role, each.costs]))
  const [api, chains, database] = ['API', 'chains', 'database'].map(role => costs.get(role))
  const market = report.markets.find(({ store }) => store === 'PostgreSQL')
  const readMicros = market === undefined ? undefined : readBackMicros(market)
  if (api === undefined || chains === undefined || database === undefined || readMicros === undefined)
    return ''
  const perSwap = pricesPerSwap(casesOf(report, 'three'))
  const rows = FACTORS.map(factor => {
    const [swaps, quotes, sockets] = [
      REFERENCE.swaps * factor,
      REFERENCE.quotes * factor,
      REFERENCE.sockets * factor,
    ]
    const records = swaps * (1 + perSwap)
    const demand = (wanted: number): Demand => ({
      swap: swaps,
      price: swaps * perSwap,
      quote: quotes,
      freshQuote: Math.min(quotes, swaps * perSwap),
      delivery: records * sockets * wanted,
    })
    const nodes = nodesFor(api, demand(WANTED), sockets)
    return [
      `${factor}×`,
      figure(swaps),
      figure(quotes),
      figure(sockets),
      figure(coresOf(chains, demand(0))),
      figure(coresOf(database, demand(0))),
      nodesText(nodesFor(api, demand(1), sockets)),
      nodesText(nodes),
      nodes === null ? '–' : figure((nodes * records * readMicros) / 1e6),
    ]
  })
  return table(
    [
      '',
      'swaps/s',
      'quotes/s',
      'sockets',
      'cores chains',
      'cores database',
      'API nodes, unfiltered sockets',
      `API nodes, each takes ${WANTED * 100}%`,
      'database cores for their tails',
    ],
    rows,
  )
}

/** Null when following the log alone fills a node: no number of nodes is then enough. */
export function nodesFor(api: Costs, demand: Demand, sockets: number): number | null {
  const following = coresOf(api, { ...demand, quote: 0, freshQuote: 0, delivery: 0 }) / API_NODES
  if (following >= FULL) return null
  const serving =
    (api.quote * demand.quote + api.freshQuote * demand.freshQuote + api.delivery * demand.delivery) / 1e6
  return Math.max(API_NODES, Math.ceil(serving / (FULL - following)), Math.ceil(sockets / PLACES))
}

const nodesText = (nodes: number | null): string => (nodes === null ? 'no node can keep up' : figure(nodes))
