/**
 * Writes blocks of a chain to files: header and receipts, each with exactly the text of the result an endpoint
 * returned. `npm run test:blocks` runs them through the verifier.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../feed/conditionVariable.ts'
import { FeedError, isFeedError } from '../feed/feedError.ts'
import type { ChainConfig } from '../config/config.ts'
import { openRaw, type RawEndpoint } from './rawEndpoint.ts'

export type CaptureProgress = {
  readonly chain_id: number
  readonly from_block: number
  readonly to_block: number
  readonly next_block: number
  readonly written: number
  /** Files that already existed with the same text. */
  readonly same: number
  /** Files that already existed with another text; they are not overwritten. */
  readonly differing: readonly string[]
}

type Range = { readonly from: number; readonly to: number }
type Pair = { readonly block: string; readonly receipts: string }

/** Waits between attempts on a busy or unreachable endpoint; then the next endpoint is used. */
const WAITS_MS = [500, 2000, 8000] as const
/** Limit on a Retry-After that is honoured. */
const MOST_WAIT_MS = 60_000

const RETRIED = ['ENDPOINT_LIMITED', 'ENDPOINT_STATUS', 'ENDPOINT_TIMEOUT', 'ENDPOINT_UNREACHABLE'] as const

/** Throws a FeedError when no endpoint gives a block. Files written before that stay. */
export async function captureBlocks(
  chain: ChainConfig,
  { from, to }: Range,
  folder: string,
  signal: AbortSignal,
  onProgress: (progress: CaptureProgress) => void,
): Promise<CaptureProgress> {
  const { chainId } = chain
  makeFolder(folder)
  const endpoints = chain.endpoints.map(openRaw)
  let [written, same] = [0, 0]
  const differing: string[] = []
  const progress = (next_block: number): CaptureProgress => ({
    chain_id: chainId,
    from_block: from,
    to_block: to,
    next_block,
    written,
    same,
    differing: [...differing],
  })
  const source = new Source(chain, endpoints, signal)
  try {
    for (let number = from; number <= to; number++) {
      const pair = await source.fetch(number)
      for (const kind of ['block', 'receipts'] as const) {
        const name = `${chainId}-${number}-${kind}.json`
        const outcome = keep(join(folder, name), pair[kind])
        if (outcome === 'differs') differing.push(name)
        else if (outcome === 'same') same++
        else written++
      }
      onProgress(progress(number + 1))
    }
    return progress(to + 1)
  } finally {
    for (const endpoint of endpoints) endpoint.close()
  }
}

function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
    throw new Error(`${folder} is a file; name a folder`)
  mkdirSync(folder, { recursive: true })
}

function keep(file: string, text: string): 'written' | 'same' | 'differs' {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined)
    return readFileSync(file, 'utf8') === text ? 'same' : 'differs'
  // Complete or not at all, even if the process is killed.
  writeFileSync(`${file}.part`, text)
  renameSync(`${file}.part`, file)
  return 'written'
}

/** Uses one endpoint after another. Header and receipts of a block always come from the same one. */
class Source {
  readonly #chain: ChainConfig
  readonly #endpoints: readonly RawEndpoint[]
  readonly #signal: AbortSignal
  readonly #checked = new Set<RawEndpoint>()
  /** Endpoints that refused eth_getBlockReceipts. */
  readonly #byTransaction = new Set<RawEndpoint>()

  constructor(chain: ChainConfig, endpoints: readonly RawEndpoint[], signal: AbortSignal) {
    this.#chain = chain
    this.#endpoints = endpoints
    this.#signal = signal
  }

  async fetch(number: number): Promise<Pair> {
    let last: unknown = null
    for (const endpoint of this.#endpoints)
      try {
        await this.#check(endpoint)
        return await this.#pair(endpoint, number)
      } catch (error) {
        if (!isFeedError(error) || this.#signal.aborted) throw error
        last = error
      }
    throw last
  }

  async #check(endpoint: RawEndpoint): Promise<void> {
    if (this.#checked.has(endpoint)) return
    const received = Number(JSON.parse(await this.#ask(endpoint, 'eth_chainId')))
    const { chainId } = this.#chain
    if (received !== chainId)
      throw new FeedError('ENDPOINT_IDENTITY', endpoint.name, `it serves chain ${received}, not ${chainId}`)
    this.#checked.add(endpoint)
  }

  async #pair(endpoint: RawEndpoint, number: number): Promise<Pair> {
    const block = await this.#ask(endpoint, 'eth_getBlockByNumber', `0x${number.toString(16)}`, false)
    const header = JSON.parse(block) as { hash?: unknown; number?: unknown; transactions?: unknown } | null
    if (header === null)
      throw new FeedError('BLOCK_UNKNOWN', endpoint.name, `it does not know block ${number}`)
    const { hash, transactions } = header
    if (Number(header.number) !== number || typeof hash !== 'string' || !Array.isArray(transactions))
      throw new FeedError(
        'ANSWER_MALFORMED',
        endpoint.name,
        `the response for block ${number} is a different block`,
      )
    return { block, receipts: await this.#receipts(endpoint, hash, transactions as readonly string[]) }
  }

  async #receipts(endpoint: RawEndpoint, hash: string, transactions: readonly string[]): Promise<string> {
    if (!this.#byTransaction.has(endpoint))
      try {
        const receipts = await this.#ask(endpoint, 'eth_getBlockReceipts', hash)
        if (receipts.startsWith('[')) return receipts
        this.#byTransaction.add(endpoint)
      } catch (error) {
        // Any refusal counts, whatever its code or text: receipts by transaction may still work.
        if (!isFeedError(error, 'RPC_ERROR', 'ENDPOINT_STATUS', 'ANSWER_MALFORMED')) throw error
        this.#byTransaction.add(endpoint)
      }
    const receipts: string[] = []
    for (const each of transactions) {
      const receipt = await this.#ask(endpoint, 'eth_getTransactionReceipt', each)
      if (!receipt.startsWith('{'))
        throw new FeedError('BLOCK_UNKNOWN', endpoint.name, `it has no receipt of transaction ${each}`)
      receipts.push(receipt)
    }
    return `[${receipts.join(',')}]`
  }

  async #ask(endpoint: RawEndpoint, method: string, ...params: readonly unknown[]): Promise<string> {
    for (const waitMs of [...WAITS_MS, null])
      try {
        return await endpoint.call(method, params, this.#signal)
      } catch (error) {
        if (waitMs === null || !isFeedError(error, ...RETRIED)) throw error
        await pause(Math.min(error.retryAfterMs ?? waitMs, MOST_WAIT_MS), this.#signal)
        this.#signal.throwIfAborted()
      }
    throw new FeedError('NO_ENDPOINT', null, 'no endpoint is available')
  }
}
