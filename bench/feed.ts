/**
 * From the bytes of an answer to the records of a block, against JSON.parse, the lower bound, and against viem; and
 * the receipts root against @ethereumjs/mpt, and the hash in it against @noble/hashes.
 *
 * One block of 2,000 pool logs: half are v3 swaps, the others v2 syncs and swaps. Ours parses, checks that every log
 * is the block's own, and decodes; viem parses and decodes. Another block of as many has logs of a v4 manager, of
 * PancakeSwap v3 and of Algebra.
 */
import { createMPT } from '@ethereumjs/mpt'
import {
  type AbiParameter,
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  keccak256 as keccakOfViem,
  parseAbi,
  toEventSelector,
} from 'viem'
import { toRlp } from 'viem/utils'
import { keccak256 } from '../packages/server/ops/keccak.ts'
import { parseAnswer } from '../packages/server/feed/answers/answerReader.ts'
import { type ReceiptEntry, toReceiptEntry } from '../packages/server/feed/answers/entry.ts'
import { ownLogs } from '../packages/server/feed/proof/receiptsProof.ts'
import { encodeReceipt, receiptsRoot } from '../packages/server/feed/proof/receiptsRoot.ts'
import { integer } from '../packages/server/feed/proof/rlp.ts'
import { decodeBlock } from '../packages/server/market/decode.ts'
import type { Benchmark } from './benchmark.ts'

const LOGS = 2000
const RECEIPTS = 300
const POOLS = 200
const NUMBER = 21_000_000

const abi = parseAbi([
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
])
const v2Abi = parseAbi([
  'event Sync(uint112 reserve0, uint112 reserve1)',
  'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
])

const newerAbi = parseAbi([
  'event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)',
  'event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)',
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1)',
  'event Fee(uint16 fee)',
])

let state = 0x9e3779b9
/** Xorshift: the same numbers in every run. */
const draw = (below: number): number => {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) % below
}
const hex = (bytes: number): Hex =>
  `0x${Array.from({ length: bytes }, () => draw(256).toString(16).padStart(2, '0')).join('')}`
const big = (bytes: number): bigint => BigInt(hex(bytes))

const pools = Array.from({ length: POOLS }, () => hex(20))
const transactions = Array.from({ length: LOGS / 2 }, () => hex(32))
const header = { number: NUMBER, hash: hex(32), transactions }
const logs = Array.from({ length: LOGS }, (_, at) => logAt(at))
const bytes = bytesOf(logs)
const manager = hex(20)
const deployment = {
  deploymentId: 'v4',
  family: 'amm_v4',
  factoryAddress: manager,
  deploymentBlock: null,
  initCodeHash: null,
  wrappedNative: hex(20),
} as const
const ids = Array.from({ length: POOLS }, () => hex(32))
const newer = bytesOf(Array.from({ length: LOGS }, (_, at) => newerLogAt(at)))
const known = new Set<string>([...pools, ...ids])
const headers = Array.from({ length: RECEIPTS }, () => Buffer.from(hex(576).slice(2), 'hex'))
const receipts = Array.from({ length: RECEIPTS }, (_, at) => receiptAt(at))

export const benchmarks: readonly Benchmark[] = [
  {
    name: 'response bytes → decoded records, against JSON.parse',
    unit: 'log',
    goal: { ratio: 0.55, sense: 'at least' },
    check: checkRecords,
    ours: { name: 'ours', operations: LOGS, run: () => decodeOurs() },
    peer: { name: 'JSON.parse', operations: LOGS, run: () => JSON.parse(bytes.toString('utf8')) as unknown },
  },
  {
    name: 'response bytes → decoded records, against viem',
    unit: 'log',
    goal: { ratio: 20, sense: 'at least' },
    check: checkRecords,
    ours: { name: 'ours', operations: LOGS, run: () => decodeOurs() },
    peer: { name: 'viem decodeEventLog', operations: LOGS, run: () => decodeViem() },
  },
  {
    name: 'response bytes → decoded records of v4, Pancake and Algebra, against viem',
    unit: 'log',
    goal: { ratio: 20, sense: 'at least' },
    check: checkNewer,
    ours: { name: 'ours', operations: LOGS, run: () => decodeOurs(newer) },
    peer: { name: 'viem decodeEventLog', operations: LOGS, run: () => decodeViem(newer) },
  },
  {
    name: 'receipts root of 300 receipts',
    unit: 'receipt',
    goal: { ratio: 2, sense: 'at least' },
    check: async () => {
      const [ours, theirs] = [receiptsRoot(receipts), await rootByMpt()]
      if (ours !== theirs) throw new Error(`our root is ${ours}, that of @ethereumjs/mpt ${theirs}`)
    },
    ours: { name: 'ours', operations: RECEIPTS, run: () => receiptsRoot(receipts) },
    peer: { name: '@ethereumjs/mpt', operations: RECEIPTS, run: rootByMpt },
  },
  {
    name: 'keccak-256 of headers of 576 bytes',
    unit: 'hash',
    goal: { ratio: 2, sense: 'at least' },
    check: () => {
      for (const each of headers) {
        const ours = `0x${keccak256(each).toString('hex')}`
        if (ours !== keccakOfViem(each)) throw new Error(`our hash of ${each.toString('hex')} is ${ours}`)
      }
    },
    ours: { name: 'ours, in WebAssembly', operations: RECEIPTS, run: () => headers.map(keccak256) },
    peer: {
      name: '@noble/hashes in viem',
      operations: RECEIPTS,
      run: () => headers.map(each => keccakOfViem(each)),
    },
  },
]

function decodeOurs(answer = bytes): ReturnType<typeof decodeBlock> {
  const { result } = parseAnswer(answer, 'bench')
  const block = {
    ...header,
    timeMs: 0,
    parentHash: header.hash,
    proof: 'none',
    logs: ownLogs(header, result as readonly unknown[]),
  } as const
  return decodeBlock(
    [deployment],
    block,
    pool => (known.has(pool) ? 'UNTOLD' : null),
    () => false,
  )
}

type WireLog = { readonly topics: [Hex, ...Hex[]]; readonly data: Hex }

function decodeViem(answer = bytes): readonly unknown[] {
  const { result } = JSON.parse(answer.toString('utf8')) as { readonly result: readonly WireLog[] }
  return result.map(({ topics, data }) =>
    answer === newer
      ? decodeEventLog({ abi: newerAbi, topics, data })
      : decodeEventLog({ abi: topics.length === 3 && data.length === 322 ? abi : v2Abi, topics, data }),
  )
}

/** In a manager's log amounts have the opposite sign, and fees other names. */
function checkNewer(): void {
  const [ours, theirs] = [decodeOurs(newer), decodeViem(newer) as readonly { readonly args: Args }[]]
  if (ours.length !== theirs.length) throw new Error(`${ours.length} records, viem has ${theirs.length}`)
  for (const [at, { event, family }] of ours.entries()) {
    const args = theirs[at]?.args ?? {}
    for (const [name, value] of Object.entries(event)) {
      if (name === 'kind') continue
      const said = args[name] ?? args['fee'] ?? 0n
      const wanted = family === 'amm_v4' && name.startsWith('amount') ? -BigInt(said) : said
      if (String(value) !== String(wanted))
        throw new Error(`record ${at}: ${name} is ${String(value)}, viem has ${String(wanted)}`)
    }
  }
}
type Args = Readonly<Record<string, bigint | string | number>>

/** Amounts and prices are the same. */
function checkRecords(): void {
  const theirs = decodeViem() as readonly { readonly args: Readonly<Record<string, bigint | string>> }[]
  const ours = decodeOurs()
  if (ours.length !== theirs.length) throw new Error(`${ours.length} records, viem has ${theirs.length}`)
  for (const [at, { event }] of ours.entries())
    for (const [name, value] of Object.entries(event))
      if (name !== 'kind' && String(value) !== String(theirs[at]?.args[name]))
        throw new Error(
          `record ${at}: ${name} is ${String(value)}, viem has ${String(theirs[at]?.args[name])}`,
        )
}

async function rootByMpt(): Promise<string> {
  const trie = await createMPT()
  for (const [index, receipt] of receipts.entries())
    await trie.put(toRlp(integer(`0x${index.toString(16)}`), 'bytes'), encodeReceipt(receipt))
  return `0x${Buffer.from(trie.root()).toString('hex')}`
}

function bytesOf(result: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
}

/** Four logs: two swaps of v4, then a swap of Pancake and, alternating, a position of v4 and a fee of Algebra. */
function newerLogAt(at: number): object {
  const [id, tickOf] = [ids[draw(POOLS)] as Hex, () => draw(400_000) - 200_000]
  const [kind, values] =
    at % 4 < 2
      ? ([newerAbi[0], [-big(9), big(10), big(19), big(12), tickOf(), draw(10_000)]] as const)
      : at % 4 === 2
        ? ([newerAbi[2], [-big(9), big(10), big(19), big(12), tickOf(), big(4), 0n]] as const)
        : at % 8 === 3
          ? ([newerAbi[1], [tickOf(), tickOf(), -big(12), hex(32)]] as const)
          : ([newerAbi[3], [draw(15_000)]] as const)
  const isManaged = kind === newerAbi[0] || kind === newerAbi[1]
  const inputs = kind.inputs.filter(input => !('indexed' in input && input.indexed))
  const places = kind === newerAbi[3] ? [] : isManaged ? [id, word(hex(20))] : [word(hex(20)), word(hex(20))]
  return {
    ...logAt(at),
    address: isManaged ? manager : pools[draw(POOLS)],
    topics: [toEventSelector(kind), ...places],
    data: encodeAbiParameters(inputs as readonly AbiParameter[], values as readonly unknown[]),
  }
}

function word(address: Hex): Hex {
  return `0x${address.slice(2).padStart(64, '0')}`
}

function logAt(at: number): object {
  const [sender, to] = [hex(20), hex(20)]
  const [topics, data] =
    at % 4 < 2
      ? [
          encodeEventTopics({ abi, eventName: 'Swap', args: { sender, recipient: to } }),
          encodeAbiParameters(
            [
              { type: 'int256' },
              { type: 'int256' },
              { type: 'uint160' },
              { type: 'uint128' },
              { type: 'int24' },
            ],
            [-big(9), big(10), big(19), big(12), draw(400_000) - 200_000],
          ),
        ]
      : at % 4 === 2
        ? [
            encodeEventTopics({ abi: v2Abi, eventName: 'Sync' }),
            encodeAbiParameters([{ type: 'uint112' }, { type: 'uint112' }], [big(12), big(13)]),
          ]
        : [
            encodeEventTopics({ abi: v2Abi, eventName: 'Swap', args: { sender, to } }),
            encodeAbiParameters(
              [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }],
              [big(9), 0n, 0n, big(10)],
            ),
          ]
  return {
    address: pools[draw(POOLS)],
    topics,
    data,
    blockHash: header.hash,
    blockNumber: `0x${NUMBER.toString(16)}`,
    transactionHash: transactions[at >> 1],
    transactionIndex: `0x${(at >> 1).toString(16)}`,
    logIndex: `0x${at.toString(16)}`,
    removed: false,
  }
}

/** Two logs each, about as many as on chain 1. */
function receiptAt(at: number): ReceiptEntry {
  const place = {
    blockHash: header.hash,
    blockNumber: `0x${NUMBER.toString(16)}`,
    transactionHash: hex(32),
    transactionIndex: `0x${at.toString(16)}`,
  }
  return toReceiptEntry({
    ...place,
    type: `0x${at % 3}`,
    status: at % 9 === 0 ? '0x0' : '0x1',
    cumulativeGasUsed: `0x${(21_000 * (at + 1)).toString(16)}`,
    logsBloom: hex(256),
    logs: Array.from({ length: 2 }, (_, log) => ({
      ...place,
      logIndex: `0x${(2 * at + log).toString(16)}`,
      address: hex(20),
      topics: [hex(32), hex(32), hex(32)],
      data: hex(96),
    })),
  })
}
