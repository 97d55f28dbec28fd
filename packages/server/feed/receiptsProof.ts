/**
 * Whether receipts are all of a block's, and its own. Equal roots prove it as far as the header is proven; the receipts a
 * root does not cover, or cannot be recomputed from, prove nothing and are no reason to refuse the block.
 */
import type { Hex, ProofRules } from '../ops/config.ts'
import { FieldError } from './answer.ts'
import { DEPOSIT_TYPE, type LogEntry, type ReceiptEntry, toLogEntry, toReceiptEntry } from './entry.ts'
import type { VerifiedBlock } from './feed.ts'
import type { HeaderProof } from './headerHash.ts'
import { receiptsRoot } from './receiptsRoot.ts'
import { stateSyncHash } from './stateSync.ts'

type Place = { readonly number: number; readonly hash: Hex }
/** `transactions`: the hashes a node lists; null where it was not asked for them, and the root alone counts them. */
type Owner = Place & { readonly transactions: readonly Hex[] | null }

export type CommittingHeader = Owner & HeaderProof & { readonly receiptsRoot: Hex }

/** Of a transaction that 42161 took over from before Nitro: how its receipt is encoded in the root is not known. */
const CLASSIC_TYPE = 0x78

/** Throws a FieldError unless the receipts are this block's, whole. */
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
  // A root proves as much as the header it stands in.
  if (root === header.receiptsRoot) return { proof: header.isOwnHash ? 'receipts' : 'none', logs }
  if (receipts.some(receipt => isEncodingUnknown(receipt, rules))) return { proof: 'none', logs }
  throw new FieldError(
    `block ${header.number} ${header.hash} has the root ${header.receiptsRoot}, its receipts give ${root}${hintFor(header)}`,
  )
}

/**
 * Whether receipts root and bloom of the header are those of its own block. Where they are not, an equal root proves
 * nothing either: a block settles its ancestors with the root of no receipts, and has some.
 */
export const isRootOwn = (
  { settledHeight }: Pick<HeaderProof, 'settledHeight'>,
  { receipts }: Pick<ProofRules, 'receipts'>,
): boolean => receipts !== 'none' && settledHeight === null

/** The logs of a block by themselves, each checked to be its own; throws a FieldError. */
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

/** The receipts a root may cover, one for each transaction, in order; throws a FieldError. */
export function ownReceipts(header: Owner, items: readonly unknown[]): readonly ReceiptEntry[] {
  const listed = items.map(toReceiptEntry)
  const syncHash = stateSyncHash(header)
  let count = listed.length
  for (; count > 0; count--) {
    const { transactionHash } = listed[count - 1] as ReceiptEntry
    // Listed twice: the last of a block, by nodes that add the state sync to a list that has it.
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
    throw new FieldError(`something of another block among that of ${number} ${hash}`)
}

function checkLogIndices({ number, hash }: Place, logs: readonly LogEntry[]): void {
  const wrong = logs.findIndex(({ logIndex }, index) => logIndex !== index)
  if (wrong === -1) return
  throw new FieldError(`log ${wrong} of block ${number} ${hash} carries the index ${logs[wrong]?.logIndex}`)
}

/** Whether a root that differs says nothing, since the node did not tell all that the encoding needs. */
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
    : ' (if no endpoint can be right, the chain needs `proof` in the configuration: run assay doctor)'
