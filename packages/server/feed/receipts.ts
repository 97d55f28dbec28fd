/**
 * The logs of a block with the proof that they are all there. A block whose receipts do not give the root in
 * its header, or whose logs are not its own and counted from 0 without a gap, is refused and the endpoint
 * at fault.
 */
import type { Hex } from '../ops/config.ts'
import { decodeAnswer } from './answer.ts'
import { bloomOf } from './bloom.ts'
import type { Endpoint } from './endpoint.ts'
import type { VerifiedBlock } from './feed.ts'
import { FeedError, isFeedError } from './feedError.ts'
import { fetchKnown, type Header, refused, unknown } from './header.ts'
import { isRootOwn, ownLogs, proveReceipts } from './receiptsProof.ts'

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
  const logs = decodeAnswer(endpoint.name, 'logs', () => ownLogs(header, answer.items))
  if (isRootOwn(header, endpoint.capabilities) && bloomOf(logs) !== header.logsBloom)
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
    header.transactions.map(hash => endpoint.request('eth_getTransactionReceipt', [hash], signal)),
  )
}

function verifyReceipts(
  endpoint: Endpoint,
  header: Header,
  items: readonly unknown[],
): Pick<VerifiedBlock, 'proof' | 'logs'> {
  const prove = () => proveReceipts(header, items, endpoint.capabilities)
  return decodeAnswer(endpoint.name, 'receipts', prove)
}
