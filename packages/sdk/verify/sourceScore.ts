/**
 * The combined score of the sources of a price, and whether a pool that was left out of the vote has a very different
 * price.
 */
import {
  count,
  dissent,
  formerPathAgreement,
  type Fraction,
  type LeftOut,
  approx,
  pathAgreement,
  score,
  sourceScore,
  sourcesOf,
  type Verdict,
} from '@assay/engine/rules'
import { type Reading, usdOf } from './reading.ts'
import type { Live } from './routes.ts'

export type Capped = { readonly code: string; readonly cap: number }

const MICRO = 1_000_000n

/** `heavy` holds the material first hops: in revision 1 they are the sources. */
export function agreementOf(
  { policy }: Reading,
  live: readonly Live[],
  accepted: readonly Live[],
  heavy: ReadonlySet<string>,
  verdict: Verdict,
  chosen: Live,
): ReturnType<typeof pathAgreement> {
  const deployments = new Map(live.map(({ hops }) => [poolOf(hops), hops[0]?.deployment_id ?? '']))
  const deploymentOf = (pool: string) => deployments.get(pool) ?? ''
  const support = (pools: readonly string[]) => ({
    sources: count(pools.length),
    deployments: count(new Set(pools.map(deploymentOf)).size),
    spreadBps: verdict.spreadBps,
    keptWeight: verdict.keptWeight,
    totalWeight: verdict.totalWeight,
    unresolved: verdict.unresolved,
  })
  if (policy.revision === 1) return formerPathAgreement(support([...heavy]), policy)
  const qualified = ({ route, price, hops }: Live) => ({
    score: score(route.score),
    approx: approx(price),
    price,
    pool: poolOf(hops),
  })
  const others = live.filter(each => !accepted.includes(each))
  const sources = sourcesOf(
    policy,
    accepted.map(qualified),
    others.map(qualified),
    ({ pool }) => pool,
    qualified(chosen),
  )
  return pathAgreement(
    support(sources.map(({ first }) => first)),
    sourceScore(policy, sources, deploymentOf),
    policy,
  )
}

/** DISSENT, for first-hop pools none of whose routes voted. */
export function dissentIn(
  reading: Reading,
  live: readonly Live[],
  heard: readonly Live[],
  byFirst: ReadonlyMap<string, bigint>,
  total: bigint,
  chosen: Live,
): Capped | null {
  const { findings, policy, quote } = reading
  const isHeard = new Set(heard.map(({ hops }) => poolOf(hops)))
  // A narrowed quote may require more depth than its policy: a pool that shares its depth may then weigh too little
  // to be loud.
  const isBelowNarrowed = (pool: string, depth: string | undefined): boolean =>
    quote.source === 'COMPUTED' && (byFirst.get(pool) ?? 0n) < BigInt(depth ?? 0) && !isShown
  const isShown = quote.confidence.caps.some(({ code }) => code === 'DISSENT')
  const leftOut = new Map<string, LeftOut>()
  for (const { hops, path } of live) {
    const [hop] = hops
    const pool = poolOf(hops)
    if (hop === undefined || isHeard.has(pool) || leftOut.has(pool)) continue
    if (isBelowNarrowed(pool, hop.depth?.effective_microusd)) continue
    const { median } = hop.components.temporal
    const own = `${path}.hops[0]`
    const usd = usdOf(reading, hop.to)?.usd ?? null
    const inUsd = (name: string, text: typeof hop.marginal): Fraction | null => {
      if (text === null || usd === null) return null
      const { num, den } = findings.value(`${own}.${name}`, text)
      return { num: num * usd.num, den: den * usd.den }
    }
    leftOut.set(pool, {
      weight: byFirst.get(pool) ?? 0n,
      marginal: inUsd('marginal', hop.marginal),
      median: inUsd('components.temporal.median', median),
    })
  }
  const least = BigInt(policy.min_depth_usd) * MICRO
  return dissent(policy, [...leftOut.values()], total, least, chosen.price)
}

const poolOf = (hops: Live['hops']): string => hops[0]?.pool_id ?? ''
