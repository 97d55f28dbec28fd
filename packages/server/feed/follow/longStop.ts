/**
 * After a long stop: decides whether to walk the missed blocks or to restart at the head, and which followed blocks are
 * still on the chain. A walk proves every link from our tip to the head, so any doubt about the endpoints leads to a
 * walk.
 */
import type { Hex } from '../../ops/hex.ts'
import { fetchVerified } from '../proof/block.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import type { BlockRef, VerifiedBlock } from '../feed.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { fetchHeaderByNumber, type Head } from '../proof/header.ts'
import type { Lineage, Position } from './lineage.ts'

/** The longest history any rule reads (R-health-6): older blocks cannot change a current price. */
const LONG_STOP_MS = 35 * 60_000
/**
 * A gap this short is always walked: two calls per block cost less than reloading every pool, and histories stay
 * complete.
 */
const FEW_BLOCKS = 64

type Source = { readonly endpoints: EndpointSet; readonly lineage: Lineage }

type Rebase =
  | { readonly kind: 'rebase'; readonly block: VerifiedBlock; readonly ancestor: Position }
  /** No block that we can return to is on the chain any more. */
  | { readonly kind: 'too_deep' }

/** Whether to restart at `head`: it is far ahead of our tip, and no two endpoints contradict each other. */
export async function isLongStop(
  { endpoints, lineage }: Source,
  head: Head,
  signal: AbortSignal,
): Promise<boolean> {
  const { tip } = lineage
  if (tip === null || !isFarAhead(tip, head)) return false
  const answers = await ask(endpoints, head.number - FEW_BLOCKS, signal)
  return answers.length < 2 || (answers[0] !== null && answers.every(hash => hash === answers[0]))
}

const isFarAhead = (tip: BlockRef, head: BlockRef): boolean =>
  head.timeMs - tip.timeMs > LONG_STOP_MS && head.number - tip.number > FEW_BLOCKS

/** The verified head, and the newest followed block that the chain still has. */
export async function fetchRebase(
  { endpoints, lineage }: Source,
  head: Head,
  signal: AbortSignal,
): Promise<Rebase> {
  const ancestor = await newestOnChain(endpoints, lineage.returnable, signal)
  if (ancestor === null) return { kind: 'too_deep' }
  return { kind: 'rebase', block: await fetchVerified(endpoints, head.hash, signal), ancestor }
}

/** `blocks` oldest first. All blocks below one on the chain are on it too, so a binary search finds the newest. */
async function newestOnChain(
  endpoints: EndpointSet,
  blocks: readonly Position[],
  signal: AbortSignal,
): Promise<Position | null> {
  const last = blocks.at(-1)
  if (last === undefined || (await isOnChain(endpoints, last, signal))) return last ?? null
  // Blocks before `low` are on the chain, those from `high` on are not.
  let [low, high] = [0, blocks.length - 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await isOnChain(endpoints, blocks[middle] as Position, signal)) low = middle + 1
    else high = middle
  }
  return blocks[low - 1] ?? null
}

/** One endpoint that still has the block is enough: the others are on a fork. Throws while no endpoint can say. */
async function isOnChain(endpoints: EndpointSet, block: Position, signal: AbortSignal): Promise<boolean> {
  const answers = await ask(endpoints, block.number, signal)
  if (answers.includes(block.hash)) return true
  if (answers.some(hash => hash !== null)) return false
  throw new FeedError('BLOCK_UNKNOWN', null, `no endpoint knows block number ${block.number}`)
}

/** The hash at this height from each live endpoint, null where it has none; endpoints that fail are left out. */
async function ask(
  endpoints: EndpointSet,
  number: number,
  signal: AbortSignal,
): Promise<readonly (Hex | null)[]> {
  const hashOf = async (endpoint: Endpoint): Promise<(Hex | null)[]> => {
    try {
      return [(await fetchHeaderByNumber(endpoint, number, signal)).hash]
    } catch (error) {
      signal.throwIfAborted()
      if (!isFeedError(error)) throw error
      return error.code === 'BLOCK_UNKNOWN' ? [null] : []
    }
  }
  const usable = endpoints.all.filter(({ isUsable }) => isUsable)
  return (await Promise.all(usable.map(hashOf))).flat()
}
