/**
 * The logs of a block with the proof that they are all there. A block whose receipts do not give the root in
 * its header, or whose logs are not its own and counted from 0 without a gap, is refused and the endpoint
 * at fault.
 */
import { decodeAnswer, FieldError } from './answer.ts'
import { bloomOf } from './bloom.ts'
import type { Endpoint } from './endpoint.ts'
import { type LogEntry, type ReceiptEntry, toLogEntry, toReceiptEntry } from './entry.ts'
import type { VerifiedBlock } from './feed.ts'
import { type Header, refused } from './header.ts'
import type { LogAnswer } from './logLadder.ts'
import { receiptsRoot } from './receiptsRoot.ts'

/** Throws BLOCK_REFUSED unless the answer is this block's, and whole as far as it can be told. */
export function verifyLogs(
  endpoint: Endpoint,
  header: Header,
  answer: LogAnswer,
): Pick<VerifiedBlock, 'proof' | 'logs'> {
  if (answer.kind === 'receipts') return verifyReceipts(endpoint, header, answer.items)
  const logs = decodeAnswer(endpoint.name, 'logs', () => decodeLogs(answer.items, header))
  checkCount(endpoint, header, logs)
  if (endpoint.capabilities.isRootOwn && bloomOf(logs) !== header.logsBloom)
    throw refused(endpoint, `the logs of block ${header.number} ${header.hash} do not give its bloom`)
  return { proof: 'none', logs }
}

function verifyReceipts(
  endpoint: Endpoint,
  header: Header,
  items: readonly unknown[],
): Pick<VerifiedBlock, 'proof' | 'logs'> {
  const receipts = decodeAnswer(endpoint.name, 'receipts', () =>
    items.map((item, index) => ownReceipt(item, index, header)),
  )
  if (receipts.length !== header.transactions.length)
    throw refused(
      endpoint,
      `block ${header.number} has ${header.transactions.length} transactions and ${receipts.length} receipts`,
    )
  const logs = receipts.flatMap(receipt => receipt.logs)
  checkCount(endpoint, header, logs)
  const root = receiptsRoot(receipts)
  // A root proves as much as the header it stands in.
  if (root === header.receiptsRoot) return { proof: header.isOwnHash ? 'receipts' : 'none', logs }
  if (!endpoint.capabilities.isRootOwn) return { proof: 'none', logs }
  throw refused(
    endpoint,
    `the receipts of block ${header.number} ${header.hash} give the root ${root}, its header has ${header.receiptsRoot}`,
  )
}

function checkCount(endpoint: Endpoint, header: Header, logs: readonly LogEntry[]): void {
  const wrong = logs.findIndex(({ logIndex }, index) => logIndex !== index)
  if (wrong === -1) return
  throw refused(
    endpoint,
    `log ${wrong} of block ${header.number} ${header.hash} carries the index ${logs[wrong]?.logIndex}`,
  )
}

/** A receipt and its logs, each checked to be the block's own; throws a FieldError. */
function ownReceipt(item: unknown, index: number, header: Owner): ReceiptEntry {
  const receipt = toReceiptEntry(item)
  const { transactionHash, logs } = receipt
  if (receipt.transactionIndex !== index || transactionHash !== header.transactions[index])
    throw new FieldError(`receipt ${index} belongs to another transaction`)
  checkOwner(receipt, header)
  for (const log of logs) {
    checkOwner(log, header)
    if (log.transactionHash !== transactionHash || log.transactionIndex !== index)
      throw new FieldError(`log ${log.logIndex} belongs to another transaction`)
  }
  return receipt
}

/** The logs of a block, each checked to be its own; throws a FieldError. */
export function decodeLogs(items: readonly unknown[], header: Owner): readonly LogEntry[] {
  return items.map(item => {
    const log = toLogEntry(item)
    checkOwner(log, header)
    if (log.transactionHash !== header.transactions[log.transactionIndex])
      throw new FieldError('a log belongs to another transaction')
    return log
  })
}

type Owner = Pick<Header, 'number' | 'hash' | 'transactions'>

function checkOwner({ blockHash, blockNumber }: LogEntry | ReceiptEntry, { hash, number }: Owner): void {
  if (blockHash !== hash || blockNumber !== number)
    throw new FieldError(`something of another block among that of ${number} ${hash}`)
}
