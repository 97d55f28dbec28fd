/**
 * Tests what one endpoint supports, call by call over a connection of its own. A probe never throws because of an
 * answer: the answer is its finding.
 */
import { decodeAnswer, toCount, toFields, toHash } from '../feed/answers/answer.ts'
import type { Connection } from '../feed/transport/connection.ts'
import { isFeedError } from '../feed/feedError.ts'
import { isRevert } from '../feed/endpoints/stateReader.ts'
import type { ChainConfig } from '../config/config.ts'
import type { Hex } from '../ops/hex.ts'
import { type Check, fail, ok, sentenceOf, warn } from './check.ts'

export type Head = {
  readonly number: number
  readonly hash: Hex
  readonly timeMs: number
}

type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>

/** An address without activity: a probe of ranges should need no work from the node. */
export const QUIET = `0x${'dead'.repeat(10)}`
const RANGES = [1, 10, 100, 500, 1000, 2000, 5000, 10_000, 100_000] as const
const DEPTHS = [16, 64, 128, 1024, 10_000, 100_000, 1_000_000] as const
const PINGS = 5

export class Probes {
  readonly #chain: ChainConfig
  readonly #connection: Connection
  readonly #name: string
  readonly #ask: Ask

  constructor(chain: ChainConfig, name: string, connection: Connection, signal: AbortSignal) {
    this.#chain = chain
    this.#name = name
    this.#connection = connection
    this.#ask = (method, ...params) => connection.call(method, params, signal)
  }

  /** Throws when there is no JSON-RPC at the other end at all. */
  async chainId(): Promise<number> {
    const answer = await this.#ask('eth_chainId')
    return this.#decode('its chain id', () => toCount({ chainId: answer }, 'chainId'))
  }

  async genesis(): Promise<Check> {
    return this.#finding('genesis', 'use a node of this chain', async () => {
      const block =
        (await this.#ask('eth_getBlockByNumber', '0x0', false)) ??
        (await this.#ask('eth_getBlockByNumber', 'earliest', false))
      const hash = this.#decode('its first block', () => toHash(toFields(block), 'hash'))
      const { genesisHash, chainId } = this.#chain
      return hash === genesisHash
        ? ok('genesis', hash)
        : fail('genesis', hash, `chain ${chainId} begins with ${genesisHash}; use a node of that chain`)
    })
  }

  async head(): Promise<Head> {
    const block = await this.#ask('eth_getBlockByNumber', 'latest', false)
    return this.#decode('its head', () => {
      const fields = toFields(block)
      return {
        number: toCount(fields, 'number'),
        hash: toHash(fields, 'hash'),
        timeMs: toCount(fields, 'timestamp') * 1000,
      }
    })
  }

  /** R-health-1: late after 20 s or 8 blocks, useless after 120 s or 40. */
  age(head: Head, nowMs: number): Check {
    const { blockTimeMs } = this.#chain
    const ageMs = nowMs - head.timeMs
    const value = `block ${head.number}, ${(Math.max(0, ageMs) / 1000).toFixed(0)} s old`
    if (ageMs > Math.max(120_000, 40 * blockTimeMs))
      return fail('head', value, 'the node is behind or still syncing; wait for it, or use another')
    if (ageMs > Math.max(20_000, 8 * blockTimeMs))
      return warn('head', value, 'the node lags; if that persists, use another')
    return ok('head', value)
  }

  async finality(head: Head): Promise<Check> {
    const tags: string[] = []
    for (const tag of ['finalized', 'safe'])
      try {
        const block = await this.#ask('eth_getBlockByNumber', tag, false)
        if (block === null) continue
        const number = this.#decode(`its ${tag} block`, () => toCount(toFields(block), 'number'))
        tags.push(`${tag} ${head.number - number} blocks back`)
      } catch (error) {
        if (!isFeedError(error)) throw error
      }
    const value = tags.length === 0 ? 'no tags' : tags.join(', ')
    const hasTag = tags.some(each => each.startsWith('finalized'))
    return hasTag || this.#chain.finality.kind === 'depth'
      ? ok('finality', value)
      : warn(
          'finality',
          value,
          'set finality: { depth: N } for this chain, or use a node that supports the tag',
        )
  }

  /** The longest range that is answered; any error ends the search, whatever its wording. */
  async logs(head: Head): Promise<Check> {
    let widest = 0
    let refusal = ''
    for (const range of RANGES) {
      if (range > head.number + 1) break
      try {
        const filter = {
          address: QUIET,
          fromBlock: `0x${(head.number - range + 1).toString(16)}`,
          toBlock: `0x${head.number.toString(16)}`,
        }
        const answer = await this.#ask('eth_getLogs', filter)
        if (!Array.isArray(answer)) break
        widest = range
      } catch (error) {
        if (!isFeedError(error)) throw error
        refusal = sentenceOf(error)
        break
      }
    }
    if (widest > 0)
      return ok('logs', `ranges of ${widest} blocks${refusal === '' ? ' and perhaps more' : ''}`)
    return warn(
      'logs',
      refusal,
      'it can follow the head but not back-fill; use a node with eth_getLogs for that',
    )
  }

  async archive(head: Head): Promise<Check> {
    let deepest = 0
    const depths = [...DEPTHS.filter(depth => depth < head.number), head.number]
    for (const depth of depths)
      try {
        await this.#ask('eth_getBalance', QUIET, `0x${(head.number - depth).toString(16)}`)
        deepest = depth
      } catch (error) {
        if (!isFeedError(error)) throw error
        break
      }
    return ok(
      'archive',
      deepest === head.number
        ? 'state of every block'
        : deepest === 0
          ? `state of fewer than the last ${depths[0]} blocks`
          : `state of the last ${deepest} blocks at least`,
    )
  }

  async heads(signal: AbortSignal): Promise<Check> {
    const { subscribe } = this.#connection
    if (subscribe === null) return ok('heads', 'polled (HTTP)')
    try {
      await subscribe(() => undefined, signal)
      return ok('heads', 'pushed')
    } catch (error) {
      if (!isFeedError(error)) throw error
      return warn(
        'heads',
        sentenceOf(error),
        'heads are polled; use a node with eth_subscribe for less delay',
      )
    }
  }

  async latency(clock: { monotonicMs(): number }): Promise<Check> {
    const times: number[] = []
    return this.#finding('latency', 'the endpoint fails under a few calls; use another', async () => {
      for (let n = 0; n < PINGS; n++) {
        const startedMs = clock.monotonicMs()
        await this.#ask('eth_blockNumber')
        times.push(clock.monotonicMs() - startedMs)
      }
      const median = times.sort((a, b) => a - b)[PINGS >> 1] as number
      const value = `${median < 10 ? median.toFixed(1) : median.toFixed(0)} ms`
      return median > this.#chain.blockTimeMs
        ? warn('latency', value, 'slower than the block time of the chain; use a closer node')
        : ok('latency', value)
    })
  }

  /** Whether there is code at an address; null when the node does not answer. */
  async hasCode(address: Hex, head: Head): Promise<boolean | null> {
    try {
      return (await this.#ask('eth_getCode', address, { blockHash: head.hash })) !== '0x'
    } catch (error) {
      if (!isFeedError(error)) throw error
      return null
    }
  }

  /**
   * The result of a contract call; null when the contract returns none. Throws a FeedError when the node does not
   * answer.
   */
  async call(to: Hex, data: Hex, head: Pick<Head, 'hash'>): Promise<Hex | null> {
    try {
      return (await this.#ask('eth_call', { to, data }, { blockHash: head.hash })) as Hex
    } catch (error) {
      if (isRevert(error)) return null
      throw error
    }
  }

  async #finding(name: Check['name'], fix: string, probe: () => Promise<Check>): Promise<Check> {
    try {
      return await probe()
    } catch (error) {
      if (!isFeedError(error)) throw error
      return fail(name, sentenceOf(error), fix)
    }
  }

  #decode<Result>(what: string, decode: () => Result): Result {
    return decodeAnswer(this.#name, what, decode, 'ANSWER_MALFORMED')
  }
}
