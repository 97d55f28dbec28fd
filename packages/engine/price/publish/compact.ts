/**
 * The compact price state: an evaluation in the wire format, about a kilobyte. The stream, the snapshot and the lists
 * use it; the full quote adds the routes.
 */
import type { BlockRef } from '../../chain/block.ts'
import { display } from '../../exact/decimal.ts'
import * as decimal from '../../exact/decimal.ts'
import * as ratio from '../../exact/ratio.ts'
import type { Fraction } from '../../exact/fraction.ts'
import type { AsOf, CompactPriced, CompactState, CompactUnpriced, Confidence } from '../../record.ts'
import { sellabilityHead } from './sellabilityText.ts'
import { label } from '../../rules/label.ts'
import type { Agreement, Evaluation, Priced, Route, Support, Unpriced } from '../evaluation.ts'

export function compactOf(evaluation: Evaluation, policyVersion: string): CompactState {
  return evaluation.kind === 'PRICED'
    ? pricedText(evaluation, policyVersion)
    : unpricedText(evaluation, policyVersion)
}

function pricedText(evaluation: Priced, policyVersion: string): CompactPriced {
  const { selected, support, stable } = evaluation
  const price = decimal.toText(evaluation.price)
  return {
    state: 'PRICED',
    price_usd: price,
    confidence: confidenceText(evaluation),
    support: support === null ? null : supportText(support, selected, price),
    selected:
      selected === null
        ? null
        : {
            route_id: selected.id,
            pool_ids: selected.edges.map(edge => edge.pool.id),
            weight_microusd: selected.weight.toString(),
          },
    stable: {
      token_address: stable.token,
      usd: decimal.toText(ratio.reduced(stable.usd)),
      status: stable.status,
    },
    sellability: sellabilityHead(evaluation.sellability),
    evaluated_at_ms: evaluation.atMs,
    as_of: asOfText(evaluation.asOf),
    expires_at_ms: evaluation.expiresAtMs,
    policy_version: policyVersion,
  }
}

const unpricedText = (evaluation: Unpriced, policyVersion: string): CompactUnpriced => ({
  state: 'UNPRICED',
  reason: evaluation.reason,
  evaluated_at_ms: evaluation.atMs,
  as_of: asOfText(evaluation.asOf),
  policy_version: policyVersion,
})

function supportText(
  support: Support,
  selected: Route | null,
  price: decimal.ExactText,
): NonNullable<CompactPriced['support']> {
  // The envelope of a single route is its price, so avoid reducing and printing the same number three times.
  const text = (value: Fraction) => (value === selected?.price ? price : decimal.toText(ratio.reduced(value)))
  return {
    low: text(support.low),
    high: text(support.high),
    accepted: support.accepted,
    rejected: support.rejected,
    retained_weight_bps: support.retainedBps,
    tau_bps: support.tauBps.toString(),
    mad_bps: bpsText(support.madBps),
  }
}

export function confidenceText(evaluation: Priced): Confidence {
  const { components } = evaluation
  return {
    score: evaluation.score,
    label: label(evaluation.score),
    components:
      'path_agreement' in components
        ? { ...components, path_agreement: pathText(components.path_agreement) }
        : components,
    caps: evaluation.caps,
  }
}

const pathText = (agreement: Agreement) => ({
  ...agreementText(agreement),
  source_score: agreement.bySources,
})

export const agreementText = (agreement: Agreement) => ({
  score: agreement.score,
  sources: agreement.sources,
  deployments: agreement.deployments,
  spread_bps: bpsText(agreement.spreadBps),
  retained_weight_bps: agreement.retainedBps,
})

/** A deviation in basis points; unlike a price it may be 0. */
export const bpsText = (deviation: Fraction): string => (deviation.num === 0n ? '0' : display(deviation))

export const asOfText = (block: BlockRef): AsOf => ({
  block_number: block.number,
  block_hash: block.hash,
  block_time_ms: block.timeMs,
})
