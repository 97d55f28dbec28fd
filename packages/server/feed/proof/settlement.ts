/**
 * Proves blocks whose receipts root is in a later header, as on 43114 since Helicon (ACP-194). A header settles the blocks
 * after the one its parent settled last, and its receipts root covers their receipts, concatenated in block order.
 *
 * A root that does not match leaves the blocks unproven; it is no evidence against an endpoint.
 */
import type { Hex } from '../../ops/hex.ts'
import { decodeAnswer } from '../answers/answer.ts'
import { keptLogs } from './block.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import type { ReceiptEntry } from '../answers/entry.ts'
import type { VerifiedBlock } from '../feed.ts'
import { fetchHeaderByHash, type ListedHeader } from './header.ts'
import { fetchLogs } from './logFallback.ts'
import { ownReceipts } from './receiptsProof.ts'
import { receiptsRoot } from './receiptsRoot.ts'

type Position = { readonly number: number; readonly hash: Hex }

/** Limit on the distance to the settling block and on blocks settled at once. Settlement takes about five seconds. */
const MOST_BLOCKS = 128
/** Cached headers: consecutive blocks need mostly the same ones. */
const MOST_HEADERS = 2 * MOST_BLOCKS

export class Settlement {
  readonly #endpoints: EndpointSet
  readonly #headers = new Map<Hex, ListedHeader>()

  constructor(endpoints: EndpointSet) {
    this.#endpoints = endpoints
  }

  /**
   * The block and those settled with it, proven. Empty when they cannot be proven, or when roots cover their own block. Null
   * when the settling block has not been followed yet. `hashAt` gives the hash of a followed block by number.
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
    // A block from before Helicon settled itself.
    const from = (parent.settledHeight ?? parent.number) + 1
    const to = settler.settledHeight as number
    if (to >= settler.number || to - from >= MOST_BLOCKS) return []
    const below = await this.#downTo(from, first, signal)
    const settled = [...below, ...above].filter(({ number }) => number >= from && number <= to)
    // Roots and settled heights count only in proven headers.
    const isAllOwn = [parent, settler, ...settled].every(({ isOwnHash }) => isOwnHash)
    return isAllOwn ? this.#proven(settled, settler.receiptsRoot, signal) : []
  }

  /** From the block up to the first header that settles it; null when that one has not been followed yet. */
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

  /** The headers from that number up to below the block, oldest first. */
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

  /** Null from an endpoint that only has logs. */
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
