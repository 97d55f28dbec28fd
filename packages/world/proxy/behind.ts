/**
 * Answers of a node that has not seen the newest blocks yet: its head and tags are lower, newer blocks and their
 * transactions are unknown, and reading state at an unknown block fails. Every answer comes from the up-to-date node,
 * asked for an older block, so no block is ever invented.
 */
import type { RpcAnswer, RpcCall } from './rule.ts'

type Ask = (call: RpcCall) => Promise<RpcAnswer>
type Params = readonly unknown[]

/** Tags for the newest block; `safe` and `finalized` move down by the same number of blocks. */
const HEAD_TAGS = new Set(['latest', 'pending'])
const LOWER_TAGS = new Set(['safe', 'finalized'])

/** Index of the block parameter. */
const BLOCK_AT: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_getBlockByHash: 0,
  eth_getBlockReceipts: 0,
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_getProof: 2,
}
/** These answer null for an unknown block; the others read state and fail. */
const OF_BLOCKS = new Set(['eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getBlockReceipts'])
const OF_TRANSACTIONS = new Set(['eth_getTransactionByHash', 'eth_getTransactionReceipt'])

const NOTHING: RpcAnswer = { result: null }
const NO_STATE: RpcAnswer = { error: { code: -32_000, message: 'header not found' } }
const NO_BLOCK: RpcAnswer = { error: { code: -32_000, message: 'unknown block' } }

export async function answerBehind(call: RpcCall, blocks: number, ask: Ask): Promise<RpcAnswer> {
  const node = new LateNode(blocks, ask)
  const { method, params } = call
  if (method === 'eth_blockNumber') return { result: hex(await node.head()) }
  if (method === 'eth_getLogs') return logs(call, node, ask)
  if (OF_TRANSACTIONS.has(method)) {
    const answer = await ask(call)
    const number = (answer.result as { readonly blockNumber?: string | null } | null)?.blockNumber
    return typeof number === 'string' && Number(number) > (await node.head()) ? NOTHING : answer
  }
  const at = BLOCK_AT[method]
  if (at === undefined || params.length <= at) return ask(call)
  const block = await node.resolve(params[at])
  if (block === 'unknown') return OF_BLOCKS.has(method) ? NOTHING : NO_STATE
  return ask({ ...call, params: params.with(at, block) })
}

/** A range is cut at the head and a range above it is empty; the answer does not say that blocks are missing. */
async function logs(call: RpcCall, node: LateNode, ask: Ask): Promise<RpcAnswer> {
  const [filter] = call.params as readonly [Readonly<Record<string, unknown>>]
  const changed: Record<string, unknown> = { ...filter }
  if (filter['blockHash'] !== undefined)
    return (await node.resolve(filter['blockHash'])) === 'unknown' ? NO_BLOCK : ask(call)
  for (const end of ['fromBlock', 'toBlock']) {
    const block = await node.resolve(filter[end] ?? 'latest')
    if (block === 'unknown' && end === 'fromBlock') return { result: [] }
    changed[end] = block === 'unknown' ? hex(await node.head()) : block
  }
  return ask({ ...call, params: [changed] })
}

class LateNode {
  readonly #blocks: number
  readonly #ask: Ask
  #head: Promise<number> | null = null

  constructor(blocks: number, ask: Ask) {
    this.#blocks = blocks
    this.#ask = ask
  }

  head(): Promise<number> {
    this.#head ??= this.#fetch('eth_blockNumber', []).then(number => this.#lower(Number(number)))
    return this.#head
  }

  /** The block parameter to ask the up-to-date node with, or `unknown`. */
  async resolve(block: unknown): Promise<unknown> {
    if (typeof block === 'object' && block !== null) {
      const { blockHash, blockNumber } = block as {
        readonly blockHash?: string
        readonly blockNumber?: string
      }
      return (await this.resolve(blockHash ?? blockNumber)) === 'unknown' ? 'unknown' : block
    }
    if (typeof block !== 'string') return block
    if (HEAD_TAGS.has(block)) return hex(await this.head())
    if (LOWER_TAGS.has(block)) {
      const number = await this.#numberOf('eth_getBlockByNumber', block)
      return number === null ? block : hex(this.#lower(number))
    }
    if (!block.startsWith('0x')) return block
    const number = block.length < 66 ? Number(block) : await this.#numberOf('eth_getBlockByHash', block)
    return number !== null && number > (await this.head()) ? 'unknown' : block
  }

  #lower(number: number): number {
    return Math.max(0, number - this.#blocks)
  }

  async #numberOf(method: string, block: string): Promise<number | null> {
    const found = (await this.#fetch(method, [block, false])) as
      | { readonly number?: string }
      | null
      | undefined
    return found?.number === undefined ? null : Number(found.number)
  }

  async #fetch(method: string, params: Params): Promise<unknown> {
    return (await this.#ask({ id: 0, method, params })).result
  }
}

const hex = (number: number): string => `0x${number.toString(16)}`
