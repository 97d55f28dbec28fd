/**
 * The vote: weights over shared pools, dust removed, outliers rejected in one pass, and the weighted median as the
 * price; then the published score as the minimum of agreement, material routes and the state of everything they used.
 */
import {
  stateScore,
  label as labelOf,
  consensus,
  type EngineRoute,
  type Fraction,
  immaterialAmong,
  materialHops,
  approx as approxOf,
  rejectImbalanced,
  weigh,
} from '@assay/engine/rules'
import { checkFeed } from './disputes.ts'
import { bpsText } from './hopScore.ts'
import { checkPast } from './ownPast.ts'
import { checkSellability } from './sellability.ts'
import { at, type Reading } from './reading.ts'
import { agreementOf, type Capped, dissentIn } from './sourceScore.ts'
import { isRefused, type Live } from './routes.ts'

type Verdict = NonNullable<ReturnType<typeof consensus>>

/** Failed routes are shown up to this number; beyond it, a guard's reasons may be missing. */
const MAX_FAILED_SHOWN = 16
const BPS = 10_000n

export function checkVote(reading: Reading, live: readonly Live[]): void {
  const { findings, policy, path } = reading
  const weights = checkWeights(reading, live)
  checkImbalance(reading, live)
  const byFirst = weightByFirst(live, weights)
  const total = sum(weights)
  if (total === 0n)
    return findings.unreadable(at(path, 'routes'), live.length, 'a route with weight', [at(path, 'support')])
  const weighted = live.map((each, index) => ({
    first: firstOf(each.hops),
    weight: weights[index] as bigint,
    isOnward: each.hops.length > 1,
  }))
  const immaterial = immaterialAmong(policy, weighted, byFirst, total, ({ isOnward }) => isOnward)
  const isHeard = weighted.map(each => !immaterial.has(each))
  const heard = live.filter((_, index) => isHeard[index])
  const heardWeights = weights.filter((_, index) => isHeard[index])
  const verdict = consensus(
    heard.map(({ route, price, capacity, hops }, index) => ({
      id: route.route_id,
      price,
      weight: heardWeights[index] as bigint,
      capacity,
      source: { id: firstOf(hops), deploymentId: deploymentOf(hops) },
    })),
    policy.revision === 1 ? null : total,
  )
  if (verdict === null) return findings.unreadable(at(path, 'routes'), live.length, 'a participating route')
  const from = [at(path, 'routes'), at(path, 'support')]
  live.forEach((each, index) => {
    const position = heard.indexOf(each)
    const reason = !isHeard[index] ? 'IMMATERIAL' : verdict.rejected[position] === true ? 'OUTLIER' : null
    findings.same(`${each.path}.reason`, each.route.reason, reason, from)
    findings.same(`${each.path}.accepted`, each.route.accepted, reason === null, from)
    findings.same(
      `${each.path}.selected`,
      each.route.selected,
      position >= 0 && position === verdict.selected,
      from,
    )
  })
  checkSelected(reading, heard, heardWeights, verdict)
  const leftOut = dissentIn(reading, live, heard, byFirst, total, heard[verdict.selected] as Live)
  checkPublished(reading, live, heard, heardWeights, verdict, leftOut)
}

/** w_r = ⌊b_r · min(1, L_e/B_e)⌋ over the pools of the route. */
function checkWeights({ findings }: Reading, live: readonly Live[]): readonly bigint[] {
  const { weight } = weighed(live)
  live.forEach(({ route, path }, index) =>
    findings.same(`${path}.weight_microusd`, route.weight_microusd, weight[index]?.toString(), [
      `${path}.capacity_microusd`,
    ]),
  )
  return weight
}

function weighed(live: readonly Live[]) {
  const depths = new Map<string, bigint>()
  const routes = live.map(({ hops }) =>
    hops.map(({ pool_id, depth }) => {
      if (!depths.has(pool_id)) depths.set(pool_id, BigInt(depth?.effective_microusd ?? 0))
      return pool_id
    }),
  )
  return weigh(routes, pool => depths.get(pool))
}

/** Whether a pool far from what others agree on was rightly rejected, and none of the others wrongly kept. */
function checkImbalance({ findings, quote, policy, path }: Reading, live: readonly Live[]): void {
  const failed = quote.routes.filter(route => route.failure !== undefined)
  const refused: Live[] = []
  quote.routes.forEach((route, index) => {
    if (!isRefused(route)) return
    const own = at(path, `routes[${index}]`)
    refused.push({
      route,
      path: own,
      hops: route.hops,
      price: findings.value(`${own}.price_usd`, route.price_usd),
      capacity: findings.whole(`${own}.capacity_microusd`, route.capacity_microusd),
    })
  })
  const candidates = [...live, ...refused]
  const { weight } = weighed(candidates)
  const edges = new Map<string, object>()
  const asEngine = candidates.map(({ route, price, hops }, index) => {
    const first = firstOf(hops)
    const edge = edges.get(first) ?? { pool: first }
    edges.set(first, edge)
    return {
      id: route.route_id,
      price,
      weight: weight[index],
      approx: approxOf(price),
      first: edge,
    } as unknown as EngineRoute
  })
  const kept = new Set(rejectImbalanced(policy, asEngine, []).map(route => route.id))
  live.forEach(each =>
    findings.holds(
      each.path,
      each.route.route_id,
      kept.has(each.route.route_id) || failed.length >= MAX_FAILED_SHOWN,
      `a price within ${policy.imbalance_ratio}× of what others agree on`,
      [`${each.path}.price_usd`],
    ),
  )
  if (failed.length >= MAX_FAILED_SHOWN) return
  refused.forEach(({ path: own, route }, index) =>
    findings.same(`${own}.weight_microusd`, route.weight_microusd, `${weight[live.length + index]}`, [
      `${own}.capacity_microusd`,
    ]),
  )
  for (const each of refused)
    findings.holds(
      `${each.path}.failure.rule`,
      'VALUE_IMBALANCE',
      !kept.has(each.route.route_id),
      'a rule that the route fails',
      [`${each.path}.price_usd`],
    )
}

function checkSelected(
  { findings, quote, path }: Reading,
  heard: readonly Live[],
  weights: readonly bigint[],
  verdict: Verdict,
): void {
  const chosen = heard[verdict.selected] as Live
  const routes = at(path, 'routes')
  const votes = heard.flatMap(each => [`${each.path}.price_usd`, `${each.path}.weight_microusd`])
  findings.exact(at(path, 'price_usd'), quote.price_usd, chosen.price, [`${chosen.path}.price_usd`])
  findings.same(
    at(path, 'selected'),
    quote.selected,
    {
      route_id: chosen.route.route_id,
      pool_ids: chosen.hops.map(hop => hop.pool_id),
      weight_microusd: weights[verdict.selected]?.toString(),
    },
    [routes],
  )
  const stable = chosen.route.stable
  findings.same(
    at(path, 'stable'),
    quote.stable,
    { token_address: stable?.token_address, usd: stable?.usd, status: stable?.status },
    [`${chosen.path}.stable`],
  )
  const accepted = verdict.survivors.length
  findings.exact(
    at(path, 'support.low'),
    quote.support?.low,
    heard[verdict.low]?.price as Live['price'],
    votes,
  )
  findings.exact(
    at(path, 'support.high'),
    quote.support?.high,
    heard[verdict.high]?.price as Live['price'],
    votes,
  )
  findings.same(
    at(path, 'support'),
    quote.support,
    {
      accepted,
      rejected: heard.length - accepted,
      retained_weight_bps: Number((BPS * verdict.keptWeight) / verdict.totalWeight),
      tau_bps: verdict.tauBps.toString(),
      mad_bps: bpsText(verdict.madBps),
    },
    votes,
  )
}

function checkPublished(
  reading: Reading,
  live: readonly Live[],
  heard: readonly Live[],
  weights: readonly bigint[],
  verdict: Verdict,
  dissenting: Capped | null,
): void {
  const { findings, quote, path, policy, assets } = reading
  const own = at(path, 'confidence')
  const { confidence } = quote
  const isAccepted = heard.map((_, index) => verdict.rejected[index] !== true)
  const accepted = heard.filter((_, index) => isAccepted[index])
  const byFirst = weightByFirst(
    accepted,
    weights.filter((_, index) => isAccepted[index]),
  )
  const heavy = materialHops(policy, byFirst, verdict.keptWeight, pool => pool)
  const chosen = heard[verdict.selected] as Live
  const agreement = agreementOf(reading, live, accepted, heavy, verdict, chosen)
  const restsOn = ({ hops }: Live): boolean => {
    if (!heavy.has(firstOf(hops))) return false
    const tail = hops.slice(1).map(hop => hop.pool_id)
    const asset = assets.get(hops[0]?.to ?? '')?.quote
    return (
      tail.length === 0 || asset?.routes.find(each => each.route_id === tail.join('-'))?.material === true
    )
  }
  const isChosenMaterial = policy.revision === 1 || !accepted.some(restsOn)
  const isMaterial = (each: Live): boolean => restsOn(each) || (isChosenMaterial && each === chosen)
  for (const each of live)
    findings.same(`${each.path}.material`, each.route.material, accepted.includes(each) && isMaterial(each), [
      at(path, 'routes'),
    ])
  const material = accepted.filter(isMaterial)
  const settled = accepted.flatMap(({ route, hops }) => [
    ...hops.flatMap(hop => [hop.settled, hop.components.feed.score]),
    stateScore(route.stable?.finality ?? 'unverified'),
  ])
  const components = {
    path_agreement: {
      score: agreement.score,
      sources: agreement.sources,
      deployments: agreement.deployments,
      spread_bps: bpsText(agreement.spreadBps),
      retained_weight_bps: agreement.retainedBps,
      ...(policy.revision === 1 ? {} : { source_score: agreement.bySources }),
    },
    material_routes: {
      score: Math.min(10, ...material.map(({ route }) => route.score)),
      routes: material.length,
    },
    aggregate_state: { score: Math.min(10, ...settled) },
  }
  // If these are missing, a stable's components are used instead, and every one of them then differs.
  const said = 'path_agreement' in confidence.components ? confidence.components : null
  findings.same(
    `${own}.components.path_agreement`,
    said?.path_agreement,
    components.path_agreement,
    // All routes: an outlier counts among the observations, and a pool whose routes were not accepted may be a
    // source.
    live.flatMap(({ path: route }) => [
      `${route}.score`,
      `${route}.weight_microusd`,
      `${route}.price_usd`,
      `${route}.hops[0].deployment_id`,
    ]),
  )
  findings.same(
    `${own}.components.material_routes`,
    said?.material_routes,
    components.material_routes,
    accepted.flatMap(({ path: route }) => [`${route}.score`, `${route}.weight_microusd`]),
  )
  findings.same(
    `${own}.components.aggregate_state`,
    said?.aggregate_state,
    components.aggregate_state,
    accepted.flatMap(({ path: route, hops }) => [
      `${route}.stable.finality`,
      ...hops.flatMap((_, index) => [
        `${route}.hops[${index}].settled`,
        `${route}.hops[${index}].components.feed.score`,
      ]),
    ]),
  )
  const caps = new Map<string, number>()
  const note = (list: readonly Capped[]) => {
    for (const { code, cap } of list) caps.set(code, Math.min(cap, caps.get(code) ?? cap))
  }
  note(agreement.caps)
  if (dissenting !== null) note([dissenting])
  for (const { hops } of material) {
    for (const hop of hops) note(hop.caps)
    if (hops.length > 1) note(assets.get(hops[0]?.to ?? '')?.quote.confidence.caps ?? [])
  }
  const marginalUsd = () => marginalUsdOf(reading, chosen)
  const feed = checkFeed(reading, marginalUsd)
  const past = checkPast(reading, chosen, marginalUsd, feed?.isNear ?? false)
  for (const cap of [checkSellability(reading), feed?.cap ?? null, past]) if (cap !== null) note([cap])
  const listed = [...caps].map(([code, cap]) => ({ code, cap })).sort((a, b) => (a.code < b.code ? -1 : 1))
  findings.same(`${own}.caps`, confidence.caps, listed, [
    ...material.map(each => `${each.path}.caps`),
    at(path, 'own_past'),
    at(path, 'sellability'),
  ])
  const parts = [
    components.path_agreement.score,
    components.material_routes.score,
    components.aggregate_state.score,
    ...listed.map(each => each.cap),
  ]
  checkLabel(reading, Math.min(10, ...parts), [`${own}.components`, `${own}.caps`])
  checkExpiry(reading, accepted)
}

/** The fee-free price along a route. */
function marginalUsdOf({ findings }: Reading, { route, hops, path }: Live): Fraction {
  const stable = findings.value(`${path}.stable.usd`, route.stable?.usd)
  return hops.reduce((usd, hop, index) => {
    const { num, den } = findings.value(`${path}.hops[${index}].marginal`, hop.marginal)
    return { num: usd.num * num, den: usd.den * den }
  }, stable)
}

/** Checks the score and its label, and that a price nobody may use is not published. */
export function checkLabel(
  { findings, quote, path }: Reading,
  expected: number,
  from: readonly string[],
): void {
  const own = at(path, 'confidence')
  findings.same(`${own}.score`, quote.confidence.score, expected, from)
  const label = labelOf(quote.confidence.score as Parameters<typeof labelOf>[0])
  findings.same(`${own}.label`, quote.confidence.label, label, [`${own}.score`])
  findings.holds(at(path, 'state'), quote.state, quote.confidence.score > 0, 'UNPRICED at a score of 0', [
    `${own}.score`,
  ])
}

/** A price expires with its longest-lived route, and a route with the first of its hops to expire. */
function checkExpiry({ findings, quote, path, ttlMs }: Reading, accepted: readonly Live[]): void {
  const expiries = accepted.map(({ hops }) => Math.min(...hops.map(hop => hop.verified_at_ms + ttlMs)))
  findings.same(
    at(path, 'expires_at_ms'),
    quote.expires_at_ms,
    Math.max(...expiries),
    accepted.flatMap(({ path: route, hops }) =>
      hops.map((_, index) => `${route}.hops[${index}].verified_at_ms`),
    ),
  )
}

function weightByFirst(live: readonly Live[], weights: readonly bigint[]): Map<string, bigint> {
  const byFirst = new Map<string, bigint>()
  live.forEach(({ hops }, index) =>
    byFirst.set(firstOf(hops), (byFirst.get(firstOf(hops)) ?? 0n) + (weights[index] as bigint)),
  )
  return byFirst
}

const deploymentOf = (hops: Live['hops']): string => hops[0]?.deployment_id ?? ''
const firstOf = (hops: Live['hops']): string => hops[0]?.pool_id ?? ''
const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)
