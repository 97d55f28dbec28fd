/**
 * A block with its logs, all from the same endpoint and checked against the header. When the header cannot prove that
 * all logs are there, two endpoints must agree.
 */
import type { Hex } from '../../ops/hex.ts'
import { pause } from '../conditionVariable.ts'
import { digestOf } from './blockDigest.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import type { VerifiedBlock } from '../feed.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { fetchHeaderByHash, fetchHeaderByNumber, type Header, type ListedHeader } from './header.ts'
import { fetchLogs } from './logFallback.ts'
import { verifyLogs } from './receipts.ts'

type Answer = { readonly endpoint: Endpoint; readonly block: VerifiedBlock }
type Weighed = Answer & { readonly digest: string }

/** A second endpoint may have the block a moment later than the first: waits between the attempts. */
const CORROBORATION_MS = [100, 300, 600] as const
/** Wait for an endpoint that failed a moment ago, but not for one that has been down longer. */
const MOST_BACK_OFF_MS = 2000

/** A block by its hash or number, or by a header whose fields give its hash. */
export type WhichBlock = Hex | number | Header

/** From any endpoint that answers correctly, `source` first, with the best available proof. */
export async function fetchVerified(
  endpoints: EndpointSet,
  which: WhichBlock,
  signal: AbortSignal,
  source: Endpoint | null = null,
): Promise<VerifiedBlock> {
  const hedge = { method: 'eth_getBlockReceipts', signal, first: source, isLarge: true }
  const first = await endpoints.attempt((endpoint, until) => tell(endpoint, which, until), undefined, hedge)
  return first.block.proof === 'receipts' ? first.block : corroborate(endpoints, first, signal)
}

/**
 * By hash in one round trip when receipts are available by block; by number in two, because receipts are requested by
 * hash only.
 */
export async function fetchBlock(
  endpoint: Endpoint,
  which: WhichBlock,
  signal: AbortSignal,
): Promise<VerifiedBlock> {
  const fetching = fetchHeaderOf(endpoint, which, signal)
  const hash =
    typeof which === 'object' ? which.hash : typeof which === 'string' ? which : (await fetching).hash
  const listing = async (): Promise<ListedHeader> => withList(endpoint, await fetching, signal)
  const [header, answer] = await Promise.all([fetching, fetchLogs(endpoint, hash, listing, signal)])
  const { proof, logs } = verifyLogs(endpoint, header, answer)
  const { number, parentHash, timeMs } = header
  return { number, hash, timeMs, parentHash, proof, logs: keptLogs(logs, endpoint.topics) }
}

async function fetchHeaderOf(endpoint: Endpoint, which: WhichBlock, signal: AbortSignal): Promise<Header> {
  if (typeof which === 'object') return which
  return typeof which === 'number'
    ? fetchHeaderByNumber(endpoint, which, signal)
    : fetchHeaderByHash(endpoint, which, signal)
}

/** A pushed header has no list of transactions; only an endpoint without receipts by block needs one. */
async function withList(endpoint: Endpoint, header: Header, signal: AbortSignal): Promise<ListedHeader> {
  const { transactions } = header
  return transactions === null
    ? fetchHeaderByHash(endpoint, header.hash, signal)
    : { ...header, transactions }
}

/** Once all logs are proven to be there, drops those with topics that are not wanted. */
export function keptLogs(
  logs: VerifiedBlock['logs'],
  topics: ReadonlySet<string> | null,
): VerifiedBlock['logs'] {
  return topics === null ? logs : logs.filter(({ topic }) => topic !== null && topics.has(topic))
}

/**
 * Asks the other endpoints until one proves the block or two agree on it; an endpoint that disagreed is then at fault.
 * If all responses disagree, any of them may be wrong and the block is refused.
 */
async function corroborate(
  endpoints: EndpointSet,
  first: Answer,
  signal: AbortSignal,
): Promise<VerifiedBlock> {
  const { number, hash } = first.block
  const answers: Weighed[] = [weighed(first)]
  for (const endpoint of endpoints.all) {
    if (endpoint === first.endpoint || !endpoint.isInStep) continue
    const waitMs = endpoints.waitMsFor(endpoint)
    if (waitMs > MOST_BACK_OFF_MS) continue
    if (waitMs > 0) await pause(waitMs, signal)
    const heard = await tellLater(endpoint, hash, signal)
    if (heard === null) continue
    const next = weighed(heard)
    const isAgreed = answers.some(({ digest }) => digest === next.digest)
    if (isAgreed || next.block.proof === 'receipts') {
      for (const other of answers) if (other.digest !== next.digest) blameFor(other, next)
      return isAgreed && next.block.proof === 'none' ? { ...next.block, proof: 'digest' } : next.block
    }
    answers.push(next)
  }
  if (answers.length === 1) return first.block
  const names = answers.map(({ endpoint }) => endpoint.name).join(', ')
  throw new FeedError('BLOCK_REFUSED', null, `${names} return different logs for block ${number} ${hash}`)
}

async function tell(endpoint: Endpoint, which: WhichBlock, signal: AbortSignal): Promise<Answer> {
  return { endpoint, block: await fetchBlock(endpoint, which, signal) }
}

const weighed = (answer: Answer): Weighed => ({ ...answer, digest: digestOf(answer.block) })

/** Null from an endpoint that does not have the block, or not all of it. */
async function tellLater(endpoint: Endpoint, hash: Hex, signal: AbortSignal): Promise<Answer | null> {
  for (const waitMs of [...CORROBORATION_MS, null]) {
    try {
      return await tell(endpoint, hash, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!isFeedError(error)) throw error
      if (error.code === 'BLOCK_REFUSED') endpoint.blame(error)
      if (error.code !== 'BLOCK_UNKNOWN' || waitMs === null) return null
      await pause(waitMs, signal)
    }
  }
  return null
}

function blameFor({ endpoint, block: { number, hash } }: Answer, right: Answer): void {
  const sentence = `its logs of block ${number} ${hash} are not those that ${right.endpoint.name} and another proof give`
  endpoint.blame(new FeedError('BLOCK_REFUSED', endpoint.name, sentence))
}
