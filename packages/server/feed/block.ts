/**
 * A block with its logs, every part of it from the same endpoint and checked against its header. Where the header cannot
 * prove that all logs are there, two endpoints have to say the same.
 */
import type { Hex } from '../ops/config.ts'
import { pause } from './bell.ts'
import { digestOf } from './blockDigest.ts'
import type { Endpoint } from './endpoint.ts'
import type { EndpointSet } from './endpointSet.ts'
import type { VerifiedBlock } from './feed.ts'
import { FeedError, isFeedError } from './feedError.ts'
import { fetchHeaderByHash, fetchHeaderByNumber } from './header.ts'
import { fetchLogs } from './logLadder.ts'
import { verifyLogs } from './receipts.ts'

type Told = { readonly endpoint: Endpoint; readonly block: VerifiedBlock }
type Weighed = Told & { readonly digest: string }

/** A second endpoint may have the block a moment later than the first: waits between the tries. */
const CORROBORATION_MS = [100, 300, 600] as const
/** One that failed a moment ago is waited for; one that is gone for longer is not. */
const MOST_BACK_OFF_MS = 2000

/** From whichever endpoint gives it right, with the best proof that is to be had. */
export async function fetchVerified(
  endpoints: EndpointSet,
  which: Hex | number,
  signal: AbortSignal,
): Promise<VerifiedBlock> {
  const first = await endpoints.attempt(endpoint => tell(endpoint, which, signal))
  return first.block.proof === 'receipts' ? first.block : corroborate(endpoints, first, signal)
}

/** By hash in one round trip where receipts come by the block; by number in two, since they are asked for by hash alone. */
export async function fetchBlock(
  endpoint: Endpoint,
  which: Hex | number,
  signal: AbortSignal,
): Promise<VerifiedBlock> {
  const fetching =
    typeof which === 'number'
      ? fetchHeaderByNumber(endpoint, which, signal)
      : fetchHeaderByHash(endpoint, which, signal)
  const hash = typeof which === 'number' ? (await fetching).hash : which
  const [header, answer] = await Promise.all([fetching, fetchLogs(endpoint, hash, fetching, signal)])
  const { proof, logs } = verifyLogs(endpoint, header, answer)
  const { number, parentHash, timeMs } = header
  return { number, hash, timeMs, parentHash, proof, logs: kept(logs, endpoint.topics) }
}

/** Once all logs are proven to be there, those nobody asks for have done their part. */
function kept(logs: VerifiedBlock['logs'], topics: ReadonlySet<string> | null): VerifiedBlock['logs'] {
  return topics === null ? logs : logs.filter(({ topic }) => topic !== null && topics.has(topic))
}

/**
 * Asks the others until one proves the block or two agree on it; whoever then said something else is at fault. If all
 * that answered disagree, nobody knows which of them lies and the block is refused.
 */
async function corroborate(endpoints: EndpointSet, first: Told, signal: AbortSignal): Promise<VerifiedBlock> {
  const { number, hash } = first.block
  const told: Weighed[] = [weighed(first)]
  for (const endpoint of endpoints.all) {
    if (endpoint === first.endpoint) continue
    const waitMs = endpoints.waitMsFor(endpoint)
    if (waitMs > MOST_BACK_OFF_MS) continue
    if (waitMs > 0) await pause(waitMs, signal)
    const heard = await tellLater(endpoint, hash, signal)
    if (heard === null) continue
    const next = weighed(heard)
    const isAgreed = told.some(({ digest }) => digest === next.digest)
    if (isAgreed || next.block.proof === 'receipts') {
      for (const other of told) if (other.digest !== next.digest) blameFor(other, next)
      return isAgreed && next.block.proof === 'none' ? { ...next.block, proof: 'digest' } : next.block
    }
    told.push(next)
  }
  if (told.length === 1) return first.block
  const names = told.map(({ endpoint }) => endpoint.name).join(', ')
  throw new FeedError('BLOCK_REFUSED', null, `${names} give different logs for block ${number} ${hash}`)
}

async function tell(endpoint: Endpoint, which: Hex | number, signal: AbortSignal): Promise<Told> {
  return { endpoint, block: await fetchBlock(endpoint, which, signal) }
}

const weighed = (told: Told): Weighed => ({ ...told, digest: digestOf(told.block) })

/** Null from an endpoint that does not have the block, or not whole. */
async function tellLater(endpoint: Endpoint, hash: Hex, signal: AbortSignal): Promise<Told | null> {
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

function blameFor({ endpoint, block: { number, hash } }: Told, right: Told): void {
  const sentence = `its logs of block ${number} ${hash} are not those that ${right.endpoint.name} and another proof give`
  endpoint.blame(new FeedError('BLOCK_REFUSED', endpoint.name, sentence))
}
