/**
 * Reads old blocks in order: the blocks with requested logs, each whole and checked against its receipts root.
 *
 * `eth_getLogs` only says which blocks to read. A log it omits from a listed block is found, because the block is read
 * whole; a block it omits altogether is found by asking a second endpoint, where there is one. An answer with exactly
 * as many logs as a known provider limit is not trusted: the range is halved. Where most blocks contain requested logs,
 * the search is skipped and all blocks are read, which proves more and costs the node less.
 */
import type { ChainConfig } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { decodeAnswer } from '../answers/answer.ts'
import { pause } from '../conditionVariable.ts'
import { fetchBlock } from '../proof/block.ts'
import type { BackfillRange } from './backfillRange.ts'
import { type LogFilter, matcherOf, spread } from './logFilter.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import { type LogEntry, toLogEntry } from '../answers/entry.ts'
import type { VerifiedBlock } from '../feed.ts'
import { FeedError, type FeedErrorCode, isFeedError } from '../feedError.ts'
import { fetchHeaderByTag } from '../proof/header.ts'

/** Logs that match any of the filters. */
export type HistoryQuery = {
  readonly from: number
  readonly to: number
  readonly filters: readonly LogFilter[]
}

/**
 * A consecutive range of finished blocks: those with requested logs, carrying only these logs, and the end of the
 * range.
 */
export type HistoryPart = {
  readonly from: number
  readonly to: number
  readonly blocks: readonly VerifiedBlock[]
  readonly rangeSize: number
}

/** Ranges requested ahead of the awaited one, once their possible length is known. */
const RANGES_AHEAD = 4
/** Parts read ahead of the awaited one, and blocks in each part; together they bound memory. */
const PARTS_AHEAD = 3
const BLOCKS_A_PART = 8
/** Addresses in one request; with more, it filters by topics alone. */
const MAX_ADDRESSES = 500
/** Counts at which providers are known to truncate an answer silently. */
const ROUND_CAPS: ReadonlySet<number> = new Set([100, 1000, 1024, 2000, 5000, 10_000, 20_000, 50_000])
/** A larger answer is requested in smaller parts, to keep memory flat. */
const MAX_LOGS = 10_000
/** Attempts for one range or block that fails for reasons other than its length. */
const TRIES = 6
const WAIT_MS = { least: 100, most: 5000 } as const

const BY_RANGE = 'logs by block range'

/** Errors that may be caused by the length of a range: their words and codes are not reliable enough to tell. */
const RANGE_LIKE: ReadonlySet<FeedErrorCode> = new Set([
  'RPC_ERROR',
  'ENDPOINT_LIMITED',
  'ENDPOINT_STATUS',
  'ENDPOINT_TIMEOUT',
  'ANSWER_TOO_LARGE',
])

/** A refusal by HTTP status may also be caused by the range. */
const isRangeLike = ({ code, httpStatus }: FeedError): boolean => RANGE_LIKE.has(code) || httpStatus !== null

/** A range and the blocks to read in it, each with the block hashes that its logs carry. */
type Chunk = {
  readonly from: number
  readonly to: number
  readonly blocks: readonly (readonly [number: number, hashes: readonly Hex[]])[]
  /** The search was skipped: any block may contain logs. */
  readonly isUnasked: boolean
}
type Place = { readonly number: number; readonly hash: Hex; readonly logIndex: number }
/** `isCut`: an endpoint may have left the rest out. */
type Places = { readonly places: readonly Place[]; readonly isCut: boolean }

/**
 * Yields parts in order and without a gap from `from` to `to`. Throws a FeedError when a block is not available. The
 * caller keeps `range` between calls, so its learned length carries over.
 */
export async function* readHistory(
  endpoints: EndpointSet,
  query: HistoryQuery,
  range: BackfillRange,
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

/** Runs the task on each item, in order, starting a limited number ahead of the awaited one. */
async function* ahead<Item, Result>(
  limit: () => number,
  items: AsyncIterable<Item> | Iterable<Item>,
  task: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = []
  try {
    for await (const item of items) {
      const result = task(item)
      // Results are awaited in order; a later task may fail before its turn.
      result.catch(() => undefined)
      running.push(result)
      if (running.length >= limit()) yield await (running.shift() as Promise<Result>)
    }
    while (running.length > 0) yield await (running.shift() as Promise<Result>)
  } finally {
    await Promise.allSettled(running)
  }
}

/** Splits chunks into a few blocks each, so that blocks are delivered and released in small parts. */
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

/** The newest final block. */
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
  readonly #range: BackfillRange
  readonly #requests: readonly LogFilter[]
  readonly #matches: (log: LogEntry) => boolean
  /** At least every second block of the last part had requested logs, and all blocks were proven. */
  #isDense = false
  #refused: FeedError | null = null

  constructor(endpoints: EndpointSet, query: HistoryQuery, range: BackfillRange, signal: AbortSignal) {
    this.#endpoints = endpoints
    this.#query = query
    this.#range = range
    this.#signal = signal
    this.#requests = query.filters.flatMap(spread)
    this.#matches = matcherOf(query.filters)
  }

  *ranges(): Generator<{ readonly from: number; readonly to: number }> {
    const { from: first, to: last } = this.#query
    for (let from = first; from <= last; ) {
      const to = Math.min(last, from + (this.#isDense ? BLOCKS_A_PART : this.#range.size) - 1)
      yield { from, to }
      from = to + 1
    }
  }

  /** Reads the whole blocks of a chunk. */
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

  /** Finds the blocks with logs; halves the range when it is refused or its answer is not trusted. */
  async chunks(from: number, to: number): Promise<readonly Chunk[]> {
    if (this.#isDense) return [{ from, to, blocks: allOf(from, to), isUnasked: true }]
    const blocks = to - from + 1
    for (let tries = 1; ; tries++)
      try {
        const { places, isCut } = await this.#agreed(from, to)
        if (blocks > 1 && isCut) return await this.#halves(from, to)
        this.#range.answered(blocks, places.length)
        return [{ from, to, blocks: blocksOf(places), isUnasked: false }]
      } catch (error) {
        if (!isFeedError(error) || this.#signal.aborted) throw error
        if (blocks > 1 && isRangeLike(error)) return this.#halves(from, to)
        if (tries >= TRIES || error.code === 'METHOD_MISSING') throw this.#explained(error)
        await this.#patience(tries)
      }
  }

  async #halves(from: number, to: number): Promise<readonly Chunk[]> {
    this.#range.refused(to - from + 1)
    const middle = from + ((to - from) >> 1)
    return [...(await this.chunks(from, middle)), ...(await this.chunks(middle + 1, to))]
  }

  /** One endpoint's answer, merged with that of a second endpoint if one answers. */
  async #agreed(from: number, to: number): Promise<Places> {
    let asked: Endpoint | null = null
    const first = await this.#endpoints.attempt(endpoint => {
      asked = endpoint
      return this.#ask(endpoint, from, to)
    })
    const other = this.#endpoints.all.find(
      each => each !== asked && each.isUsable && !each.isLagging && each.abilities.has(BY_RANGE),
    )
    if (other === undefined) return first
    let second: Places
    try {
      second = await this.#ask(other, from, to)
    } catch (error) {
      // No second endpoint answers for this range: rely on the proofs of the blocks.
      if (isFeedError(error) && !this.#signal.aborted) return first
      throw error
    }
    if (digest(first.places) === digest(second.places)) return first
    // Accept additional blocks for now, because each block must prove itself.
    return joined([first, second])
  }

  async #ask(endpoint: Endpoint, from: number, to: number): Promise<Places> {
    const answers: Places[] = []
    for (const request of this.#requests) {
      const places = await this.#askOne(endpoint, request, from, to)
      answers.push({ places, isCut: ROUND_CAPS.has(places.length) || places.length > MAX_LOGS })
    }
    return joined(answers)
  }

  async #askOne(
    endpoint: Endpoint,
    { addresses, topics }: LogFilter,
    from: number,
    to: number,
  ): Promise<readonly Place[]> {
    const filter = {
      fromBlock: `0x${from.toString(16)}`,
      toBlock: `0x${to.toString(16)}`,
      topics,
      ...(addresses.length > MAX_ADDRESSES ? {} : { address: addresses }),
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
      `requested logs of blocks ${from} to ${to}, received one of ${stray.number}`,
    )
    endpoint.blame(error)
    throw error
  }

  /** A missing method is not retried; any other error may be caused by the range. */
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

  /** Reads the whole block, which must be the one the logs named. Its own receipts decide which logs it has. */
  async #block(number: number, hashes: readonly Hex[]): Promise<VerifiedBlock> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#endpoints.attempt(async endpoint => {
          const block = await fetchBlock(endpoint, number, this.#signal)
          const foreign = hashes.find(hash => hash !== block.hash)
          // Once all logs are proven to be there, most are no longer needed, and many blocks are in flight.
          if (foreign === undefined) return { ...block, logs: block.logs.filter(this.#matches) }
          throw new FeedError(
            'BLOCK_REFUSED',
            endpoint.name,
            `block ${number} is ${block.hash}; one of its logs carries the block hash ${foreign}`,
          )
        })
      } catch (error) {
        if (!isFeedError(error) || this.#signal.aborted) throw error
        if (error.code === 'BLOCK_REFUSED') this.#refused = error
        if (tries >= TRIES) throw this.#explained(error)
        await this.#patience(tries)
      }
  }

  /** Reports the false answer of an endpoint, which is now left alone, rather than the lack of endpoints. */
  #explained(error: FeedError): FeedError {
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

function blocksOf(places: readonly Place[]): Chunk['blocks'] {
  const byNumber = new Map<number, Set<Hex>>()
  for (const { number, hash } of places) byNumber.set(number, (byNumber.get(number) ?? new Set()).add(hash))
  return [...byNumber].map(([number, hashes]) => [number, [...hashes]] as const).sort(([a], [b]) => a - b)
}

function placeOf(item: unknown): Place {
  const { blockNumber, blockHash, logIndex } = toLogEntry(item)
  return { number: blockNumber, hash: blockHash, logIndex }
}

/** The same log may match several filters, and be in the answers of several endpoints. */
function joined(answers: readonly Places[]): Places {
  const [only] = answers
  if (only !== undefined && answers.length === 1) return only
  const all = answers.flatMap(({ places }) => places)
  return {
    places: [...new Map(all.map(place => [`${place.hash}/${place.logIndex}`, place])).values()],
    isCut: answers.some(({ isCut }) => isCut),
  }
}

const digest = (places: readonly Place[]): string =>
  places
    .map(({ hash, logIndex }) => `${hash}/${logIndex}`)
    .sort()
    .join()
