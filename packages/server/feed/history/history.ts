/**
 * Old blocks in order: those with logs that are asked for, each whole and checked against its receipts root.
 *
 * `eth_getLogs` only says where to look. What it leaves out of a block is found, for the block is read whole; a block
 * it leaves out altogether is found by asking a second endpoint, where there is one. An answer as long as a limit
 * that providers are known to cut at is not believed: the range is halved. Where most blocks turn out to have what is
 * looked for, nobody is asked where it is: all of them are read, which proves more and costs the node less.
 */
import type { ChainConfig, Hex } from '../../ops/config.ts'
import { decodeAnswer } from '../answers/answer.ts'
import { pause } from '../condition.ts'
import { fetchBlock } from '../proof/block.ts'
import type { BlockRange } from './blockRange.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import { type LogEntry, toLogEntry } from '../answers/entry.ts'
import type { VerifiedBlock } from '../feed.ts'
import { FeedError, type FeedErrorCode, isFeedError } from '../feedError.ts'
import { fetchHeaderByTag } from '../proof/header.ts'

export type HistoryQuery = {
  readonly from: number
  readonly to: number
  /** Logs with one of these first topics; null addresses means any. */
  readonly topics: readonly Hex[]
  readonly addresses: readonly Hex[] | null
}

/** Consecutive blocks that are done: those with logs asked for, with these alone, and how far they reach. */
export type HistoryPart = {
  readonly from: number
  readonly to: number
  readonly blocks: readonly VerifiedBlock[]
  readonly rangeSize: number
}

/** Ranges asked for ahead of the one that is waited for, once it is known how long they can be. */
const RANGES_AHEAD = 4
/** Parts whose blocks are read ahead of the one that is waited for, and blocks in each: so many are held at once. */
const PARTS_AHEAD = 3
const BLOCKS_A_PART = 8
/** Addresses in one filter; beyond, the topics alone choose. */
const MAX_ADDRESSES = 500
/** Where providers are known to cut an answer without a word. */
const ROUND_CAPS: ReadonlySet<number> = new Set([100, 1000, 1024, 2000, 5000, 10_000, 20_000, 50_000])
/** More in one answer is asked for in smaller parts: memory stays flat. */
const MAX_LOGS = 10_000
/** Tries of one range, or one block, that fails for other reasons than its length. */
const TRIES = 6
const WAIT_MS = { least: 100, most: 5000 } as const

const BY_RANGE = 'logs by block range'

/** Errors that may be about the length of a range: their words and codes say too little to rely on. */
const RANGE_LIKE: ReadonlySet<FeedErrorCode> = new Set([
  'RPC_ERROR',
  'ENDPOINT_LIMITED',
  'ENDPOINT_STATUS',
  'ENDPOINT_TIMEOUT',
  'ANSWER_TOO_LARGE',
])

/** A refusal by HTTP status may be about the range as well. */
const isRangeLike = ({ code, httpStatus }: FeedError): boolean => RANGE_LIKE.has(code) || httpStatus !== null

/** A range and the blocks in it to read, each with the hashes its logs carry. */
type Chunk = {
  readonly from: number
  readonly to: number
  readonly blocks: readonly (readonly [number: number, hashes: readonly Hex[]])[]
  /** Nobody was asked where its logs are: they may be in any block. */
  readonly isUnasked: boolean
}
type Place = { readonly number: number; readonly hash: Hex; readonly logIndex: number }

/**
 * In order and without a gap from `from` to `to`. Throws a FeedError when a block cannot be had. The caller keeps
 * the range from one stretch to the next, so it continues at the length it has reached.
 */
export async function* readHistory(
  endpoints: EndpointSet,
  query: HistoryQuery,
  range: BlockRange,
  signal: AbortSignal,
): AsyncGenerator<HistoryPart> {
  const reader = new HistoryReader(endpoints, query, range, signal)
  const rangesAhead = (): number => (range.isSettled ? RANGES_AHEAD : 1)
  const chunks = ahead(rangesAhead, reader.ranges(), ({ from, to }) => reader.chunks(from, to))
  const parts = ahead(
    () => PARTS_AHEAD,
    flattened(chunks),
    chunk => reader.part(chunk),
  )
  yield* parts
}

/** The task on each item, in order, so many at once before the first is waited for. */
async function* ahead<Item, Result>(
  limit: () => number,
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
      if (running.length >= limit()) yield await (running.shift() as Promise<Result>)
    }
    while (running.length > 0) yield await (running.shift() as Promise<Result>)
  } finally {
    await Promise.allSettled(running)
  }
}

/** Chunks of a few blocks each: what is read is handed over, and let go, in small parts. */
async function* flattened(lists: AsyncIterable<readonly Chunk[]>): AsyncGenerator<Chunk> {
  for await (const list of lists)
    for (const { from, to, blocks, isUnasked } of list)
      for (let at = 0; at === 0 || at < blocks.length; at += BLOCKS_A_PART) {
        const next = blocks[at + BLOCKS_A_PART]
        yield {
          from: at === 0 ? from : (blocks[at] as Chunk['blocks'][0])[0],
          to: next === undefined ? to : next[0] - 1,
          blocks: blocks.slice(at, at + BLOCKS_A_PART),
          isUnasked,
        }
      }
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
  readonly #range: BlockRange
  readonly #topics: ReadonlySet<Hex>
  readonly #addresses: ReadonlySet<Hex> | null
  /** At least every second block of the last part had logs that are asked for, and all of it was proven. */
  #isDense = false
  #refused: FeedError | null = null

  constructor(endpoints: EndpointSet, query: HistoryQuery, range: BlockRange, signal: AbortSignal) {
    this.#endpoints = endpoints
    this.#query = query
    this.#range = range
    this.#signal = signal
    this.#topics = new Set(query.topics)
    this.#addresses = query.addresses === null ? null : new Set(query.addresses)
  }

  *ranges(): Generator<{ readonly from: number; readonly to: number }> {
    const { from: first, to: last } = this.#query
    for (let from = first; from <= last; ) {
      const to = Math.min(last, from + (this.#isDense ? BLOCKS_A_PART : this.#range.size) - 1)
      yield { from, to }
      from = to + 1
    }
  }

  /** The blocks of a chunk, whole. */
  async part({ from, to, blocks, isUnasked }: Chunk): Promise<HistoryPart> {
    const read = await Promise.all(blocks.map(([number, hashes]) => this.#block(number, hashes)))
    const found = read.filter(({ logs }) => logs.length > 0)
    const count = to - from + 1
    this.#isDense = 2 * found.length >= count && found.every(({ proof }) => proof === 'receipts')
    if (isUnasked)
      this.#range.answered(
        count,
        found.reduce((sum, { logs }) => sum + logs.length, 0),
      )
    return { from, to, blocks: found, rangeSize: this.#range.size }
  }

  #isAskedFor({ address, topic }: LogEntry): boolean {
    return topic !== null && this.#topics.has(topic) && this.#addresses?.has(address) !== false
  }

  /** Where there are logs, in halves when the whole is refused or not to be believed. */
  async chunks(from: number, to: number): Promise<readonly Chunk[]> {
    if (this.#isDense) return [{ from, to, blocks: allOf(from, to), isUnasked: true }]
    const blocks = to - from + 1
    for (let tries = 1; ; tries++)
      try {
        const places = await this.#agreed(from, to)
        if (blocks > 1 && (ROUND_CAPS.has(places.length) || places.length > MAX_LOGS))
          return await this.#halves(from, to)
        this.#range.answered(blocks, places.length)
        return [{ from, to, blocks: toldOf(places), isUnasked: false }]
      } catch (error) {
        if (!isFeedError(error) || this.#signal.aborted) throw error
        if (blocks > 1 && isRangeLike(error)) return this.#halves(from, to)
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
      each => each !== asked && each.isUsable && !each.isLagging && each.abilities.has(BY_RANGE),
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
    // Further blocks in the list are accepted for now, because each has to prove itself.
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
    const answer = await this.#logs(endpoint, filter)
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

  /** What has no such method is asked once; any other error may be about the range. */
  async #logs(endpoint: Endpoint, filter: object): Promise<unknown> {
    if (!endpoint.abilities.has(BY_RANGE))
      throw new FeedError('METHOD_MISSING', endpoint.name, 'it does not serve logs by block range')
    try {
      return await endpoint.request('eth_getLogs', [filter], this.#signal)
    } catch (error) {
      if (isFeedError(error, 'METHOD_MISSING') && !isRangeLike(error))
        endpoint.abilities.refused(BY_RANGE, error)
      throw error
    }
  }

  /** The whole block; it must be the block the logs named. Its own receipts decide which logs it has. */
  async #block(number: number, hashes: readonly Hex[]): Promise<VerifiedBlock> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#endpoints.attempt(async endpoint => {
          const block = await fetchBlock(endpoint, number, this.#signal)
          const foreign = hashes.find(hash => hash !== block.hash)
          // Once all logs are proven to be there, most of them have done their part, and many blocks are on their way.
          if (foreign === undefined)
            return { ...block, logs: block.logs.filter(log => this.#isAskedFor(log)) }
          throw new FeedError(
            'BLOCK_REFUSED',
            endpoint.name,
            `block ${number} is ${block.hash}; one of its logs carries the block hash ${foreign}`,
          )
        })
      } catch (error) {
        if (!isFeedError(error) || this.#signal.aborted) throw error
        if (error.code === 'BLOCK_REFUSED') this.#refused = error
        if (tries >= TRIES) throw this.#told(error)
        await this.#patience(tries)
      }
  }

  /** An endpoint that lied is not asked for a while. Its lie is reported rather than the lack of endpoints. */
  #told(error: FeedError): FeedError {
    return error.code === 'NO_ENDPOINT' ? (this.#refused ?? error) : error
  }

  async #patience(tries: number): Promise<void> {
    const waitMs = Math.max(this.#endpoints.waitMs(), WAIT_MS.least * 2 ** (tries - 1))
    await pause(Math.min(waitMs, WAIT_MS.most), this.#signal)
    this.#signal.throwIfAborted()
  }
}

const allOf = (from: number, to: number): Chunk['blocks'] =>
  Array.from({ length: to - from + 1 }, (_, at) => [from + at, []])

function toldOf(places: readonly Place[]): Chunk['blocks'] {
  const told = new Map<number, Set<Hex>>()
  for (const { number, hash } of places) told.set(number, (told.get(number) ?? new Set()).add(hash))
  return [...told].map(([number, hashes]) => [number, [...hashes]] as const).sort(([a], [b]) => a - b)
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
