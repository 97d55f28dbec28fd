/**
 * The result of a simulated sale in words: the verdict, and each reason of docs/SELLABILITY.md as the end of a
 * sentence.
 */
import type { Sellability } from '@assay/sdk'

export const SELL_REASON_WORDS: Readonly<Record<string, string>> = {
  NOT_YET: 'it has not been simulated yet',
  NO_PATH: 'no verified pools lead from wrapped native currency to the pool it trades in',
  NO_OVERRIDES: 'no endpoint of the chain can simulate',
  OUT_OF_GAS: 'the simulation ran out of gas',
  BUY_REVERTED: 'the purchase reverted; trading may be paused',
  SELL_REVERTED: 'the sale reverted',
  SELL_RESTRICTED: 'the simulated sale reverted, although sales by others were seen within a day',
  SIZE_LIMITED: 'one of the two sizes could be sold, the other could not',
  TRANSFER_REVERTED: 'sending it to another address reverted',
}

/** The step that failed, by its reason; a reason without a step is not listed. */
const STEPS: Readonly<Record<string, string>> = {
  BUY_REVERTED: 'Purchase',
  SELL_REVERTED: 'Sale',
  SELL_RESTRICTED: 'Sale',
  SIZE_LIMITED: 'Sale of one size',
  TRANSFER_REVERTED: 'Transfer',
}

export const failedStep = ({ reason }: Sellability): string | null =>
  reason === null ? null : (STEPS[reason] ?? null)

/** A complete sentence: what this means for a holder of the token. */
export function sellVerdict({ status, reason }: Sellability): string {
  const why = reason === null ? null : (SELL_REASON_WORDS[reason] ?? reason)
  if (status === 'UNKNOWN') return `Not known, because ${why ?? 'no reason was given'}.`
  if (status === 'UNSELLABLE')
    return `It could not be sold at either of two sizes, not even in a later block: ${why ?? 'no reason was given'}.`
  const found =
    status === 'TAXED' ? 'It could be bought and sold, at a tax' : 'It was bought and sold without a tax'
  return why === null ? `${found}.` : `${found}, but ${why}.`
}

/** Basis points that do not arrive; an unmeasured tax is not shown as 0. */
export const taxText = (bps: number | null): string =>
  bps === null ? 'not measured' : bps === 0 ? 'none' : `${(bps / 100).toString()}%`

export const METHOD_WORDS: Readonly<Record<string, string>> = {
  SIMULATE: 'in this block and in a later one',
  CALL_OVERRIDE: 'within one block',
  TRANSFER_LOGS: "from the Transfer logs of others' swaps",
}
