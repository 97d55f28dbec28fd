/**
 * Proofs of blocks whose receipts root stands in a later header, as on 43114 since Helicon (ACP-194): a header settles the
 * blocks after the one its parent settled last, and its root is that of their receipts, one block after the other.
 *
 * What does not fit is not proven, and nobody is at fault: the block stays as it was given.
 */
import type { Hex } from '../ops/config.ts'
import { decodeAnswer } from './answer.ts'
import { keptLogs } from './block.ts'
import type { EndpointSet } from './endpointSet.ts'
import type { ReceiptEntry } from './entry.ts'
import type { VerifiedBlock } from './feed.ts'
import { fetchHeaderByHash, type ListedHeader } from './header.ts'
import { fetchLogs } from './logLadder.ts'
import { ownReceipts } from './receiptsProof.ts'
import { receiptsRoot } from './receiptsRoot.ts'

type Position = { readonly number: number; readonly hash: Hex }

/** From a block to the one that settles it, and blocks settled at once: five seconds of blocks, and many times more. */
const MOST_BLOCKS = 128
/** Headers that are kept for the next blocks, which mostly ask for the same. */
const MOST_HEADERS = 2 * MOST_BLOCKS

export class Settlement {
  readonly #endpoints: EndpointSet
  readonly #headers = new Map<Hex, ListedHeader>()

  constructor(endpoints: EndpointSet) {
    this.#endpoints = endpoints
  }

  /**
   * The block and those settled with it, proven; none where they cannot be, or its header says that roots are its own; null
   * where the one that settles it is not ours yet. `hashAt` knows the blocks above it that are.
   */
  async prove(
    block: Position,
    hashAt: (number: number) => Hex | null,
    signal: AbortSignal,
  ): Promise<readonly VerifiedBlock[] | null> {
    const first = await this.#header(block.hash, signal)
    if (first.settledHeight === null) return []
    const above = await this.#upToSettler(first, hashAt, signal)
    if (above === null) return null
    const [parent, settler] = above.slice(-2)
    if (parent === undefined || settler === undefined) return []
    // The last block that was made before all this settled itself.
    const from = (parent.settledHeight ?? parent.number) + 1
    const to = settler.settledHeight as number
    if (to >= settler.number || to - from >= MOST_BLOCKS) return []
    const below = await this.#downTo(from, first, signal)
    const settled = [...below, ...above].filter(({ number }) => number >= from && number <= to)
    // A root proves as much as the header it stands in, and a height as much as the one that says it.
    const isAllOwn = [parent, settler, ...settled].every(({ isOwnHash }) => isOwnHash)
    return isAllOwn ? this.#proven(settled, settler.receiptsRoot, signal) : []
  }

  /** From the block to the first above it that settles it; null where that is not ours yet. */
  async #upToSettler(
    first: ListedHeader,
    hashAt: (number: number) => Hex | null,
    signal: AbortSignal,
  ): Promise<readonly ListedHeader[] | null> {
    const headers = [first]
    while (headers.length <= MOST_BLOCKS) {
      const below = headers.at(-1) as ListedHeader
      const hash = hashAt(below.number + 1)
      if (hash === null) return null
      const header = await this.#header(hash, signal)
      if (header.parentHash !== below.hash || header.settledHeight === null) return []
      headers.push(header)
      if (header.settledHeight >= first.number) return headers
    }
    return []
  }

  /** Those below the block from that number on, oldest first. */
  async #downTo(from: number, first: ListedHeader, signal: AbortSignal): Promise<readonly ListedHeader[]> {
    const headers: ListedHeader[] = []
    for (let above = first; above.number > from; above = headers[0] as ListedHeader)
      headers.unshift(await this.#header(above.parentHash, signal))
    return headers
  }

  async #proven(
    settled: readonly ListedHeader[],
    root: Hex,
    signal: AbortSignal,
  ): Promise<readonly VerifiedBlock[]> {
    const receipts: (readonly ReceiptEntry[])[] = []
    for (const header of settled) {
      const own = await this.#receipts(header, signal)
      if (own === null) return []
      receipts.push(own)
    }
    if (receiptsRoot(receipts.flat()) !== root) return []
    const topics = this.#endpoints.all[0]?.topics ?? null
    return settled.map(({ number, hash, parentHash, timeMs }, at) => ({
      number,
      hash,
      parentHash,
      timeMs,
      proof: 'receipts',
      logs: keptLogs(
        (receipts[at] as readonly ReceiptEntry[]).flatMap(({ logs }) => logs),
        topics,
      ),
    }))
  }

  /** Null from an endpoint that has logs alone. */
  #receipts(header: ListedHeader, signal: AbortSignal): Promise<readonly ReceiptEntry[] | null> {
    return this.#endpoints.attempt(async endpoint => {
      const { kind, items } = await fetchLogs(endpoint, header.hash, () => Promise.resolve(header), signal)
      if (kind === 'logs') return null
      return decodeAnswer(endpoint.name, 'receipts', () => ownReceipts(header, items))
    })
  }

  async #header(hash: Hex, signal: AbortSignal): Promise<ListedHeader> {
    const known = this.#headers.get(hash)
    if (known !== undefined) return known
    const header = await this.#endpoints.attempt(endpoint => fetchHeaderByHash(endpoint, hash, signal))
    if (this.#headers.size >= MOST_HEADERS) this.#headers.clear()
    this.#headers.set(hash, header)
    return header
  }
}
