/** What every hop contains, as JSON text written by hand: evidence, depth, agreement and caps. */
import type { Cap } from '../../rules/reasons.ts'
import type { Agreement, Edge } from '../evaluation.ts'
import { agreementText } from './compact.ts'
import { depthText, evidenceText } from './poolText.ts'

export function evidenceJson(edge: Edge): string {
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
export const capsJson = (caps: readonly Cap[]): string =>
  caps.map(({ code, cap }) => `{"code":"${code}","cap":${cap}}`).join()

/** The members of an object as JSON text, without the braces. */
export const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1)

/** With a comma after the last. */
export const members = (value: object): string => {
  const text = membersOf(value)
  return text === '' ? '' : `${text},`
}

export function depthMembers(edge: Edge): string {
  const text = depthText(edge)
  if (text.depth === null) return members(text)
  const { depth } = text
  return (
    `"depth":{"up_microusd":"${depth.up_microusd}","down_microusd":"${depth.down_microusd}",` +
    `"current_microusd":"${depth.current_microusd}","ewma_microusd":"${depth.ewma_microusd}",` +
    `"effective_microusd":"${depth.effective_microusd}"},`
  )
}

export function agreementMembers(agreement: Agreement): string {
  const { score, sources, deployments, spread_bps, retained_weight_bps } = agreementText(agreement)
  return (
    `"score":${score},"sources":${sources},"deployments":${deployments},` +
    `"spread_bps":"${spread_bps}","retained_weight_bps":${retained_weight_bps}`
  )
}

export const quoted = (value: bigint | string | null): string => (value === null ? 'null' : `"${value}"`)
