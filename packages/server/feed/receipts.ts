/**
 * The logs of a block with the proof that they are all there. A block whose receipts do not give the root in
 * its header, or whose logs are not its own and counted from 0 without a gap, is refused and the endpoint
 * at fault.
 */
import type { Hex } from '../ops/config.ts'
import {
  decodeAnswer,
  type Fields,
  FieldError,
  hexOf,
  toBytes,
  toCount,
  toFields,
  toHash,
  toHex,
  toList,
  toQuantity,
} from './answer.ts'
import { bloomOf } from './bloom.ts'
import type { Endpoint } from './endpoint.ts'
import type { RawLog, VerifiedBlock } from './feed.ts'
import { FeedError, isFeedError } from './feedError.ts'
import { fetchKnown, type Header, refused, unknown } from './header.ts'
import { type Receipt, receiptsRoot } from './receiptsRoot.ts'

/**
 * On 43114 the bloom of a header covers settled ancestors since 2026-09-22, not the block itself (chain-facts,
 * trap 8), and its receipts root with it. There a difference proves nothing: the block passes, without a proof.
 */
const COVERS_ANCESTORS: ReadonlySet<number> = new Set([43_114])

/** EIP-2718 ends below 0x80. */
const MAX_TYPE = 0x7f

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
  chainId: number,
  header: Header,
  answer: LogAnswer,
): Promise<Pick<VerifiedBlock, 'proof' | 'logs'>> {
  const isOwnRoot = !COVERS_ANCESTORS.has(chainId)
  if (answer.kind === 'logs') {
    const logs = decodeAnswer(endpoint.name, 'logs', () =>
      answer.items.map(item => toLog(toFields(item), header)),
    )
    checkCount(endpoint, header, logs)
    if (isOwnRoot && bloomOf(logs) !== header.logsBloom)
      throw refused(endpoint, `the logs of block ${header.number} ${header.hash} do not give its bloom`)
    return { proof: 'none', logs }
  }
  const receipts = decodeAnswer(endpoint.name, 'receipts', () =>
    answer.items.map((item, index) => toReceipt(toFields(item), index, header)),
  )
  if (receipts.length !== header.transactions.length)
    throw refused(
      endpoint,
      `block ${header.number} has ${header.transactions.length} transactions and ${receipts.length} receipts`,
    )
  const logs = receipts.flatMap(receipt => receipt.logs)
  checkCount(endpoint, header, logs)
  const root = receiptsRoot(receipts)
  if (root === header.receiptsRoot) return { proof: 'receipts', logs }
  if (!isOwnRoot) return { proof: 'none', logs }
  throw refused(
    endpoint,
    `the receipts of block ${header.number} ${header.hash} give the root ${root}, its header has ${header.receiptsRoot}`,
  )
}

function checkCount(endpoint: Endpoint, header: Header, logs: readonly RawLog[]): void {
  const wrong = logs.findIndex(({ logIndex }, index) => logIndex !== index)
  if (wrong === -1) return
  throw refused(
    endpoint,
    `log ${wrong} of block ${header.number} ${header.hash} carries the index ${logs[wrong]?.logIndex}`,
  )
}

type OwnReceipt = Receipt & { readonly logs: readonly RawLog[] }

function toReceipt(fields: Fields, index: number, header: Header): OwnReceipt {
  const transactionHash = toHash(fields, 'transactionHash')
  if (toCount(fields, 'transactionIndex') !== index || transactionHash !== header.transactions[index])
    throw new FieldError(`receipt ${index} belongs to another transaction`)
  checkOwner(fields, header)
  const type = fields['type'] === undefined ? 0 : toCount(fields, 'type')
  if (type > MAX_TYPE) throw new FieldError('type is not a transaction type')
  return {
    type,
    outcome: toOutcome(fields),
    cumulativeGasUsed: toQuantity(fields, 'cumulativeGasUsed'),
    logsBloom: toHex(fields, 'logsBloom', 256),
    logs: toList(fields, 'logs').map(item => {
      const log = toLog(toFields(item), header)
      if (log.transactionHash === transactionHash) return log
      throw new FieldError(`log ${log.logIndex} belongs to another transaction`)
    }),
  }
}

function toOutcome(fields: Fields): Receipt['outcome'] {
  if (fields['status'] === undefined || fields['status'] === null)
    return { stateRoot: toHash(fields, 'root') }
  const status = toCount(fields, 'status')
  if (status > 1) throw new FieldError('status is neither 0 nor 1')
  return { status }
}

function toLog(fields: Fields, header: Header): RawLog {
  checkOwner(fields, header)
  if (fields['removed'] === true) throw new FieldError('a log is marked as removed')
  return {
    address: toHex(fields, 'address', 20),
    topics: toList(fields, 'topics').map(topic => hexOf(topic, 'topics', 32)),
    data: toBytes(fields, 'data'),
    logIndex: toCount(fields, 'logIndex'),
    transactionHash: toHash(fields, 'transactionHash'),
  }
}

function checkOwner(fields: Fields, header: Header): void {
  if (toHash(fields, 'blockHash') !== header.hash || toCount(fields, 'blockNumber') !== header.number)
    throw new FieldError(`something of another block among that of ${header.number} ${header.hash}`)
}
