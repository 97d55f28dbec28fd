/**
 * After a long stop: whether the missed blocks are walked or the chain starts again at its head, and which
 * of the blocks we followed are still on it.
 *
 * A walk proves every link from our tip to the head, so it is what happens wherever the endpoints leave a doubt.
 */
import type { Hex } from '../../ops/config.ts'
import { fetchVerified } from '../proof/block.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import type { BlockRef, VerifiedBlock } from '../feed.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { fetchHeaderByNumber, type Head } from '../proof/header.ts'
import type { Lineage, Position } from './lineage.ts'

/** The longest history any rule looks at (R-health-6): older blocks cannot change a price of today. */
const LONG_STOP_MS = 35 * 60_000
/** So few are always walked: two calls each are cheaper than loading every pool again, and no history is broken. */
const FEW_BLOCKS = 64

type Source = { readonly endpoints: EndpointSet; readonly lineage: Lineage }

type Rebase =
  | { readonly kind: 'rebase'; readonly block: VerifiedBlock; readonly ancestor: Position }
  /** None of the blocks that can be returned to is on the chain any more. */
  | { readonly kind: 'too_deep' }

/** Whether the chain is to start again at `head`: it is far ahead of our tip, and no two endpoints contradict each other. */
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

/** The head, verified, and the newest block of ours that the chain still has. */
export async function fetchRebase(
  { endpoints, lineage }: Source,
  head: Head,
  signal: AbortSignal,
): Promise<Rebase> {
  const ancestor = await newestOnChain(endpoints, lineage.returnable, signal)
  if (ancestor === null) return { kind: 'too_deep' }
  return { kind: 'rebase', block: await fetchVerified(endpoints, head.hash, signal), ancestor }
}

/** `blocks` oldest first. Below a block that is on the chain all are, so halving finds the newest. */
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

/** One endpoint that still has it is enough: the others are on a fork. Throws while nobody knows. */
async function isOnChain(endpoints: EndpointSet, block: Position, signal: AbortSignal): Promise<boolean> {
  const answers = await ask(endpoints, block.number, signal)
  if (answers.includes(block.hash)) return true
  if (answers.some(hash => hash !== null)) return false
  throw new FeedError('BLOCK_UNKNOWN', null, `no endpoint knows block number ${block.number}`)
}

/** The hash each live endpoint has at this height, null where it has none; who fails to answer is left out. */
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
