/** The cap that follows from the findings of a simulated sale, and whether those findings are consistent. */
import {
  count,
  type Policy,
  type Sellable,
  sellabilityCap,
  type SellabilityStatus,
} from '@assay/engine/rules'
import type { Capped } from './sourceScore.ts'
import { at, type Reading } from './reading.ts'

const STATUSES: readonly SellabilityStatus[] = ['SELLABLE', 'TAXED', 'UNSELLABLE', 'UNKNOWN']

/** Null without a cap: for a stable or routing asset, and for a quote older than the rule. */
export function checkSellability({ findings, quote, path, policy }: Reading): Capped | null {
  const found = quote.sellability
  if (found === null || found === undefined) return null
  const own = at(path, 'sellability')
  if (typeof found !== 'object') return findings.unreadable(own, found, 'what a probe found, or null')
  const status = STATUSES.find(each => each === found.status)
  if (status === undefined) return findings.unreadable(`${own}.status`, found.status, STATUSES.join(', '))
  const tax = (name: 'buy_tax_bps' | 'transfer_tax_bps' | 'sell_tax_bps') => {
    const bps = found[name]
    return bps === null ? null : count(findings.integer(`${own}.${name}`, bps))
  }
  const sellable: Sellable = {
    status,
    buyTaxBps: tax('buy_tax_bps'),
    transferTaxBps: tax('transfer_tax_bps'),
    sellTaxBps: tax('sell_tax_bps'),
    reason: found.reason,
  }
  checkStatus(findings, own, sellable)
  return capOf(sellable, policy)
}

const capOf = (sellable: Sellable, policy: Policy): Capped | null => sellabilityCap(sellable, policy)

/** A token with a tax must not be called free of one, and vice versa; a failed one must give a reason. */
function checkStatus(findings: Reading['findings'], own: string, sellable: Sellable): void {
  const { status, reason } = sellable
  const isTaxed = [sellable.buyTaxBps, sellable.transferTaxBps, sellable.sellTaxBps].some(
    bps => (bps ?? 0) > 0,
  )
  const from = ['buy_tax_bps', 'transfer_tax_bps', 'sell_tax_bps'].map(name => `${own}.${name}`)
  if (status === 'SELLABLE' || status === 'TAXED')
    findings.same(`${own}.status`, status, isTaxed ? 'TAXED' : 'SELLABLE', from)
  else
    findings.holds(`${own}.reason`, reason, reason !== null, `a reason why it is ${status}`, [
      `${own}.status`,
    ])
}
