/**
 * Makes the blocks of a chain beforehand: random swaps in its pairs, with the receipts, bloom and receipts root that
 * prove them. A block gets its time, and with it its hash, when it is announced (`seal`); until then its receipts have
 * `HASH_HERE` in place of the hash.
 */
import { Random } from '@assay/world'
import { bloomOf } from '../../packages/server/feed/proof/bloom.ts'
import { orderedTrieRoot } from '../../packages/server/feed/proof/orderedTrie.ts'
import { encodeRlp, integer } from '../../packages/server/feed/proof/rlp.ts'
import { TOPIC } from '../../packages/server/market/v2/v2.ts'
import { encodeInt } from '../../packages/server/market/abiWords.ts'
import type { Address, Hex } from '../../packages/server/ops/hex.ts'
import { keccak256 } from '../../packages/server/ops/keccak.ts'
import { addressOf, hash, type MarketPlan, topic } from './plan.ts'

type Log = { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex }
type Reserves = readonly [bigint, bigint]

export type MadeBlock = {
  readonly number: number
  readonly receiptsRoot: Hex
  readonly bloom: Hex
  readonly gasUsed: Hex
  readonly transactions: readonly Hex[]
  /** The receipts as JSON, with `HASH_HERE` for the hash of the block. */
  readonly receipts: string
  /** Pairs that changed, with their reserves after the block. */
  readonly changed: ReadonlyMap<Address, Reserves>
}

export type SealedBlock = {
  readonly number: number
  readonly hash: Hex
  readonly timeS: number
  readonly header: string
}

export const HASH_HERE: Hex = hash('the hash of the block')

const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const EMPTY_BLOOM: Hex = `0x${'00'.repeat(256)}`
const NO_HASH: Hex = `0x${'00'.repeat(32)}`
const NOBODY: Address = `0x${'00'.repeat(20)}`
const GAS = 120_000
/** Largest part of a reserve that a swap sells, in millionths. */
const MOST_SOLD_PPM = 200
const LOGS_OF_A_TRANSFER = 2

export class BlockMaker {
  readonly #plan: MarketPlan
  readonly #random: Random
  readonly #reserves: Map<Address, Reserves>
  readonly #trader: Address
  #number = 0

  constructor(plan: MarketPlan) {
    this.#plan = plan
    this.#random = new Random(plan.rate.chainId, 'soak:chains')
    this.#reserves = new Map(plan.pairs.map(({ address, reserves }) => [address, reserves]))
    this.#trader = addressOf(`${plan.rate.chainId}/trader`)
  }

  /** The first has the number 0 and no receipts. */
  next(): MadeBlock {
    const number = this.#number++
    const { swapsPerBlock, otherLogsPerBlock } = this.#plan.rate
    const changed = new Map<Address, Reserves>()
    const isEmpty = number === 0
    const transactions = [
      ...Array.from({ length: isEmpty ? 0 : swapsPerBlock }, () => this.#swap(changed)),
      ...Array.from({ length: isEmpty ? 0 : otherLogsPerBlock / LOGS_OF_A_TRANSFER }, () =>
        this.#transfers(),
      ),
    ]
    const encoded = transactions.map((logs, at) => encodeReceipt(logs, GAS * (at + 1)))
    const hashes = transactions.map((_, at) => hash(`${this.#plan.rate.chainId}/${number}/${at}`))
    return {
      number,
      receiptsRoot: orderedTrieRoot(encoded.length, at => encoded[at] as Uint8Array),
      bloom: bloomOf(transactions.flat()),
      gasUsed: hex(GAS * transactions.length),
      transactions: hashes,
      receipts: JSON.stringify(receiptsOf(number, transactions, hashes)),
      changed,
    }
  }

  /** The logs of a swap: the tokens move, then the pair says so. */
  #swap(changed: Map<Address, Reserves>): readonly Log[] {
    const { address, tokens } = this.#random.pick(this.#plan.pairs)
    const [reserve0, reserve1] = this.#reserves.get(address) as Reserves
    const isZeroSold = this.#random.chance(1, 2)
    const [from, to] = isZeroSold ? [reserve0, reserve1] : [reserve1, reserve0]
    const sold = (from * BigInt(this.#random.integer(1, MOST_SOLD_PPM))) / 1_000_000n
    const bought = (sold * 997n * to) / (from * 1000n + sold * 997n)
    const after: Reserves = isZeroSold
      ? [reserve0 + sold, reserve1 - bought]
      : [reserve0 - bought, reserve1 + sold]
    this.#reserves.set(address, after)
    changed.set(address, after)
    const [tokenIn, tokenOut] = isZeroSold ? tokens : ([tokens[1], tokens[0]] as const)
    const amounts = isZeroSold ? [sold, 0n, 0n, bought] : [0n, sold, bought, 0n]
    return [
      transfer(tokenIn, this.#trader, address, sold),
      transfer(tokenOut, address, this.#trader, bought),
      { address, topics: [TOPIC.sync], data: words(after) },
      { address, topics: [TOPIC.swap, topic(this.#trader), topic(this.#trader)], data: words(amounts) },
    ]
  }

  #transfers(): readonly Log[] {
    return Array.from({ length: LOGS_OF_A_TRANSFER }, () => {
      const [token, from, to] = ['other token', 'holder', 'holder'].map(kind =>
        addressOf(`${kind} ${this.#random.integer(1, 200)}`),
      ) as [Address, Address, Address]
      return transfer(token, from, to, BigInt(this.#random.integer(1, 1_000_000_000)))
    })
  }
}

/** The header of a block whose parent and time are known. */
export function seal(block: MadeBlock, parentHash: Hex, timeS: number): SealedBlock {
  const fields = {
    parentHash,
    sha3Uncles: hash('uncles'),
    miner: NOBODY,
    stateRoot: hash(`state ${block.number}`),
    transactionsRoot: hash(`transactions ${block.number}`),
    receiptsRoot: block.receiptsRoot,
    logsBloom: block.bloom,
    difficulty: '0x0',
    number: hex(block.number),
    gasLimit: hex(GAS * 1000),
    gasUsed: block.gasUsed,
    timestamp: hex(timeS),
    extraData: '0x',
    mixHash: NO_HASH,
    nonce: '0x0000000000000000',
    baseFeePerGas: '0x7',
  } as const
  const integers: readonly string[] = [
    'difficulty',
    'number',
    'gasLimit',
    'gasUsed',
    'timestamp',
    'baseFeePerGas',
  ]
  const encoded = encodeRlp(
    Object.entries(fields).map(([name, value]) => (integers.includes(name) ? integer(value) : value)),
  )
  const own: Hex = `0x${keccak256(encoded).toString('hex')}`
  const { transactions } = block
  const header = JSON.stringify({ ...fields, hash: own, size: '0x400', uncles: [], transactions })
  return { number: block.number, hash: own, timeS, header }
}

export const hex = (value: number): Hex => `0x${value.toString(16)}`

const words = (values: readonly bigint[]): Hex => `0x${values.map(encodeInt).join('')}`

const transfer = (token: Address, from: Address, to: Address, amount: bigint): Log => ({
  address: token,
  topics: [TRANSFER, topic(from), topic(to)],
  data: words([amount]),
})

/** EIP-2718, type 2: status, cumulative gas, bloom, logs. Its own bloom is left empty, as every receipt's here. */
function encodeReceipt(logs: readonly Log[], cumulativeGas: number): Uint8Array {
  const list = logs.map(({ address, topics, data }) => [address, topics, data])
  return Buffer.concat([
    Uint8Array.of(2),
    encodeRlp(['0x01', integer(hex(cumulativeGas)), EMPTY_BLOOM, list]),
  ])
}

function receiptsOf(
  number: number,
  transactions: readonly (readonly Log[])[],
  hashes: readonly Hex[],
): object[] {
  let logIndex = 0
  return transactions.map((logs, at) => {
    const place = {
      blockHash: HASH_HERE,
      blockNumber: hex(number),
      transactionHash: hashes[at],
      transactionIndex: hex(at),
    }
    return {
      ...place,
      type: '0x2',
      status: '0x1',
      cumulativeGasUsed: hex(GAS * (at + 1)),
      gasUsed: hex(GAS),
      effectiveGasPrice: '0x7',
      from: NOBODY,
      to: logs[0]?.address,
      contractAddress: null,
      logsBloom: EMPTY_BLOOM,
      logs: logs.map(log => ({ ...place, ...log, logIndex: hex(logIndex++), removed: false })),
    }
  })
}
