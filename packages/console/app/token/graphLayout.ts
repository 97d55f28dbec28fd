/**
 * Lays out the nodes and pools of a route graph: tokens in columns by their distance from the priced one, stables in
 * the last, each pool in its own lane between them. A pool that passes over a column takes a lane above it.
 */
import type { Hop } from '@assay/sdk'

export type GraphRoute = {
  readonly hops: readonly Hop[]
  readonly selected: boolean
  readonly accepted: boolean
  readonly reason: string | null
}

export type Node = { readonly address: string; readonly x: number; readonly y: number }
export type Edge = {
  readonly hop: Hop
  readonly isSelected: boolean
  readonly isAccepted: boolean
  readonly reason: string | null
  readonly path: string
  readonly labelX: number
  readonly labelY: number
}
export type Graph = {
  readonly width: number
  readonly height: number
  readonly nodes: readonly Node[]
  readonly edges: readonly Edge[]
  /** Pools beyond the number that can be distinguished; the list of routes has them. */
  readonly left: number
}

/** More cannot be distinguished. */
const MAX_POOLS = 18
const LANE = 34
const COLUMN = 360
export const NODE = { width: 92, height: 34 } as const

type Pool = Omit<Edge, 'path' | 'labelX' | 'labelY'>

export function layOut(token: string, routes: readonly GraphRoute[]): Graph {
  const all = poolsOf(routes)
  const pools = all.slice(0, MAX_POOLS)
  const columns = columnsOf(token, pools)
  const last = Math.max(...columns.values())
  const isOver = ({ hop }: Pool) => (columns.get(hop.to) ?? 0) - (columns.get(hop.from) ?? 0) > 1
  const overs = pools.filter(isOver)
  const top = overs.length * LANE
  const gaps = Map.groupBy(
    pools.filter(pool => !isOver(pool)),
    ({ hop }) => columns.get(hop.from) ?? 0,
  )
  const busiest = Math.max(1, ...[...gaps.values()].map(members => members.length))
  const perColumn = Map.groupBy([...columns], ([, column]) => column)
  const tallest = Math.max(...[...perColumn.values()].map(nodes => nodes.length))
  const body = Math.max(busiest * LANE, tallest * (NODE.height + 24), 80)
  const nodes = new Map<string, Node>()
  for (const [column, members] of perColumn)
    for (const [at, [address]] of members.entries())
      nodes.set(address, {
        address,
        x: column * COLUMN + NODE.width / 2,
        y: top + (body * (at + 0.5)) / members.length,
      })
  const yOf = (address: string) => nodes.get(address)?.y ?? 0
  const edges = overs.map((pool, lane) => edgeOf(pool, nodes, (lane + 0.5) * LANE))
  for (const members of gaps.values()) {
    const sorted = members.toSorted(
      (a, b) =>
        yOf(a.hop.to) - yOf(b.hop.to) || yOf(a.hop.from) - yOf(b.hop.from) || depthOf(b.hop) - depthOf(a.hop),
    )
    const lane = body / sorted.length
    for (const [at, pool] of sorted.entries()) edges.push(edgeOf(pool, nodes, top + (at + 0.5) * lane))
  }
  return {
    width: last * COLUMN + NODE.width,
    height: top + body,
    nodes: [...nodes.values()],
    edges,
    left: all.length - pools.length,
  }
}

/** Each pool once: accepted if any accepted route uses it, otherwise with the reason of the first rejected one. */
function poolsOf(routes: readonly GraphRoute[]): Pool[] {
  const found = new Map<string, Pool>()
  for (const { hops, selected, accepted, reason } of routes)
    for (const hop of hops) {
      const key = `${hop.pool_id} ${hop.from}`
      const held = found.get(key)
      const isFailed = hop.failure !== undefined
      const isAccepted = (held?.isAccepted ?? false) || (accepted && !isFailed)
      found.set(key, {
        hop,
        isSelected: (held?.isSelected ?? false) || selected,
        isAccepted,
        reason: isAccepted ? null : (hop.failure?.rule ?? held?.reason ?? reason),
      })
    }
  return [...found.values()].sort(
    (a, b) => Number(b.isAccepted) - Number(a.isAccepted) || depthOf(b.hop) - depthOf(a.hop),
  )
}

/** Dollars that move the pool by 2%; 0 when unknown. */
export const depthOf = ({ depth }: Hop): number =>
  depth === null ? 0 : Number(depth.effective_microusd) / 1e6

/** A token's column is the most hops any pool needs to reach it; a token with no outgoing pool is in the last. */
function columnsOf(token: string, pools: readonly Pool[]): Map<string, number> {
  const columns = new Map([[token, 0]])
  for (const { hop } of pools) if (!columns.has(hop.from)) columns.set(hop.from, 1)
  for (const { hop } of pools) if (!columns.has(hop.to)) columns.set(hop.to, 1)
  // As many rounds as a route may have hops.
  for (let round = 0; round < 4; round++)
    for (const { hop } of pools) {
      const next = Math.min((columns.get(hop.from) ?? 0) + 1, 4)
      if (hop.to !== token && next > (columns.get(hop.to) ?? 0)) columns.set(hop.to, next)
    }
  const last = Math.max(...columns.values())
  const left = new Set<string>(pools.map(({ hop }) => hop.from))
  for (const address of columns.keys())
    if (!left.has(address) && address !== token) columns.set(address, last)
  return columns
}

/** From node to node through its lane, which has its label. */
function edgeOf(pool: Pool, nodes: ReadonlyMap<string, Node>, y: number): Edge {
  const [from, to] = [nodes.get(pool.hop.from) as Node, nodes.get(pool.hop.to) as Node]
  const [x1, x2] = [from.x + NODE.width / 2, to.x - NODE.width / 2]
  const middle = (x1 + x2) / 2
  const reach = (x2 - x1) / 4
  return {
    ...pool,
    path: `M${x1} ${from.y} C${x1 + reach} ${from.y} ${middle - reach} ${y} ${middle} ${y} S${x2 - reach} ${to.y} ${x2} ${to.y}`,
    labelX: middle,
    labelY: y,
  }
}
