/**
 * Old blocks in order: those with logs that are asked for, each whole and checked against its receipts root.
 *
 * `eth_getLogs` only says where to look. What it leaves out of a block is found, for the block is read whole; a block
 * it leaves out altogether is found by asking a second endpoint, where there is one. An answer as long as a limit
 * that providers are known to cut at is not believed: the range is halved.
 */
import type { ChainConfig, Hex } from '../ops/config.ts'
import { decodeAnswer } from './answer.ts'
import { pause } from './bell.ts'
import { fetchBlock } from './block.ts'
import { BlockRange } from './blockRange.ts'
import type { Endpoint } from './endpoint.ts'
import type { EndpointSet } from './endpointSet.ts'
import { toLogEntry } from './entry.ts'
import type { VerifiedBlock } from './feed.ts'
import { FeedError, type FeedErrorCode, isFeedError } from './feedError.ts'
import { fetchHeaderByTag } from './header.ts'

export type HistoryQuery = {
  readonly from: number
  readonly to: number
  /** Logs with one of these first topics; null addresses means any. */
  readonly topics: readonly Hex[]
  readonly addresses: readonly Hex[] | null
}

/** Consecutive blocks that are done: those with logs asked for, and how far they reach. */
export type HistoryPart = {
  readonly from: number
  readonly to: number
  readonly blocks: readonly VerifiedBlock[]
  readonly rangeSize: number
}

/** Ranges asked for ahead of the one that is waited for. */
const RANGES_AHEAD = 4
/** Chunks whose blocks are read ahead of the one that is waited for, and blocks at once in each. */
const CHUNKS_AHEAD = 2
const BLOCKS_AT_ONCE = 8
/** Addresses in one filter; beyond, the topics alone choose. */
const MAX_ADDRESSES = 500
/** Where providers are known to cut an answer without a word. */
const ROUND_CAPS: ReadonlySet<number> = new Set([100, 1000, 1024, 2000, 5000, 10_000, 20_000, 50_000])
/** More in one answer is asked for in smaller parts: memory stays flat. */
const MAX_LOGS = 10_000
/** Tries of one range, or one block, that fails for other reasons than its length. */
const TRIES = 6
const WAIT_MS = { least: 100, most: 5000 } as const

/** Errors that may be about the length of a range: their words and codes say too little to rely on. */
const RANGE_LIKE: ReadonlySet<FeedErrorCode> = new Set([
  'RPC_ERROR',
  'ENDPOINT_LIMITED',
  'ENDPOINT_STATUS',
  'ENDPOINT_TIMEOUT',
  'ANSWER_TOO_LARGE',
])

/** A range, or what was left of it after halving, and where its logs are. */
type Chunk = { readonly from: number; readonly to: number; readonly places: readonly Place[] }
type Place = { readonly number: number; readonly hash: Hex; readonly logIndex: number }

/** In order and without a gap from `from` to `to`. Throws a FeedError when a block cannot be had. */
export async function* readHistory(
  endpoints: EndpointSet,
  query: HistoryQuery,
  signal: AbortSignal,
): AsyncGenerator<HistoryPart> {
  const reader = new HistoryReader(endpoints, query, signal)
  const chunks = ahead(RANGES_AHEAD, reader.ranges(), ({ from, to }) => reader.chunks(from, to))
  const parts = ahead(CHUNKS_AHEAD, flattened(chunks), chunk => reader.part(chunk))
  yield* parts
}

/** The task on each item, in order, so many at once before the first is waited for. */
async function* ahead<Item, Result>(
  limit: number,
  items: AsyncIterable<Item> | Iterable<Item>,
  task: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = []
  try {
    for await (const item of items) {
      const result = task(item)
      // Awaited in order; a later one may fail before its turn.
      result.catch(() => undefined)
      running.push(result)
      if (running.length >= limit) yield await (running.shift() as Promise<Result>)
    }
    while (running.length > 0) yield await (running.shift() as Promise<Result>)
  } finally {
    await Promise.allSettled(running)
  }
}

async function* flattened<Item>(lists: AsyncIterable<readonly Item[]>): AsyncGenerator<Item> {
  for await (const list of lists) yield* list
}

/** The newest block that cannot be taken back. */
export async function finalizedNumber(
  chain: ChainConfig,
  endpoints: EndpointSet,
  signal: AbortSignal,
): Promise<number> {
  const tag = chain.finality.kind === 'tag' ? 'finalized' : 'latest'
  const back = chain.finality.kind === 'tag' ? 0 : chain.finality.depth
  const head = await endpoints.attempt(endpoint => fetchHeaderByTag(endpoint, tag, signal))
  return Math.max(0, (head?.number ?? 0) - back)
}

class HistoryReader {
  readonly #endpoints: EndpointSet
  readonly #query: HistoryQuery
  readonly #signal: AbortSignal
  readonly #range = new BlockRange()
  #refused: FeedError | null = null

  constructor(endpoints: EndpointSet, query: HistoryQuery, signal: AbortSignal) {
    this.#endpoints = endpoints
    this.#query = query
    this.#signal = signal
  }

  *ranges(): Generator<{ readonly from: number; readonly to: number }> {
    const { from: first, to: last } = this.#query
    for (let from = first; from <= last; ) {
      const to = Math.min(last, from + this.#range.size - 1)
      yield { from, to }
      from = to + 1
    }
  }

  /** The blocks of a chunk, whole. */
  async part({ from, to, places }: Chunk): Promise<HistoryPart> {
    const told = new Map<number, Set<Hex>>()
    for (const { number, hash } of places) told.set(number, (told.get(number) ?? new Set()).add(hash))
    const numbers = [...told.keys()].sort((a, b) => a - b)
    const blocks: VerifiedBlock[] = []
    for await (const block of ahead(BLOCKS_AT_ONCE, numbers, number =>
      this.#block(number, [...(told.get(number) ?? [])]),
    ))
      blocks.push(block)
    return { from, to, blocks, rangeSize: this.#range.size }
  }

  /** Where there are logs, in halves when the whole is refused or not to be believed. */
  async chunks(from: number, to: number): Promise<readonly Chunk[]> {
    const blocks = to - from + 1
    for (let tries = 1; ; tries++)
      try {
        const places = await this.#agreed(from, to)
        if (blocks > 1 && (ROUND_CAPS.has(places.length) || places.length > MAX_LOGS))
          return await this.#halves(from, to)
        this.#range.answered(blocks, places.length)
        return [{ from, to, places }]
      } catch (error) {
        if (!isFeedError(error) || this.#signal.aborted) throw error
        if (blocks > 1 && RANGE_LIKE.has(error.code)) return this.#halves(from, to)
        if (tries >= TRIES || error.code === 'METHOD_MISSING') throw this.#told(error)
        await this.#patience(tries)
      }
  }

  async #halves(from: number, to: number): Promise<readonly Chunk[]> {
    this.#range.refused(to - from + 1)
    const middle = from + ((to - from) >> 1)
    return [...(await this.chunks(from, middle)), ...(await this.chunks(middle + 1, to))]
  }

  /** One endpoint's answer, which another must share where it answers at all. */
  async #agreed(from: number, to: number): Promise<readonly Place[]> {
    let asked: Endpoint | null = null
    const places = await this.#endpoints.attempt(endpoint => {
      asked = endpoint
      return this.#ask(endpoint, from, to)
    })
    const other = this.#endpoints.all.find(
      each => each !== asked && each.isUsable && !each.isLagging && !each.lacks('eth_getLogs'),
    )
    if (other === undefined) return places
    let others: readonly Place[]
    try {
      others = await this.#ask(other, from, to)
    } catch (error) {
      // No second opinion is to be had of this range: the blocks' own proofs stand alone.
      if (isFeedError(error) && !this.#signal.aborted) return places
      throw error
    }
    if (digest(places) === digest(others)) return places
    // Whoever lists more is believed so far: each of those blocks has to prove itself.
    const union = new Map([...places, ...others].map(place => [`${place.hash}/${place.logIndex}`, place]))
    return [...union.values()]
  }

  async #ask(endpoint: Endpoint, from: number, to: number): Promise<readonly Place[]> {
    const { addresses } = this.#query
    const filter = {
      fromBlock: `0x${from.toString(16)}`,
      toBlock: `0x${to.toString(16)}`,
      topics: [this.#query.topics],
      ...(addresses === null || addresses.length > MAX_ADDRESSES ? {} : { address: addresses }),
    }
    const answer = await endpoint.request('eth_getLogs', [filter], this.#signal)
    if (!Array.isArray(answer))
      throw new FeedError('ANSWER_MALFORMED', endpoint.name, 'eth_getLogs did not answer with a list')
    const places = decodeAnswer(endpoint.name, 'logs', () => answer.map(placeOf))
    const stray = places.find(({ number }) => number < from || number > to)
    if (stray === undefined) return places
    const error = new FeedError(
      'BLOCK_REFUSED',
      endpoint.name,
      `asked for logs of blocks ${from} to ${to}, received one of ${stray.number}`,
    )
    endpoint.blame(error)
    throw error
  }

  /** The whole block; it must be the one that was told of. Which logs it has is its own to say. */
  async #block(number: number, hashes: readonly Hex[]): Promise<VerifiedBlock> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#endpoints.attempt(async endpoint => {
          const block = await fetchBlock(endpoint, number, this.#signal)
          const foreign = hashes.find(hash => hash !== block.hash)
          if (foreign === undefined) return block
          throw new FeedError(
            'BLOCK_REFUSED',
            endpoint.name,
            `block ${number} is ${block.hash}; a log of it was told of with ${foreign}`,
          )
        })
      } catch (error) {
        if (!isFeedError(error) || this.#signal.aborted) throw error
        if (error.code === 'BLOCK_REFUSED') this.#refused = error
        if (tries >= TRIES) throw this.#told(error)
        await this.#patience(tries)
      }
  }

  /** Whoever lied is not asked for a while: that it lied says more than that nobody can be asked. */
  #told(error: FeedError): FeedError {
    return error.code === 'NO_ENDPOINT' ? (this.#refused ?? error) : error
  }

  async #patience(tries: number): Promise<void> {
    const waitMs = Math.max(this.#endpoints.waitMs(), WAIT_MS.least * 2 ** (tries - 1))
    await pause(Math.min(waitMs, WAIT_MS.most), this.#signal)
    this.#signal.throwIfAborted()
  }
}

function placeOf(item: unknown): Place {
  const { blockNumber, blockHash, logIndex } = toLogEntry(item)
  return { number: blockNumber, hash: blockHash, logIndex }
}

const digest = (places: readonly Place[]): string =>
  places
    .map(({ hash, logIndex }) => `${hash}/${logIndex}`)
    .sort()
    .join()
