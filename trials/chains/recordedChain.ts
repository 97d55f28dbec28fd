/**
 * A chain whose blocks were made beforehand: their receipts are in a file, and a block exists from its announcement on.
 * It answers what the service asks of a node.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import type { Hex } from '../../packages/server/ops/hex.ts'
import { BlockMaker, hex, HASH_HERE, type MadeBlock, seal, type SealedBlock } from './blockMaker.ts'
import { Contracts } from './contracts.ts'
import type { MarketPlan } from './plan.ts'

/** A block whose receipts are in the file. */
type Recorded = MadeBlock & { readonly receipts: ''; readonly at: number; readonly bytes: number }
type Answer =
  | { readonly json: string }
  | { readonly error: { readonly code: number; readonly message: string } }
type Log = { readonly address: string; readonly topics: readonly string[] }
type Filter = {
  readonly blockHash?: string
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly address?: string | readonly string[]
  readonly topics?: readonly (string | readonly string[] | null)[]
}

/** Blocks below the head are final from this depth on. */
const FINAL_DEPTH = 64
const NO_PARENT: Hex = `0x${'00'.repeat(32)}`
const REVERTED = { code: 3, message: 'execution reverted' }
const UNKNOWN_BLOCK = { code: -32_000, message: 'header not found' }
const UNKNOWN_METHOD = { code: -32_601, message: 'the method does not exist' }
const MOST_LOG_BLOCKS = 2000

export class RecordedChain {
  readonly plan: MarketPlan
  readonly #file: number
  readonly #recorded: Recorded[] = []
  readonly #sealed: SealedBlock[] = []
  readonly #byHash = new Map<string, SealedBlock>()
  readonly #contracts: Contracts

  constructor(plan: MarketPlan, path: string, blocks: number) {
    this.plan = plan
    this.#file = openSync(path, 'w+')
    this.#contracts = new Contracts(plan, Math.floor(Date.now() / 1000))
    const maker = new BlockMaker(plan)
    for (let at = 0; this.#recorded.length < blocks; ) {
      const block = maker.next()
      const bytes = writeSync(this.#file, block.receipts, at)
      this.#recorded.push({ ...block, receipts: '', at, bytes })
      this.#contracts.note(block)
      at += bytes
    }
  }

  /** The next block, announced now; null when all of them are. */
  announce(timeS: number): SealedBlock | null {
    const block = this.#recorded[this.#sealed.length]
    if (block === undefined) return null
    const sealed = seal(block, this.#sealed.at(-1)?.hash ?? NO_PARENT, timeS)
    this.#sealed.push(sealed)
    this.#byHash.set(sealed.hash, sealed)
    return sealed
  }

  get genesisHash(): Hex {
    return (this.#sealed[0] as SealedBlock).hash
  }

  answer(method: string, params: readonly unknown[]): Answer {
    const [first, second, third] = params
    switch (method) {
      case 'eth_chainId':
        return said(hex(this.plan.rate.chainId))
      case 'eth_blockNumber':
        return said(hex(this.#head.number))
      case 'eth_gasPrice':
        return said('0x7')
      case 'web3_clientVersion':
        return said('recorded/1')
      case 'eth_getBlockByHash':
      case 'eth_getBlockByNumber':
        return { json: this.#find(first)?.header ?? 'null' }
      case 'eth_getBlockReceipts': {
        const block = this.#find(first)
        return { json: block === null ? 'null' : this.#receiptsOf(block) }
      }
      case 'eth_getLogs':
        return this.#logs(first as Filter)
      case 'eth_getCode': {
        const block = this.#find(second)
        return block === null
          ? { error: UNKNOWN_BLOCK }
          : said(this.#contracts.hasCode(String(first)) ? '0x01' : '0x')
      }
      case 'eth_call': {
        // No simulation: what is deployed for one call is not there.
        if (third !== undefined)
          return { error: { code: -32_602, message: 'state overrides are not supported' } }
        const block = this.#find(second)
        if (block === null) return { error: UNKNOWN_BLOCK }
        const { to, data } = first as { readonly to: string; readonly data: string }
        const answer = this.#contracts.call(to, data, block.number)
        return answer === null ? { error: REVERTED } : said(answer)
      }
      default:
        return { error: UNKNOWN_METHOD }
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  get #head(): SealedBlock {
    return this.#sealed.at(-1) as SealedBlock
  }

  /** By tag, number or hash, also as an object. */
  #find(block: unknown): SealedBlock | null {
    const head = this.#head.number
    if (block === 'latest' || block === 'pending') return this.#head
    if (block === 'finalized' || block === 'safe')
      return this.#sealed[Math.max(0, head - FINAL_DEPTH)] ?? null
    if (block === 'earliest') return this.#sealed[0] ?? null
    if (typeof block === 'object' && block !== null) {
      const { blockHash, blockNumber } = block as {
        readonly blockHash?: string
        readonly blockNumber?: string
      }
      return this.#find(blockHash ?? blockNumber)
    }
    const text = String(block)
    return text.length === HASH_HERE.length
      ? (this.#byHash.get(text) ?? null)
      : (this.#sealed[Number(text)] ?? null)
  }

  #receiptsOf({ number, hash: own }: SealedBlock): string {
    const { at, bytes } = this.#recorded[number] as Recorded
    const text = Buffer.allocUnsafe(bytes)
    readSync(this.#file, text, 0, bytes, at)
    return text.toString('latin1').replaceAll(HASH_HERE, own)
  }

  #logs({ blockHash, fromBlock, toBlock, address, topics = [] }: Filter): Answer {
    const from = this.#find(blockHash ?? fromBlock ?? 'latest')
    const to = this.#find(blockHash ?? toBlock ?? 'latest')
    if (from === null || to === null) return { error: UNKNOWN_BLOCK }
    if (to.number - from.number >= MOST_LOG_BLOCKS)
      return { error: { code: -32_602, message: `a range has at most ${MOST_LOG_BLOCKS} blocks` } }
    const found = this.#sealed
      .slice(from.number, to.number + 1)
      .flatMap(block =>
        (JSON.parse(this.#receiptsOf(block)) as { readonly logs: readonly Log[] }[])
          .flatMap(({ logs }) => logs)
          .filter(
            log =>
              isWanted(address ?? null, log.address) &&
              topics.every((wanted, at) => isWanted(wanted, log.topics[at] ?? '')),
          ),
      )
    return { json: JSON.stringify(found) }
  }
}

const said = (result: string): Answer => ({ json: JSON.stringify(result) })

function isWanted(wanted: string | readonly string[] | null, value: string): boolean {
  if (wanted === null) return true
  return typeof wanted === 'string'
    ? wanted.toLowerCase() === value
    : wanted.some(each => each.toLowerCase() === value)
}
