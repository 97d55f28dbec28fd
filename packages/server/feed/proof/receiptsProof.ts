/**
 * Checks that receipts are complete and belong to their block. A recomputed root that equals the one in a proven header is a
 * proof. Receipts that the root does not cover are dropped; a root that cannot be recomputed leaves the block unproven.
 */
import type { ProofRules } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { FieldError } from '../answers/answer.ts'
import {
  DEPOSIT_TYPE,
  type LogEntry,
  type ReceiptEntry,
  toLogEntry,
  toReceiptEntry,
} from '../answers/entry.ts'
import type { VerifiedBlock } from '../feed.ts'
import type { HeaderProof } from './headerHash.ts'
import { receiptsRoot } from './receiptsRoot.ts'
import { stateSyncHash } from './stateSync.ts'

type Place = { readonly number: number; readonly hash: Hex }
/** `transactions`: the hashes a node lists; null when they were not requested, so that only the root proves their number. */
type Owner = Place & { readonly transactions: readonly Hex[] | null }

export type CommittingHeader = Owner & HeaderProof & { readonly receiptsRoot: Hex }

/** A transaction of 42161 from before Nitro. No known encoding of its receipt gives the root. */
const CLASSIC_TYPE = 0x78

/** Throws a FieldError when a receipt is missing, changed or of another block. */
export function proveReceipts(
  header: CommittingHeader,
  items: readonly unknown[],
  rules: Pick<ProofRules, 'receipts'>,
): Pick<VerifiedBlock, 'proof' | 'logs'> {
  const receipts = ownReceipts(header, items)
  const logs = receipts.flatMap(receipt => receipt.logs)
  checkLogIndices(header, logs)
  if (!isRootOwn(header, rules)) return { proof: 'none', logs }
  const root = receiptsRoot(receipts)
  // A root in an unproven header proves nothing.
  if (root === header.receiptsRoot) return { proof: header.isOwnHash ? 'receipts' : 'none', logs }
  if (receipts.some(receipt => isEncodingUnknown(receipt, rules))) return { proof: 'none', logs }
  throw new FieldError(
    `block ${header.number} ${header.hash} has the root ${header.receiptsRoot}, its receipts give ${root}${hintFor(header)}`,
  )
}

/**
 * Whether the receipts root and bloom of the header cover its own block. If they do not, even an equal root proves nothing: an
 * endpoint that hides all receipts matches the empty root of a block that settled empty ancestors.
 */
export const isRootOwn = (
  { settledHeight }: Pick<HeaderProof, 'settledHeight'>,
  { receipts }: Pick<ProofRules, 'receipts'>,
): boolean => receipts !== 'none' && settledHeight === null

/** Bare logs of a block, each checked to belong to it; throws a FieldError. */
export function ownLogs(header: Owner, items: readonly unknown[]): readonly LogEntry[] {
  const transactions = header.transactions
  const syncHash = stateSyncHash(header)
  const logs = items.map(toLogEntry).filter(({ transactionHash }) => transactionHash !== syncHash)
  for (const log of logs) {
    checkPlace(log, header)
    if (transactions !== null && log.transactionHash !== transactions[log.transactionIndex])
      throw new FieldError('a log belongs to another transaction')
  }
  checkLogIndices(header, logs)
  return logs
}

/** The receipts that a root covers, one for each transaction, in order; throws a FieldError. */
export function ownReceipts(header: Owner, items: readonly unknown[]): readonly ReceiptEntry[] {
  const listed = items.map(toReceiptEntry)
  const syncHash = stateSyncHash(header)
  let count = listed.length
  for (; count > 0; count--) {
    const { transactionHash } = listed[count - 1] as ReceiptEntry
    // Some nodes append a state sync to a list that already contains it.
    if (transactionHash !== syncHash && transactionHash !== listed[count - 2]?.transactionHash) break
  }
  const receipts = listed.slice(0, count)
  const transactions = header.transactions?.filter(
    (hash, at, all) => hash !== syncHash && hash !== all[at - 1],
  )
  for (const [index, receipt] of receipts.entries()) checkReceipt(receipt, index, header, transactions)
  if (transactions === undefined || transactions.length === count) return receipts
  throw new FieldError(`block ${header.number} has ${transactions.length} transactions and ${count} receipts`)
}

function checkReceipt(
  receipt: ReceiptEntry,
  index: number,
  header: Place,
  transactions: readonly Hex[] | undefined,
): void {
  const { transactionHash, transactionIndex, logs } = receipt
  if (transactionIndex !== index || (transactions !== undefined && transactionHash !== transactions[index]))
    throw new FieldError(`receipt ${index} belongs to another transaction`)
  checkPlace(receipt, header)
  for (const log of logs) {
    checkPlace(log, header)
    if (log.transactionHash !== transactionHash || log.transactionIndex !== index)
      throw new FieldError(`log ${log.logIndex} belongs to another transaction`)
  }
}

function checkPlace({ blockHash, blockNumber }: LogEntry | ReceiptEntry, { hash, number }: Place): void {
  if (blockHash !== hash || blockNumber !== number)
    throw new FieldError(`the response for ${number} ${hash} contains data of another block`)
}

function checkLogIndices({ number, hash }: Place, logs: readonly LogEntry[]): void {
  const wrong = logs.findIndex(({ logIndex }, index) => logIndex !== index)
  if (wrong === -1) return
  throw new FieldError(`log ${wrong} of block ${number} ${hash} carries the index ${logs[wrong]?.logIndex}`)
}

/** Whether the node left out a value that the encoding needs, so that a different root is no evidence of a fault. */
function isEncodingUnknown(
  { type, deposit }: ReceiptEntry,
  { receipts }: Pick<ProofRules, 'receipts'>,
): boolean {
  if (type === null || type === CLASSIC_TYPE) return true
  return receipts === 'op_stack' && type === DEPOSIT_TYPE && deposit === null
}

const hintFor = ({ isOwnHash }: HeaderProof): string =>
  isOwnHash
    ? ''
    : ' (if this happens on every endpoint, set `proof` for this chain: `assay doctor` prints the line)'
