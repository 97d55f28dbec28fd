/**
 * Fetches the replacement branch of a reorganisation and verifies all of it before it is delivered: from the last block
 * we share with the chain up to its head.
 */
import type { Hex } from '../../ops/hex.ts'
import { fetchVerified } from '../proof/block.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import type { VerifiedBlock } from '../feed.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import {
  fetchHeaderByHash,
  fetchHeaderByNumber,
  type Head,
  type Header,
  provenHeader,
  refused,
} from '../proof/header.ts'
import type { Lineage } from './lineage.ts'

type Branch =
  | { readonly kind: 'branch'; readonly ancestor: Hex; readonly blocks: readonly VerifiedBlock[] }
  /** The fork is below the blocks that can be undone. */
  | { readonly kind: 'too_deep' }

type BranchSource = {
  readonly endpoints: EndpointSet
  readonly lineage: Lineage
  /** How many blocks are fetched at once, and how far past our tip the branch extends. */
  readonly ahead: number
  /** Tried first, because it reported the branch. */
  readonly source: Endpoint
}

/** `fork` is on the chain but not in our lineage, and at most one block above our tip; `head` is at or above it. */
export async function fetchBranch(
  source: BranchSource,
  fork: Head,
  head: Head,
  signal: AbortSignal,
): Promise<Branch> {
  const { lineage, endpoints, ahead } = source
  const baseNumber = lineage.base?.number ?? 0
  const path: (Head | Header)[] = [fork]
  let oldest = fork
  const ask = { method: 'eth_getBlockByHash', signal, first: source.source }
  while (!lineage.has(oldest.parentHash)) {
    if (oldest.number - 1 <= baseNumber) return { kind: 'too_deep' }
    const child = oldest
    oldest = await endpoints.attempt((endpoint, until) => fetchParent(endpoint, child, until), undefined, ask)
    path.unshift(oldest)
  }
  const last = Math.min(head.number, Math.max(fork.number, lineage.tip?.number ?? 0) + ahead)
  const rest = Array.from({ length: last - fork.number }, (_, at) => fork.number + 1 + at)
  const wanted = [
    ...path.map(each => provenHeader(each) ?? each.hash),
    ...rest.map(n => (n === head.number ? head.hash : n)),
  ]
  const blocks: VerifiedBlock[] = []
  for (let at = 0; at < wanted.length; at += ahead) {
    const group = wanted.slice(at, at + ahead)
    const fetched = await Promise.all(
      group.map(which => fetchVerified(endpoints, which, signal, source.source)),
    )
    blocks.push(...fetched)
  }
  return { kind: 'branch', ancestor: oldest.parentHash, blocks: linked(blocks, oldest.parentHash) }
}

/**
 * Throws unless all endpoints that answer have replaced our base. If one endpoint still has it, the others are on a
 * fork: they are at fault, and the chain does not stop.
 */
export async function confirmReplaced(source: BranchSource, head: Head, signal: AbortSignal): Promise<void> {
  const { base } = source.lineage
  if (base === null) return
  const usable = source.endpoints.all.filter(({ isUsable }) => isUsable)
  const verdicts = await Promise.all(
    usable.map(async endpoint => {
      try {
        return (await fetchHeaderByNumber(endpoint, base.number, signal)).hash === base.hash
      } catch (error) {
        if (isFeedError(error)) return null
        throw error
      }
    }),
  )
  if (verdicts.includes(false) && !verdicts.includes(true)) return
  const fork = `head ${head.number} ${head.hash} is on a fork below ${base.number} ${base.hash}`
  for (const [at, endpoint] of usable.entries())
    if (verdicts[at] === false) endpoint.blame(refused(endpoint, fork))
  throw new FeedError('BLOCK_REFUSED', null, fork)
}

async function fetchParent(endpoint: Endpoint, child: Head, signal: AbortSignal): Promise<Header> {
  const parent = await fetchHeaderByHash(endpoint, child.parentHash, signal)
  if (parent.number === child.number - 1) return parent
  throw refused(
    endpoint,
    `block ${child.number} ${child.hash} has the parent ${parent.number} ${parent.hash}`,
  )
}

/** The chain may have moved on during the fetch: keep the blocks that still link up. */
function linked(blocks: readonly VerifiedBlock[], ancestor: Hex): readonly VerifiedBlock[] {
  let parent = ancestor
  const end = blocks.findIndex(block => {
    const isLinked = block.parentHash === parent
    parent = block.hash
    return !isLinked
  })
  return end === -1 ? blocks : blocks.slice(0, end)
}
