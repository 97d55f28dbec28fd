/**
 * Fetches the logs of a block from an endpoint that may lack methods: receipts by block, else by transaction, else bare
 * logs by hash, else by number. The first two prove that no log is missing. The service and `doctor` use the same
 * order. A refusal is remembered in the abilities, so a block causes it only once.
 */
import type { Hex } from '../../ops/hex.ts'
import { type Ability, isUnknownBlock } from '../endpoints/abilities.ts'
import { requestAll } from '../transport/batches.ts'
import type { Call } from '../transport/connection.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { fetchKnown, type ListedHeader, unknown } from './header.ts'

type LogSource = Extract<
  Ability,
  'receipts by block' | 'receipts by transaction' | 'logs by block hash' | 'logs by block range'
>

export type LogAnswer = {
  readonly kind: 'receipts' | 'logs'
  readonly source: LogSource
  readonly items: readonly unknown[]
}

/** Failures of one answer that a smaller one may avoid: the answer was truncated, late or not JSON. */
const BROKEN = ['ENDPOINT_TIMEOUT', 'ENDPOINT_UNREACHABLE', 'ANSWER_MALFORMED', 'ANSWER_TOO_LARGE'] as const

/** Only the sources after the first need the header with its list of transactions. */
export async function fetchLogs(
  endpoint: Endpoint,
  hash: Hex,
  listing: () => Promise<ListedHeader>,
  signal: AbortSignal,
): Promise<LogAnswer> {
  const byBlock = await byBlockReceipts(endpoint, hash, signal)
  if (byBlock !== null) return byBlock
  const known = await listing()
  // Without transactions there are no receipts; the root in the header proves that.
  if (known.transactions.length === 0)
    return { kind: 'receipts', source: 'receipts by transaction', items: [] }
  const byTransaction = await fetchFrom(endpoint, 'receipts by transaction', () =>
    fetchReceipts(endpoint, known, signal),
  )
  if (byTransaction !== null) return { kind: 'receipts', ...byTransaction }
  const range = { fromBlock: hexOf(known.number), toBlock: hexOf(known.number) }
  const logs =
    (await fetchFrom(endpoint, 'logs by block hash', () =>
      fetchList(endpoint, 'eth_getLogs', { blockHash: hash }, hash, signal),
    )) ??
    (await fetchFrom(endpoint, 'logs by block range', () =>
      fetchList(endpoint, 'eth_getLogs', range, hash, signal),
    ))
  if (logs !== null) return { kind: 'logs', ...logs }
  throw new FeedError('METHOD_MISSING', endpoint.name, 'it serves neither receipts nor logs of a block')
}

/** Receipts of a block one by one, in batches where the endpoint supports them. */
async function fetchReceipts(
  endpoint: Endpoint,
  { hash, transactions }: Pick<ListedHeader, 'hash' | 'transactions'>,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const calls = transactions.map((each): Call => ({ method: 'eth_getTransactionReceipt', params: [each] }))
  const receipts = await fetchKnown(async () => {
    const outcomes = await requestAll(endpoint, calls, signal)
    const failed = outcomes.find(each => 'error' in each)
    if (failed !== undefined && 'error' in failed) throw failed.error
    const results = outcomes.map(each => ('result' in each ? each.result : null))
    return results.includes(null) ? null : results
  }, signal)
  if (receipts === null) throw unknown(endpoint, hash)
  return receipts
}

async function byBlockReceipts(
  endpoint: Endpoint,
  hash: Hex,
  signal: AbortSignal,
): Promise<LogAnswer | null> {
  const { abilities } = endpoint
  if (abilities.isHard(hash)) return null
  try {
    const found = await fetchFrom(endpoint, 'receipts by block', () =>
      fetchList(endpoint, 'eth_getBlockReceipts', hash, hash, signal),
    )
    return found === null ? null : { kind: 'receipts', ...found }
  } catch (error) {
    // Whatever the cause, request this block in parts from the same endpoint from now on.
    if (isFeedError(error, ...BROKEN) && !signal.aborted) abilities.noteHard(hash)
    throw error
  }
}

/** Null when the endpoint does not support it. */
async function fetchFrom(
  endpoint: Endpoint,
  source: LogSource,
  fetch: () => Promise<readonly unknown[]>,
): Promise<{ readonly source: LogSource; readonly items: readonly unknown[] } | null> {
  const { abilities } = endpoint
  if (!abilities.has(source)) return null
  try {
    const items = await fetch()
    abilities.answered(source)
    return { source, items }
  } catch (error) {
    if (abilities.refused(source, error)) return null
    throw error
  }
}

async function fetchList(
  endpoint: Endpoint,
  method: string,
  param: unknown,
  hash: Hex,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const answer = await fetchKnown(async () => {
    try {
      return await endpoint.request(method, [param], signal)
    } catch (error) {
      if (isUnknownBlock(error)) return null
      throw error
    }
  }, signal)
  if (answer === null) throw unknown(endpoint, hash)
  if (Array.isArray(answer)) return answer
  throw new FeedError('ANSWER_MALFORMED', endpoint.name, `${method} did not answer with a list`)
}

const hexOf = (number: number): Hex => `0x${number.toString(16)}`
