/**
 * The logs of a block with the proof that they are all there. A block whose receipts do not give the root in
 * its header, or whose logs are not its own and counted from 0 without a gap, is refused and the endpoint
 * at fault.
 */
import assert from 'node:assert/strict'
import type { Hex } from '../ops/config.ts'
import { decodeAnswer, FieldError } from './answer.ts'
import { bloomOf } from './bloom.ts'
import type { Endpoint } from './endpoint.ts'
import { type LogEntry, type ReceiptEntry, toLogEntry, toReceiptEntry } from './entry.ts'
import type { VerifiedBlock } from './feed.ts'
import { FeedError, isFeedError } from './feedError.ts'
import { fetchKnown, type Header, refused, unknown } from './header.ts'
import { receiptsRoot } from './receiptsRoot.ts'

/** Where providers cut a list of logs without a word: a list of just this many is not believed. */
const ROUND_CAPS: ReadonlySet<number> = new Set([100, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000])

export type LogAnswer = { readonly kind: 'receipts' | 'logs'; readonly items: readonly unknown[] }

/** Receipts; bare logs from an endpoint that has no method for receipts. */
export async function fetchLogs(endpoint: Endpoint, hash: Hex, signal: AbortSignal): Promise<LogAnswer> {
  if (!endpoint.lacks('eth_getBlockReceipts'))
    try {
      return {
        kind: 'receipts',
        items: await fetchList(endpoint, 'eth_getBlockReceipts', hash, hash, signal),
      }
    } catch (error) {
      if (!isFeedError(error, 'METHOD_MISSING')) throw error
    }
  return { kind: 'logs', items: await fetchList(endpoint, 'eth_getLogs', { blockHash: hash }, hash, signal) }
}

async function fetchList(
  endpoint: Endpoint,
  method: string,
  param: unknown,
  hash: Hex,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const answer = await fetchKnown(() => endpoint.request(method, [param], signal), signal)
  if (answer === null) throw unknown(endpoint, hash)
  if (Array.isArray(answer)) return answer
  throw new FeedError('ANSWER_MALFORMED', endpoint.name, `${method} did not answer with a list`)
}

/** Throws BLOCK_REFUSED unless the answer is this block's, whole. */
export async function verifyLogs(
  endpoint: Endpoint,
  header: Header,
  answer: LogAnswer,
  signal: AbortSignal,
): Promise<Pick<VerifiedBlock, 'proof' | 'logs'>> {
  if (answer.kind === 'receipts') return verifyReceipts(endpoint, header, answer.items)
  const logs = decodeAnswer(endpoint.name, 'logs', () => decodeLogs(answer.items, header))
  checkCount(endpoint, header, logs)
  if (endpoint.capabilities.isRootOwn && bloomOf(logs) !== header.logsBloom)
    throw refused(endpoint, `the logs of block ${header.number} ${header.hash} do not give its bloom`)
  if (!ROUND_CAPS.has(logs.length)) return { proof: 'none', logs }
  const whole = verifyReceipts(endpoint, header, await fetchReceipts(endpoint, header, signal))
  if (whole.logs.length === logs.length) return whole
  throw refused(
    endpoint,
    `eth_getLogs of block ${header.number} ends at ${logs.length}, its receipts have ${whole.logs.length} logs`,
  )
}

/** One by one, from an endpoint that cannot give them by the block. */
async function fetchReceipts(
  endpoint: Endpoint,
  header: Header,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  return Promise.all(
    transactionsOf(header).map(hash => endpoint.request('eth_getTransactionReceipt', [hash], signal)),
  )
}

function verifyReceipts(
  endpoint: Endpoint,
  header: Header,
  items: readonly unknown[],
): Pick<VerifiedBlock, 'proof' | 'logs'> {
  const receipts = decodeAnswer(endpoint.name, 'receipts', () =>
    items.map((item, index) => ownReceipt(item, index, header)),
  )
  const { transactions } = header
  if (transactions !== null && receipts.length !== transactions.length)
    throw refused(
      endpoint,
      `block ${header.number} has ${transactions.length} transactions and ${receipts.length} receipts`,
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
  const isListed = header.transactions === null || transactionHash === header.transactions[index]
  if (receipt.transactionIndex !== index || !isListed)
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
    if (log.transactionHash !== transactionsOf(header)[log.transactionIndex])
      throw new FieldError('a log belongs to another transaction')
    return log
  })
}

type Owner = Pick<Header, 'number' | 'hash' | 'transactions'>

/** Receipts are proven by their root; whatever else is read of a block needs the list of its transactions. */
function transactionsOf({ number, hash, transactions }: Owner): readonly Hex[] {
  assert(transactions !== null, `the header of block ${number} ${hash} came without its transactions`)
  return transactions
}

function checkOwner({ blockHash, blockNumber }: LogEntry | ReceiptEntry, { hash, number }: Owner): void {
  if (blockHash !== hash || blockNumber !== number)
    throw new FieldError(`something of another block among that of ${number} ${hash}`)
}
