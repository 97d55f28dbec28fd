/**
 * The receipts root of a block, recomputed from its receipts. Equal roots prove that no log is missing, added
 * or changed.
 *
 * Encoding: EIP-2718. A legacy receipt is the RLP list, any other its type byte and then the same list:
 * (status or, before Byzantium, the state root; cumulative gas; bloom; logs).
 */
import type { Hex } from '../ops/config.ts'
import type { ReceiptEntry } from './entry.ts'
import type { RawLog } from './feed.ts'
import { orderedTrieRoot } from './orderedTrie.ts'
import { encodeRlp, integer } from './rlp.ts'

export type Receipt = Pick<ReceiptEntry, 'type' | 'outcome' | 'cumulativeGasUsed' | 'logsBloom'> & {
  readonly logs: readonly Pick<RawLog, 'address' | 'topics' | 'data'>[]
}

export const receiptsRoot = (receipts: readonly Receipt[]): Hex =>
  orderedTrieRoot(receipts.map(encodeReceipt))

export function encodeReceipt(receipt: Receipt): Uint8Array {
  const { outcome } = receipt
  const list = encodeRlp([
    'status' in outcome ? integer(`0x${outcome.status}`) : outcome.stateRoot,
    integer(receipt.cumulativeGasUsed),
    receipt.logsBloom,
    receipt.logs.map(({ address, topics, data }) => [address, topics, data]),
  ])
  return receipt.type === 0 ? list : Buffer.concat([Uint8Array.of(receipt.type), list])
}
