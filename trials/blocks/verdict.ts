/** The verdict on a captured block, by the functions that the service itself uses. */
import { FieldError, toCount, toHash } from '../../packages/server/feed/answers/answer.ts'
import { scanAnswer } from '../../packages/server/feed/answers/answerScanner.ts'
import { digestOf } from '../../packages/server/feed/proof/blockDigest.ts'
import { type ReceiptEntry, toReceiptEntry } from '../../packages/server/feed/answers/entry.ts'
import { decodeHeader } from '../../packages/server/feed/proof/header.ts'
import { type CommittingHeader, proveReceipts } from '../../packages/server/feed/proof/receiptsProof.ts'
import { stateSyncHash } from '../../packages/server/feed/proof/stateSync.ts'
import type { ProofRules } from '../../packages/server/config/config.ts'
import type { Hex } from '../../packages/server/ops/hex.ts'
import type { CapturedBlock, Fields } from './readBlocks.ts'

export type Items = readonly (Fields | ReceiptEntry)[]

/**
 * `receipts`: header and receipts are proven. `header`: the header is proven and there are no receipts. `root`: the header is
 * incomplete and the receipts give its root. `none`: the block passes unproven.
 */
export type Verdict =
  | {
      readonly kind: 'passed'
      readonly proof: 'receipts' | 'header' | 'root' | 'none'
      readonly digest: string
    }
  | { readonly kind: 'refused'; readonly reason: string }

/** `op_stack` accepts all that `standard` does. */
const RULES: ProofRules = { header: 'standard', receipts: 'op_stack' }

export function verdictOn(header: Fields | null, items: Items | null): Verdict {
  try {
    if (header === null) return verdictOnReceipt(items)
    return isWhole(header) ? verdictOnBlock(header, items) : verdictOnRoot(header, items)
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    return { kind: 'refused', reason: error.message }
  }
}

/** Whether the header has all fields that the service needs. */
export const isWhole = (header: Fields): boolean => 'logsBloom' in header && 'transactionsRoot' in header

/** Receipts as the service reads them: from the bytes of the answer where the scanner understands them. */
export function asAnswered({ receipts }: CapturedBlock): Items | null {
  const answer = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: receipts }))
  return (scanAnswer(answer)?.result as readonly ReceiptEntry[] | undefined) ?? receipts
}

/** Decoded once, so that a tampered copy decodes only what was changed. */
export const decoded = ({ receipts }: CapturedBlock): Items | null => receipts?.map(toReceiptEntry) ?? null

function verdictOnBlock(fields: Fields, items: Items | null): Verdict {
  const header = decodeHeader({ ...fields, transactions: hashesIn(fields) ?? [] }, RULES)
  const { number, hash, parentHash, timeMs, receiptsRoot, logsBloom, isOwnHash } = header
  if (items === null) {
    const digest = JSON.stringify([number, hash, parentHash, timeMs, receiptsRoot, logsBloom])
    return { kind: 'passed', proof: isOwnHash ? 'header' : 'none', digest }
  }
  const { proof, logs } = proveReceipts({ ...header, transactions: hashesIn(fields) }, items, RULES)
  const digest = digestOf({ number, hash, parentHash, timeMs, proof: 'none', logs })
  return { kind: 'passed', proof: proof === 'receipts' ? 'receipts' : 'none', digest }
}

/** An incomplete header is trusted; only its receipts root is checked. */
function verdictOnRoot(fields: Fields, items: Items | null): Verdict {
  const header: CommittingHeader = {
    number: toCount(fields, 'number'),
    hash: toHash(fields, 'hash'),
    receiptsRoot: toHash(fields, 'receiptsRoot'),
    transactions: hashesIn(fields),
    isOwnHash: true,
    settledHeight: 'settledHeight' in fields ? toCount(fields, 'settledHeight') : null,
  }
  const { proof, logs } = proveReceipts(header, items ?? [], RULES)
  const { number, hash } = header
  const digest = digestOf({ number, hash, parentHash: hash, timeMs: 0, proof: 'none', logs })
  return { kind: 'passed', proof: proof === 'receipts' ? 'root' : 'none', digest }
}

/** Receipts without a header prove nothing; the digest says which of them are state syncs. */
function verdictOnReceipt(items: Items | null): Verdict {
  const receipts = (items ?? []).map(toReceiptEntry)
  const isSync = ({ blockNumber, blockHash, transactionHash }: ReceiptEntry): boolean =>
    stateSyncHash({ number: blockNumber, hash: blockHash }) === transactionHash
  return { kind: 'passed', proof: 'none', digest: JSON.stringify(receipts.map(isSync)) }
}

/** Captures may hold whole transactions; the service asks for hashes. */
function hashesIn(fields: Fields): readonly Hex[] | null {
  const transactions = fields['transactions']
  if (!Array.isArray(transactions)) return null
  return transactions.map((each: string | Fields) => (typeof each === 'string' ? each : each['hash']) as Hex)
}
