/** A hop as JSON text written by hand. */
import type { Cap } from '../../rules/reasons.ts'
import { feeOf } from '../../rules/poolFee.ts'
import { type Count, count } from '../../units.ts'
import type { Agreement, Edge, EdgeComponents } from '../evaluation.ts'
import { agreementText } from './compact.ts'
import { Shared, unreduced } from './parts.ts'
import {
  backingText,
  coverageText,
  depthText,
  deviationText,
  evidenceText,
  holdings,
  medianOf,
  pastText,
} from './poolText.ts'

/** A hop, and its caps as the elements of a list. */
export type WrittenHop = { readonly text: Shared; readonly caps: string }

/**
 * Written by hand: there are two new hops for each swap, and one object with all their members takes twice as long.
 * Members that most hops lack, or that depend on the family, are written from data.
 */
export function writtenHop(edge: Edge): WrittenHop {
  const { components, derived } = edge
  const caps = capsJson(edge.caps)
  const text = new Shared([
    `{${beforeRatio(edge)},"ratio":`,
    unreduced(derived.ratio),
    `,"evidence":${evidenceJson(edge)},"marginal":`,
    unreduced(derived.marginal),
    `,${beforeMedian(edge, components)},"median":`,
    unreduced(medianOf(components, edge)),
    `,${afterMedian(edge, components, caps)}}`,
  ])
  return { text, caps }
}

/** Up to the ratio. Only the id of a deployment comes from a configuration and may need escaping. */
function beforeRatio({ pool, derived: { scale } }: Edge): string {
  const [from, to] = scale === null ? [null, null] : [digitsOf(scale.from), digitsOf(scale.to)]
  return (
    `"pool_id":"${pool.id}","pool_address":"${pool.address}","family":"${pool.terms.family}",` +
    `"deployment_id":${JSON.stringify(pool.deploymentId)},"fee_ppm":${feeOf(pool)},` +
    `"from":"${pool.from}","to":"${pool.to}","from_decimals":${from},"to_decimals":${to}`
  )
}

/** The decimals behind a scale of 10^decimals. */
const digitsOf = (scale: bigint): Count => count(scale.toString().length - 1)

/** From the marginal price to the median of the components. */
function beforeMedian(edge: Edge, { depth, freshness, agreement, temporal }: EdgeComponents): string {
  const { pool, state, capacity } = edge
  const { lastTradeMs, trackedSinceMs, past, backing } = state
  const read = past === null && backing === undefined ? {} : { ...pastText(state), ...backingText(state) }
  return (
    `${members(holdings(pool, state))}${depthMembers(edge)}"verified_at_ms":${edge.verifiedMs},` +
    `"quiet_since_ms":${lastTradeMs ?? trackedSinceMs},"last_trade_ms":${lastTradeMs},${members(read)}` +
    `"jump_since_ms":${edge.outlook.jumpSinceMs},"settled":${edge.settled},"score":${edge.score},` +
    `"components":{"depth":{"score":${depth.score},"l_eff":${quoted(capacity)}},` +
    `"freshness":{"score":${freshness.score},"age_ms":${freshness.ageMs},"ttl_ms":${freshness.ttlMs}},` +
    `"agreement":{${agreementMembers(agreement)}},` +
    `"temporal":{"score":${temporal.score},"covered_ms":${temporal.coveredMs}`
  )
}

function afterMedian(edge: Edge, components: EdgeComponents, caps: string): string {
  const { feed, state, stable, coverage } = components
  return (
    `"deviation_bps":${quoted(deviationText(components, edge.state))}},` +
    `"feed":{"score":${feed.score},"status":"${feed.status}"},` +
    `"state":{"score":${state.score},"finality":"${state.finality}"}` +
    (stable === null ? '' : `,"stable":{"score":${stable.score}}`) +
    (coverage === null ? '' : `,${membersOf(coverageText(coverage))}`) +
    `},"caps":[${caps}]${edge.failure === null ? '' : `,"failure":${JSON.stringify(edge.failure)}`}`
  )
}

function evidenceJson(edge: Edge): string {
  const evidence = evidenceText(edge)
  if (evidence === null) return 'null'
  const { transaction_hash } = evidence
  return (
    `{"kind":"${evidence.kind}","amount_in":"${evidence.amount_in}","amount_out":"${evidence.amount_out}",` +
    `"block_number":${evidence.block_number},"block_hash":"${evidence.block_hash}",` +
    `"transaction_hash":${quoted(transaction_hash)},` +
    `"log_index":${evidence.log_index},"observed_at_ms":${evidence.observed_at_ms},"finality":"${evidence.finality}"}`
  )
}

/** Caps as the elements of a list. */
const capsJson = (caps: readonly Cap[]): string =>
  caps.map(({ code, cap }) => `{"code":"${code}","cap":${cap}}`).join()

/** The members of an object as JSON text, without the braces. */
export const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1)

/** With a comma after the last. */
const members = (value: object): string => {
  const text = membersOf(value)
  return text === '' ? '' : `${text},`
}

function depthMembers(edge: Edge): string {
  const text = depthText(edge)
  if (text.depth === null) return members(text)
  const { depth } = text
  return (
    `"depth":{"up_microusd":"${depth.up_microusd}","down_microusd":"${depth.down_microusd}",` +
    `"current_microusd":"${depth.current_microusd}","ewma_microusd":"${depth.ewma_microusd}",` +
    `"effective_microusd":"${depth.effective_microusd}"},`
  )
}

function agreementMembers(agreement: Agreement): string {
  const { score, sources, deployments, spread_bps, retained_weight_bps } = agreementText(agreement)
  return (
    `"score":${score},"sources":${sources},"deployments":${deployments},` +
    `"spread_bps":"${spread_bps}","retained_weight_bps":${retained_weight_bps}`
  )
}

export const quoted = (value: bigint | string | null): string => (value === null ? 'null' : `"${value}"`)
