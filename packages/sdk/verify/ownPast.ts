/** The price without fees against the past of the token's own pools, and the resulting cap. */
import { count, devBps, type Fraction, jumpCap, ms, PAST_MS } from '@assay/engine/rules'
import { bpsText } from './hopScore.ts'
import { at, type Reading } from './reading.ts'
import type { Live } from './routes.ts'

/** Null without a cap, and when the quote is older than the rule. A feed that confirms the price removes the cap. */
export function checkPast(
  { findings, quote, path }: Reading,
  chosen: Live,
  marginalUsd: () => Fraction,
  isConfirmed: boolean,
): { readonly code: string; readonly cap: number } | null {
  const past = quote.own_past
  if (past === null || past === undefined) return null
  const own = at(path, 'own_past')
  const coveredMs = findings.integer(`${own}.covered_ms`, past.covered_ms)
  findings.holds(`${own}.covered_ms`, coveredMs, coveredMs <= PAST_MS, `at most ${PAST_MS}`)
  const marginal = marginalUsd()
  findings.exact(`${own}.marginal_usd`, past.marginal_usd, marginal, [
    ...chosen.hops.map((_, index) => `${chosen.path}.hops[${count(index)}].marginal`),
    `${chosen.path}.stable.usd`,
  ])
  if (past.reference_usd === null) {
    findings.same(`${own}.covered_ms`, coveredMs, 0, [`${own}.reference_usd`])
    findings.same(`${own}.deviation_bps`, past.deviation_bps, null, [`${own}.reference_usd`])
    return null
  }
  const reference = findings.value(`${own}.reference_usd`, past.reference_usd)
  findings.same(`${own}.deviation_bps`, past.deviation_bps, bpsText(devBps(marginal, reference)), [
    `${own}.marginal_usd`,
    `${own}.reference_usd`,
  ])
  return isConfirmed ? null : jumpCap(marginal, { value: reference, coveredMs: ms(coveredMs) })
}
