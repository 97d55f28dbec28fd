/**
 * The routes of a quote. Each connects the token to a stable; its price is the product of its hops, its depth that of
 * the shallowest hop and its score that of the weakest. A route that takes no part has failed the rule it names.
 */
import { feedScore } from '@assay/engine/rules'
import { toId } from '../wire/identifier.ts'
import type { Hop, Route } from '../wire/route.ts'
import { checkHop } from './hop.ts'
import type { Anchors } from './hopScore.ts'
import { at, type Reading } from './reading.ts'
import { checkStable } from './stable.ts'

/** A route that takes part, parsed: the input of the vote. */
export type Live = {
  readonly route: Route
  readonly path: string
  readonly hops: readonly Hop[]
  readonly price: { readonly num: bigint; readonly den: bigint }
  readonly capacity: bigint
}

const PPM_CAP = 1_000_000n

/** Checks every route and returns those that take part, in the order of the quote. */
export function checkRoutes(reading: Reading): Live[] {
  const { findings, quote, path, policy } = reading
  const anchors = anchorsOf(reading)
  const live: Live[] = []
  const pools = new Map<string, { readonly hop: Hop; readonly path: string }>()
  quote.routes.forEach((route, index) => {
    const own = at(path, `routes[${index}]`)
    findings.part(() => {
      const hop = route.hops[0] as Hop
      const twin = pools.get(hop.pool_id)
      if (twin === undefined) pools.set(hop.pool_id, { hop, path: `${own}.hops[0]` })
      else findings.same(`${own}.hops[0]`, ownOf(hop), ownOf(twin.hop), [twin.path])
      checkParts(reading, route, own, route.accepted ? anchors : null)
      if (route.failure === undefined) live.push(checkLive(reading, route, own))
      else checkFailed(reading, route, own)
      // Rejected for its price alone: the inputs of that price must still be true.
      if (isRefused(route)) checkLive(reading, route, own)
    })
  })
  findings.holds(
    at(path, 'routes'),
    live.length,
    live.length <= policy.max_routes,
    `at most ${policy.max_routes} routes`,
  )
  return live
}

/** Sound in itself, and rejected because others agree on another price. */
export const isRefused = (route: Route): boolean =>
  route.failure?.rule === 'VALUE_IMBALANCE' && route.hops.every(hop => hop.failure === undefined)

/**
 * The values of a pool that are the same on every route. Coverage belongs to the route's asset, and affects score and
 * caps.
 */
function ownOf(hop: Hop): object {
  const { coverage: _coverage, ...components } = hop.components
  const { caps: _caps, score: _score, ...own } = hop
  return { ...own, components }
}

/** Hops after a routing asset belong to that asset; the others are checked here. */
function checkParts(reading: Reading, route: Route, path: string, anchors: Anchors | null): void {
  const { findings, quote, stables } = reading
  const [first, ...rest] = route.hops
  if (first === undefined) return findings.unreadable(`${path}.hops`, route.hops, 'at least one hop')
  findings.same(`${path}.hops[0].from`, first.from, quote.token, [at(reading.path, 'token')])
  checkHop(reading, first, `${path}.hops[0]`, anchors)
  if (route.stable !== null) {
    checkStable(findings, reading.policy, route.stable, `${path}.stable`)
    const other = stables.get(route.stable.token_address)
    if (other !== undefined) findings.same(`${path}.stable`, route.stable, other.text, [other.path])
  }
  // A failed route does not show the asset it could have continued from.
  if (rest.length === 0 || route.failure !== undefined) return
  const asset = reading.assets.get(first.to)
  const tail = rest.map(hop => hop.pool_id).join('-')
  const index = asset?.quote.routes.findIndex(each => each.route_id === tail) ?? -1
  const onward = asset?.quote.routes[index]
  if (asset === undefined || onward === undefined) {
    findings.differ(
      `${path}.hops[1]`,
      first.to,
      'a routing asset whose quote, with this route, is in the quote',
    )
    return
  }
  const from = at(asset.path, `routes[${index}]`)
  findings.same(`${path}.hops[0].to`, first.to, asset.quote.token, [at(asset.path, 'token')])
  rest.forEach((hop, position) => {
    findings.same(`${path}.hops[${position + 1}]`, hop, onward.hops[position], [`${from}.hops[${position}]`])
  })
  findings.same(`${path}.stable`, route.stable, onward.stable, [`${from}.stable`])
  findings.holds(`${path}.route_id`, route.route_id, onward.accepted, 'a route the asset itself accepts', [
    `${from}.accepted`,
  ])
}

function checkLive(reading: Reading, route: Route, path: string): Live {
  const { findings, policy, assets } = reading
  const { hops } = route
  findings.same(`${path}.route_id`, route.route_id, hops.map(hop => hop.pool_id).join('-'), [`${path}.hops`])
  hops.forEach((hop, index) => {
    const own = `${path}.hops[${index}]`
    findings.same(`${own}.pool_id`, hop.pool_id, toId(hop.pool_address), [`${own}.pool_address`])
    if (index > 0)
      findings.same(`${own}.from`, hop.from, hops[index - 1]?.to, [`${path}.hops[${index - 1}].to`])
  })
  findings.holds(
    `${path}.hops`,
    hops.length,
    hops.length <= policy.max_hops && new Set(hops.map(hop => hop.pool_id)).size === hops.length,
    `at most ${policy.max_hops} hops, no pool twice`,
  )
  if (route.stable === null)
    return findings.unreadable(`${path}.stable`, null, 'the stable the route ends in')
  findings.same(`${path}.stable.token_address`, route.stable.token_address, hops.at(-1)?.to, [`${path}.hops`])

  let price = findings.value(`${path}.stable.usd`, route.stable.usd)
  let capacity: bigint | null = null
  hops.forEach((hop, index) => {
    const ratio = findings.value(`${path}.hops[${index}].ratio`, hop.ratio)
    price = { num: price.num * ratio.num, den: price.den * ratio.den }
    const depth = findings.whole(`${path}.hops[${index}].depth`, hop.depth?.effective_microusd)
    if (capacity === null || depth < capacity) capacity = depth
  })
  findings.exact(`${path}.price_usd`, route.price_usd, price, [
    ...hops.map((_, index) => `${path}.hops[${index}].ratio`),
    `${path}.stable.usd`,
  ])
  const least = capacity ?? 0n
  findings.same(`${path}.capacity_microusd`, route.capacity_microusd, least.toString(), [`${path}.hops`])

  const edges = Math.min(10, ...hops.map(hop => hop.score))
  const assetScores = hops.slice(1).map(hop => assets.get(hop.from)?.quote.confidence.score ?? 0)
  const components = {
    edges: { score: edges },
    ...(assetScores.length === 0 ? {} : { routing_asset: { score: Math.min(10, ...assetScores) } }),
  }
  const hopScores = hops.map((_, index) => `${path}.hops[${index}].score`)
  findings.same(`${path}.components`, route.components, components, hopScores)
  findings.same(`${path}.score`, route.score, Math.min(edges, ...assetScores), [
    ...hopScores,
    `${path}.components`,
  ])
  findings.same(
    `${path}.caps`,
    route.caps,
    hops.flatMap(hop => hop.caps),
    hops.map((_, index) => `${path}.hops[${index}].caps`),
  )
  for (const [index, hop] of hops.entries())
    findings.holds(
      `${path}.hops[${index}].score`,
      hop.score,
      hop.score > 0,
      'above 0 in a participating route',
    )
  return { route, path, hops, price, capacity: least }
}

/** Rules that can be checked from the values shown. A narrowed quote may be stricter than its policy. */
function checkFailed({ findings, policy, quote }: Reading, route: Route, path: string): void {
  const { failure } = route
  const hop = route.hops[0] as Hop
  if (failure === undefined) return
  const id = route.hops.map(each => each.pool_id).join('-')
  findings.same(`${path}.route_id`, route.route_id, id, [`${path}.hops`])
  findings.same(`${path}.accepted`, route.accepted, false, [`${path}.failure`])
  findings.same(`${path}.material`, route.material, false, [`${path}.failure`])
  findings.same(`${path}.selected`, route.selected, false, [`${path}.failure`])
  findings.same(`${path}.reason`, route.reason, failure.rule, [`${path}.failure.rule`])
  const isNarrowed = quote.source === 'COMPUTED'
  const effective = BigInt(hop.depth?.effective_microusd ?? 0)
  const { freshness, feed, state } = hop.components
  const isTrue: Readonly<Record<string, boolean>> = {
    FEE_TOO_HIGH: hop.fee_ppm > policy.fee_ceiling_ppm,
    DECIMALS_UNVERIFIED: hop.from_decimals === null || hop.to_decimals === null,
    DECIMALS_CHANGED: hop.from_decimals === null || hop.to_decimals === null,
    STATE_UNVERIFIED: state.finality === 'unverified',
    NO_ACTIVE_LIQUIDITY: hop.marginal === null,
    DEPTH_UNKNOWN: hop.depth === null,
    EVIDENCE_TOO_COARSE: hop.evidence === null,
    EXPIRED: freshness.age_ms >= freshness.ttl_ms,
    FEED: feedScore(feed.status) === 0,
    BELOW_MIN_DEPTH: isNarrowed || effective < BigInt(policy.min_depth_usd) * PPM_CAP,
    TOO_MANY_HOPS: isNarrowed || route.hops.length > policy.max_hops,
  }
  findings.holds(
    `${path}.failure.rule`,
    failure.rule,
    isTrue[failure.rule] ?? true,
    'a rule that the shown values fail',
    [`${path}.hops[0]`],
  )
}

/** A routing asset's accepted first hops carry coverage, all with the same total; null for any other token. */
function anchorsOf({ findings, quote, path }: Reading): Anchors | null {
  const depths = new Map<string, { readonly depth: string | undefined; readonly path: string }>()
  let isAnchor = false
  quote.routes.forEach((route, index) => {
    const [first] = route.hops
    if (!route.accepted || first === undefined) return
    if (first.components.coverage !== undefined) isAnchor = true
    const own = at(path, `routes[${index}].hops[0].depth.effective_microusd`)
    if (!depths.has(first.pool_id))
      depths.set(first.pool_id, { depth: first.depth?.effective_microusd, path: own })
  })
  if (!isAnchor) return null
  let microusd = 0n
  for (const each of depths.values()) microusd += findings.whole(each.path, each.depth)
  return { microusd, from: [...depths.values()].map(each => each.path) }
}
