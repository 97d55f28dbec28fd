/** Whether a token can be sold, in the wire format: short for the compact state, complete for the quote. */
import { idOf } from '../../chain/block.ts'
import type { ProbedPool } from '../../sellabilityReading.ts'
import type { CompactPriced } from '../../record.ts'
import type { Evaluation } from '../evaluation.ts'

type Known = Evaluation['sellability']

export const sellabilityHead = (known: Known): NonNullable<CompactPriced['sellability']> | null =>
  known === null
    ? null
    : {
        status: known.status,
        buy_tax_bps: known.buyTaxBps,
        transfer_tax_bps: known.transferTaxBps,
        sell_tax_bps: known.sellTaxBps,
        reason: known.reason,
      }

export function sellabilityText(known: Known): ReturnType<typeof sellabilityHead> {
  const head = sellabilityHead(known)
  if (head === null || known === null) return null
  const read = 'block' in known ? known : null
  const details = {
    pool_id: read === null || read.pool === null ? null : idOf(read.pool),
    block_number: read?.block.number ?? null,
    block_hash: read?.block.hash ?? null,
    checked_at_ms: read?.checkedAtMs ?? null,
    method: read?.method ?? null,
    path: (read?.path ?? []).map(probedText),
    sizes: (read?.sizes ?? []).map(String),
    revert: read?.revert ?? null,
  }
  return { ...head, ...details }
}

const NATIVE = `0x${'0'.repeat(40)}`

function probedText({ pool, family, feePpm, key }: ProbedPool) {
  const head = { pool_id: idOf(pool), family, fee_ppm: feePpm }
  if (key === undefined) return head
  const { manager, keyFee, tickSpacing, hooks, currency1, token0, isNative } = key
  return {
    ...head,
    manager_address: manager,
    wrapped_address: isNative ? token0 : null,
    pool_key: {
      currency0: isNative ? NATIVE : token0,
      currency1,
      fee: keyFee,
      tick_spacing: tickSpacing,
      hooks,
    },
  }
}
