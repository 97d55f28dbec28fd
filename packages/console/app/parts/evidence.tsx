/** The sale a ratio comes from: its input and output, its block, and its transaction. */
import type { Evidence } from '@assay/sdk'
import { amount, count, dateTime, shortHash, words } from '../format.ts'
import { Copyable } from './copy.tsx'
import { Facts } from './facts.tsx'

type Side = { readonly symbol: string; readonly decimals: number | null | undefined }
type Props = { readonly evidence: Evidence; readonly from: Side; readonly to: Side }

export function EvidenceFacts({ evidence, from, to }: Props) {
  const { transaction_hash, log_index } = evidence
  return (
    <Facts
      facts={[
        ['Kind', words(evidence.kind)],
        ['In', <Units key="in" units={evidence.amount_in} side={from} />],
        ['Out', <Units key="out" units={evidence.amount_out} side={to} />],
        [
          'Block',
          <span key="block">
            {count(evidence.block_number)}{' '}
            <Copyable text={evidence.block_hash} shown={shortHash(evidence.block_hash)} what="block hash" />
          </span>,
        ],
        [
          'Transaction',
          transaction_hash === null ? (
            'none: simulated on the state at the end of the block'
          ) : (
            <span key="transaction">
              <Copyable text={transaction_hash} shown={shortHash(transaction_hash)} what="transaction hash" />
              {log_index !== null && <span class="muted"> log {log_index}</span>}
            </span>
          ),
        ],
        ['Seen', dateTime(evidence.observed_at_ms)],
        [
          'Finality',
          <span key="finality" class={`tag ${evidence.finality}`}>
            {evidence.finality}
          </span>,
        ],
      ]}
    />
  )
}

const Units = ({ units, side }: { readonly units: string; readonly side: Side }) => (
  <span class="number" title={`${units} atomic units`}>
    {amount(units, side.decimals)} {side.symbol}
  </span>
)
