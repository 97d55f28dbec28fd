/**
 * The receipts root of a block, recomputed from its receipts: the root of a Merkle Patricia trie from the RLP
 * of each index to the consensus encoding of its receipt. Equal roots prove that no log is missing, added
 * or changed.
 *
 * Encoding: EIP-2718. A legacy receipt is the RLP list, any other its type byte and then the same list:
 * (status or, before Byzantium, the state root; cumulative gas; bloom; logs).
 */
import { createMPT } from '@ethereumjs/mpt'
import { bytesToHex, concatBytes, toRlp } from 'viem/utils'
import type { Hex } from '../ops/config.ts'
import type { RawLog } from './feed.ts'

export type Receipt = {
  /** 0 for a legacy transaction. */
  readonly type: number
  readonly outcome: { readonly status: number } | { readonly stateRoot: Hex }
  /** As the node wrote it: it may exceed what a number holds. */
  readonly cumulativeGasUsed: Hex
  readonly logsBloom: Hex
  readonly logs: readonly Pick<RawLog, 'address' | 'topics' | 'data'>[]
}

export async function receiptsRoot(receipts: readonly Receipt[]): Promise<Hex> {
  const trie = await createMPT()
  for (const [index, receipt] of receipts.entries())
    await trie.put(toRlp(integer(`0x${index.toString(16)}`), 'bytes'), encodeReceipt(receipt))
  return bytesToHex(trie.root())
}

function encodeReceipt(receipt: Receipt): Uint8Array {
  const { outcome } = receipt
  const list = toRlp(
    [
      'status' in outcome ? integer(`0x${outcome.status}`) : outcome.stateRoot,
      integer(receipt.cumulativeGasUsed),
      receipt.logsBloom,
      receipt.logs.map(({ address, topics, data }) => [address, topics, data]),
    ],
    'bytes',
  )
  return receipt.type === 0 ? list : concatBytes([Uint8Array.of(receipt.type), list])
}

/** RLP writes integers without leading zeros, and zero as no bytes at all. */
function integer(quantity: Hex): Hex {
  const digits = quantity.slice(2).replace(/^0+/, '')
  return `0x${digits.length % 2 === 0 ? '' : '0'}${digits}`
}
