/**
 * Reads the last half hour from endpoints: logs by block range and headers by number, for pools that were not followed
 * (R-history-6). These calls have the lowest priority, use at most a third of an endpoint's pace, and one reading has a
 * fixed budget of calls; what the budget does not cover is not read.
 *
 * Nothing proves a range of logs on its own. When a second endpoint gives the same answer, the logs count as proven.
 */
import type { Hex } from '../../ops/hex.ts'
import { decodeAnswer } from '../answers/answer.ts'
import { requestAll } from '../transport/batches.ts'
import { pause } from '../conditionVariable.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import { type LogEntry, toLogEntry } from '../answers/entry.ts'
import { FeedError, type FeedErrorCode, isFeedError } from '../feedError.ts'
import { PastLogRange } from './pastLogRange.ts'
import type { PastHeader, PastLogs, PastQuery, PastReader, PastReading } from './past.ts'

/** Calls of one reading for any purpose; an older range or a refusal counts too. */
const MOST_CALLS = 60
/** Logs in one answer that we trust, and logs of one reading kept in memory. */
const MOST_LOGS = { answer: 10_000, reading: 100_000 } as const
const HEADERS = { batched: 200, single: 16 } as const
/** Headers in one batch. */
const BATCH = 100
/** Counts at which providers are known to truncate an answer silently. */
const ROUND_CAPS: ReadonlySet<number> = new Set([1000, 1024, 2000, 5000, 10_000, 20_000, 50_000])

const BY_RANGE = 'logs by block range'
const RANGE_LIKE: ReadonlySet<FeedErrorCode> = new Set([
  'RPC_ERROR',
  'ENDPOINT_STATUS',
  'ENDPOINT_TIMEOUT',
  'ANSWER_TOO_LARGE',
])
const isRangeLike = ({ code, httpStatus }: FeedError): boolean => RANGE_LIKE.has(code) || httpStatus !== null

export function createPastReader(endpoints: EndpointSet, closed: AbortSignal): PastReader {
  /** The range that each endpoint accepts, kept between readings. */
  const ranges = new Map<Endpoint, PastLogRange>()
  const rangeOf = (endpoint: Endpoint): PastLogRange => {
    const known = ranges.get(endpoint) ?? new PastLogRange()
    ranges.set(endpoint, known)
    return known
  }
  return {
    begin: signal => new Reading(endpoints, rangeOf, AbortSignal.any([signal, closed])),
  }
}

class Reading implements PastReading {
  readonly #endpoints: EndpointSet
  readonly #rangeOf: (endpoint: Endpoint) => PastLogRange
  readonly #signal: AbortSignal
  #left = MOST_CALLS
  #logs = 0

  constructor(endpoints: EndpointSet, rangeOf: (endpoint: Endpoint) => PastLogRange, signal: AbortSignal) {
    this.#endpoints = endpoints
    this.#rangeOf = rangeOf
    this.#signal = signal
  }

  async logs(query: PastQuery): Promise<PastLogs> {
    let asked: Endpoint | null = null
    const logs = await this.#endpoints.attempt(endpoint => {
      asked = endpoint
      return this.#ranges(endpoint, query)
    })
    const other = this.#endpoints.all.find(
      each => each !== asked && each.isUsable && each.isInStep && each.abilities.has(BY_RANGE),
    )
    if (other === undefined) return { logs, isProven: false }
    try {
      const others = await this.#ranges(other, query)
      return { logs, isProven: digestOf(logs) === digestOf(others) }
    } catch (error) {
      // No second endpoint answers: the logs stay unproven.
      if (isFeedError(error) && !this.#signal.aborted) return { logs, isProven: false }
      throw error
    }
  }

  get mostHeaders(): number {
    return this.#endpoints.primary?.takesBatches === true ? HEADERS.batched : HEADERS.single
  }

  get rangeSize(): number {
    const { primary } = this.#endpoints
    return primary === null ? 1 : this.#rangeOf(primary).size
  }

  async headers(numbers: readonly number[]): Promise<readonly PastHeader[]> {
    if (numbers.length === 0) return []
    return this.#endpoints.attempt(async endpoint => {
      const found: PastHeader[] = []
      for (let at = 0; at < numbers.length; at += BATCH) {
        const some = numbers.slice(at, at + BATCH)
        await this.#spend(endpoint, endpoint.takesBatches ? 1 : some.length)
        const calls = some.map(number => ({
          method: 'eth_getBlockByNumber',
          params: [hexOf(number), false] as const,
        }))
        for (const [n, outcome] of (await requestAll(endpoint, calls, this.#signal, 'history')).entries()) {
          if ('error' in outcome) throw outcome.error
          found.push(headerAt(endpoint, some[n] as number, outcome.result))
        }
      }
      return found
    })
  }

  /** Reads the whole stretch from one endpoint, in ranges that it accepts. */
  async #ranges(endpoint: Endpoint, query: PastQuery): Promise<readonly LogEntry[]> {
    const range = this.#rangeOf(endpoint)
    const parts: { readonly from: number; readonly logs: readonly LogEntry[] }[] = []
    const todo: { readonly from: number; readonly to: number }[] = [{ from: query.from, to: query.to }]
    for (let next = todo.shift(); next !== undefined; next = todo.shift()) {
      const { from } = next
      const to = Math.min(next.to, from + range.size - 1)
      if (to < next.to) todo.unshift({ from: to + 1, to: next.to })
      const logs = await this.#part(endpoint, { ...query, from, to })
      // After a refusal the whole range returns to the queue and is split by the smaller size.
      if (logs !== null) parts.push({ from, logs })
      else todo.splice(0, to < next.to ? 1 : 0, next)
    }
    return parts.sort((a, b) => a.from - b.from).flatMap(({ logs }) => logs)
  }

  /** Null when the range must be requested in shorter parts. */
  async #part(endpoint: Endpoint, query: PastQuery): Promise<readonly LogEntry[] | null> {
    const range = this.#rangeOf(endpoint)
    const blocks = query.to - query.from + 1
    try {
      const logs = await this.#ask(endpoint, query)
      if (blocks > 1 && (ROUND_CAPS.has(logs.length) || logs.length > MOST_LOGS.answer)) {
        range.refused(blocks, null)
        return null
      }
      this.#logs += logs.length
      if (this.#logs > MOST_LOGS.reading)
        throw new FeedError('ANSWER_TOO_LARGE', endpoint.name, `more than ${MOST_LOGS.reading} logs`)
      return logs
    } catch (error) {
      if (!isFeedError(error) || this.#signal.aborted || blocks === 1 || !isRangeLike(error)) throw error
      if (error.code === 'ANSWER_TOO_LARGE' && this.#logs > MOST_LOGS.reading) throw error
      range.refused(blocks, error.rpcMessage)
      return null
    }
  }

  async #ask(endpoint: Endpoint, query: PastQuery): Promise<readonly LogEntry[]> {
    const { from, to, topics, seconds, addresses } = query
    if (!endpoint.abilities.has(BY_RANGE))
      throw new FeedError('METHOD_MISSING', endpoint.name, 'it does not serve logs by block range')
    await this.#spend(endpoint, 1)
    const wanted = seconds === undefined ? [topics] : [topics, seconds]
    const filter = { fromBlock: hexOf(from), toBlock: hexOf(to), topics: wanted, address: addresses }
    let answer: unknown
    try {
      answer = await endpoint.request('eth_getLogs', [filter], this.#signal, 'history')
    } catch (error) {
      if (isFeedError(error, 'METHOD_MISSING')) endpoint.abilities.refused(BY_RANGE, error)
      throw error
    }
    if (!Array.isArray(answer))
      throw new FeedError('ANSWER_MALFORMED', endpoint.name, 'eth_getLogs did not answer with a list')
    const logs = decodeAnswer(endpoint.name, 'logs', () => answer.map(toLogEntry))
    const stray = logs.find(log => log.blockNumber < from || log.blockNumber > to)
    if (stray === undefined) return inOrder(logs)
    throw new FeedError(
      'BLOCK_REFUSED',
      endpoint.name,
      `requested logs of blocks ${from} to ${to}, received one of ${stray.blockNumber}`,
    )
  }

  /** Call before each request: takes from the budget and waits for the pace of an endpoint that is rate-limited. */
  async #spend(endpoint: Endpoint, calls: number): Promise<void> {
    if (calls > this.#left)
      throw new FeedError('ENDPOINT_BUSY', null, `a look-back may use at most ${MOST_CALLS} calls`)
    this.#left -= calls
    const { callsPerSecond } = endpoint
    if (Number.isFinite(callsPerSecond))
      await pause((3000 * calls) / Math.max(callsPerSecond, 0.1), this.#signal)
    this.#signal.throwIfAborted()
  }
}

const hexOf = (number: number): Hex => `0x${number.toString(16)}`

/** Most nodes list logs in order; some do not. */
const inOrder = (logs: readonly LogEntry[]): readonly LogEntry[] =>
  logs.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)

export const digestOf = (logs: readonly LogEntry[]): string =>
  logs.map(({ blockHash, logIndex }) => `${blockHash}/${logIndex}`).join()

function headerAt(endpoint: Endpoint, number: number, answer: unknown): PastHeader {
  const { hash, timestamp, number: said } = (answer ?? {}) as Readonly<Record<string, unknown>>
  const isGood =
    typeof hash === 'string' &&
    /^0x[0-9a-f]{64}$/i.test(hash) &&
    typeof timestamp === 'string' &&
    /^0x[0-9a-f]{1,12}$/i.test(timestamp) &&
    typeof said === 'string' &&
    Number(said) === number
  if (!isGood) throw new FeedError('ANSWER_MALFORMED', endpoint.name, `no header of block ${number}`)
  return { number, hash: hash.toLowerCase() as Hex, timeMs: Number(timestamp) * 1000 }
}
