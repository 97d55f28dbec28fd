/** Disputes of anchors, recomputed from the answers and pools that a quote shows with them. */
import { deviating, type Fraction, type Policy, stableDispute } from '@assay/engine/rules'
import type { StableDispute } from '../wire/route.ts'
import type { Findings } from './findings.ts'
import { bpsText } from './hopScore.ts'
import { at, type Reading } from './reading.ts'

type CapText = { readonly code: string; readonly cap: number }

/** The cap that pools put on a stable: the lowest of the disputes in which it is the disputed one. */
export function disputedCaps(
  findings: Findings,
  policy: Policy,
  token: string,
  disputes: readonly StableDispute[] | undefined,
  path: string,
): readonly CapText[] {
  const caps = (disputes ?? []).map((dispute, index) => {
    const own = `${path}[${index}]`
    checkStableDispute(findings, policy, token, dispute, own)
    return findings.integer(`${own}.cap`, dispute.cap)
  })
  return caps.length === 0 ? [] : [{ code: 'STABLE_DISPUTED', cap: Math.min(...caps) }]
}

function checkStableDispute(
  findings: Findings,
  policy: Policy,
  token: string,
  dispute: StableDispute,
  path: string,
): void {
  const side = (name: 'x' | 'y') => ({
    usd: findings.value(`${path}.${name}.usd`, dispute[name].usd),
    isFresh: dispute[name].source === 'CHAINLINK',
  })
  const least = BigInt(policy.stable.dispute.min_average_usd) * 1_000_000n
  const pools = dispute.pools.map((pool, index) => {
    const own = `${path}.pools[${index}]`
    const averageMicrousd = findings.whole(`${own}.average_microusd`, pool.average_microusd)
    findings.holds(
      `${own}.average_microusd`,
      pool.average_microusd,
      averageMicrousd >= least,
      `at least ${least}`,
    )
    return {
      id: pool.pool_id,
      median: findings.value(`${own}.median`, pool.median),
      weight: findings.positive(`${own}.l_eff_y`, pool.l_eff_y),
      averageMicrousd,
    }
  })
  const found = stableDispute(side('x'), side('y'), pools, policy)
  const from = [`${path}.x`, `${path}.y`, `${path}.pools`]
  if (found === null)
    return findings.differ(path, dispute, 'no dispute: the pools agree with the feeds', from)
  findings.exact(`${path}.market`, dispute.market, found.market, [`${path}.pools`])
  findings.same(`${path}.deviation_bps`, dispute.deviation_bps, bpsText(found.deviationBps), from)
  findings.same(`${path}.cap`, dispute.cap, found.cap, from)
  const disputed = found.disputed === 'X' ? dispute.x : dispute.y
  findings.same(`${path}.${found.disputed.toLowerCase()}.token_address`, disputed.token_address, token, from)
}

/** The effect of a routing asset's own feed on its fee-free price; null while no feed answers. */
export function checkFeed(
  { findings, quote, path, policy, atMs }: Reading,
  marginalUsd: () => Fraction,
): { readonly cap: CapText | null; readonly isNear: boolean } | null {
  const feed = quote.usd_feed ?? null
  if (feed === null) return null
  const own = at(path, 'usd_feed')
  const usd = findings.value(`${own}.usd`, feed.usd)
  const lateMs = [feed.updated_at_ms, feed.heartbeat_ms, feed.grace_ms].reduce(
    (sum, each) => sum + findings.integer(own, each),
    0,
  )
  findings.holds(
    `${own}.updated_at_ms`,
    feed.updated_at_ms,
    atMs <= lateMs,
    'no older than heartbeat and grace',
    [`${own}.heartbeat_ms`, `${own}.grace_ms`],
  )
  const { deviationBps, cap, isNear } = deviating(marginalUsd(), usd, policy)
  findings.same(`${own}.deviation_bps`, feed.deviation_bps, bpsText(deviationBps), [
    `${own}.usd`,
    at(path, 'routes'),
  ])
  return { cap, isNear }
}
