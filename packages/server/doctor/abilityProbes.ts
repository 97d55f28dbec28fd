/**
 * Checks how the service would use an endpoint: the same code probes it in the same order, so the service and `doctor`
 * cannot disagree. The endpoint is an `Endpoint`, and its recorded lacks are those the service would record.
 */
import { requestAll } from '../feed/transport/batches.ts'
import type { Endpoint } from '../feed/endpoints/endpoint.ts'
import { isFeedError } from '../feed/feedError.ts'
import { fetchHeaderByHash, fetchHeaderByNumber, type ListedHeader } from '../feed/proof/header.ts'
import { fetchLogs, type LogAnswer } from '../feed/proof/logFallback.ts'
import { verifyLogs } from '../feed/proof/receipts.ts'
import { StateReader } from '../feed/endpoints/stateReader.ts'
import type { Hex } from '../ops/hex.ts'
import { type Check, fail, ok, sentenceOf, warn } from './check.ts'
import { QUIET } from './probes.ts'

/** How far back to look for a block with transactions: one without says little about receipts. */
const BLOCKS_BACK = 8

export type LogSource = LogAnswer['source']
export type ReceiptsFinding = {
  readonly check: Check
  readonly source: LogSource | null
  readonly transactions: number
}

/** Tries the fallbacks of `logFallback.ts`, and whether the result proves the block. */
export async function probeReceipts(
  endpoint: Endpoint,
  headHash: Hex,
  signal: AbortSignal,
): Promise<ReceiptsFinding> {
  let transactions = 0
  try {
    const header = await busyBlock(endpoint, headHash, signal)
    transactions = header.transactions.length
    const answer = await fetchLogs(endpoint, header.hash, () => Promise.resolve(header), signal)
    verifyLogs(endpoint, header, answer)
    return { check: receiptsCheck(endpoint, header, answer), source: answer.source, transactions }
  } catch (error) {
    if (!isFeedError(error)) throw error
    const fix =
      error.code === 'BLOCK_REFUSED'
        ? 'its responses do not match the header of the block; use another node'
        : 'neither receipts nor logs of a block: events cannot be read; use another node'
    return { check: fail('receipts', sentenceOf(error), fix), source: null, transactions }
  }
}

function receiptsCheck(endpoint: Endpoint, { number, transactions }: ListedHeader, answer: LogAnswer): Check {
  const refused =
    endpoint.abilities.lackings.find(each => each.startsWith('eth_getBlockReceipts')) ??
    `eth_getBlockReceipts refused for the size of block ${number}`
  switch (answer.source) {
    case 'receipts by block':
      return ok('receipts', `${transactions.length} of block ${number}`)
    case 'receipts by transaction':
      return warn(
        'receipts',
        `one by one: ${refused}`,
        'blocks are proven, at one call a transaction; a node with eth_getBlockReceipts needs one a block',
      )
    case 'logs by block hash':
    case 'logs by block range':
      return warn(
        'receipts',
        `none, ${answer.source}: ${refused}`,
        'blocks cannot be proven complete (health NO_PROOF); use a node with receipts',
      )
  }
}

/** The head, or the newest block before it that has transactions. */
async function busyBlock(endpoint: Endpoint, headHash: Hex, signal: AbortSignal): Promise<ListedHeader> {
  const head = await fetchHeaderByHash(endpoint, headHash, signal)
  const last = Math.max(0, head.number - BLOCKS_BACK)
  for (let { number } = head, header = head; ; header = await fetchHeaderByNumber(endpoint, --number, signal))
    if (header.transactions.length > 0 || number === last) return number === last ? head : header
}

/** Calls at a block hash (EIP-1898), or by number with the hash checked before and after. */
export async function probeState(endpoint: Endpoint, headHash: Hex, signal: AbortSignal): Promise<Check> {
  const fix = 'use a node that answers eth_call at a block hash'
  try {
    const question = { method: 'eth_call', subject: { to: QUIET, data: '0x' }, blockHash: headHash } as const
    await new StateReader(signal).read(endpoint, question, signal)
  } catch (error) {
    if (!isFeedError(error)) throw error
    return fail('state', sentenceOf(error), fix)
  }
  if (endpoint.abilities.has('state by block hash')) return ok('state', 'calls at a block hash')
  const refused = endpoint.abilities.lackings.find(each => each.startsWith('eth_call')) ?? ''
  return warn('state', `by block number: ${refused}`, `every reading takes three more calls; ${fix}`)
}

export async function probeBatches(endpoint: Endpoint, signal: AbortSignal): Promise<Check> {
  if (!endpoint.takesBatches) return ok('batches', 'not needed (WebSocket)')
  const call = { method: 'eth_blockNumber', params: [] }
  try {
    await requestAll(endpoint, [call, call], signal)
  } catch (error) {
    if (!isFeedError(error)) throw error
    return warn('batches', sentenceOf(error), 'its responses to batches cannot be used; use another node')
  }
  if (endpoint.takesBatches) return ok('batches', 'taken')
  const refused = endpoint.abilities.lackings.find(each => each.startsWith('a JSON-RPC batch')) ?? ''
  return ok('batches', `${refused}; one call at a time`)
}
