/** The recorded chains of `npm run soak:chains`: what they serve is a provable chain, and its calls agree with its logs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { concat, decodeFunctionResult, encodeFunctionData, type Hex, keccak256, parseAbi, toRlp } from 'viem'
import { FIRST_FIELDS, headerItem, rlpInteger, rootOf } from '../../packages/server/feed/testing/rlpBlock.ts'
import { MULTICALL3 } from '../../packages/server/market/multicall.ts'
import { marketOf, type MarketPlan, type PairPlan, RATES } from './plan.ts'
import { RecordedChain } from './recordedChain.ts'
import { type Sample, verdictOf } from './verdict.ts'

const BLOCKS = 70
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
const MULTICALL = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) view returns (Result[])',
])
const PAIR = parseAbi([
  'function getReserves() view returns (uint256, uint256, uint256)',
  'function fee() view returns (uint256)',
])

type Block = Readonly<Record<string, Hex>> & { readonly transactions: readonly Hex[] }
type Log = {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockHash: Hex
}
type Receipt = {
  readonly type: Hex
  readonly status: Hex
  readonly cumulativeGasUsed: Hex
  readonly logsBloom: Hex
  readonly logs: readonly Log[]
}

const folder = mkdtempSync(join(tmpdir(), 'assay-recorded-'))
const plan: MarketPlan = marketOf({ chainId: 56, blocksPerSecond: 2, swapsPerBlock: 5, otherLogsPerBlock: 6 })
const chain = new RecordedChain(plan, join(folder, 'receipts'), BLOCKS)
for (let at = 0; at < BLOCKS; at++) chain.announce(1000 + at)
afterAll(() => {
  chain.close()
  rmSync(folder, { recursive: true, force: true })
})

function asked<Result>(method: string, ...params: readonly unknown[]): Result {
  const answer = chain.answer(method, params)
  if ('error' in answer) throw new Error(answer.error.message)
  return JSON.parse(answer.json) as Result
}
const blockAt = (number: number) => asked<Block>('eth_getBlockByNumber', `0x${number.toString(16)}`, false)
const receiptsAt = (number: number) =>
  asked<readonly Receipt[]>('eth_getBlockReceipts', blockAt(number)['hash'])

test('headers give their hashes, and each names the one before', () => {
  for (let number = 1; number < 5; number++) {
    const block = blockAt(number)
    const field = (name: string) => block[name] as Hex
    const list = [...FIRST_FIELDS, 'baseFeePerGas'].map(name => headerItem(name, field(name)))
    expect(keccak256(toRlp(list))).toBe(block['hash'])
    expect(block['parentHash']).toBe(blockAt(number - 1)['hash'])
  }
})

test('receipts give the root in the header, by an independent trie, and carry its hash', async () => {
  const receipts = receiptsAt(3)
  const values = receipts.map(({ type, status, cumulativeGasUsed, logsBloom, logs }) => {
    const list = logs.map(({ address, topics, data }) => [address, topics, data] as const)
    return concat([
      rlpInteger(type),
      toRlp([status, rlpInteger(cumulativeGasUsed), logsBloom, list as never]),
    ])
  })
  expect(await rootOf(values)).toBe(blockAt(3)['receiptsRoot'])
  const hashes = new Set(receipts.flatMap(({ logs }) => logs.map(({ blockHash }) => blockHash)))
  expect([...hashes]).toEqual([blockAt(3)['hash']])
})

test('reserves at a block are those of the last log up to it', () => {
  const { address } = plan.pairs[0] as PairPlan
  const last = Array.from({ length: BLOCKS - 20 }, (_, number) => receiptsAt(number))
    .flatMap(receipts => receipts.flatMap(({ logs }) => logs))
    .findLast(log => log.address === address && log.topics[0] === SYNC)
  const calls = [
    encodeFunctionData({ abi: PAIR, functionName: 'getReserves' }),
    encodeFunctionData({ abi: PAIR, functionName: 'fee' }),
  ].map(callData => ({ target: address, allowFailure: true, callData }))
  const data = encodeFunctionData({ abi: MULTICALL, functionName: 'aggregate3', args: [calls] })
  const { hash: blockHash } = blockAt(BLOCKS - 21) as unknown as { readonly hash: Hex }
  const answer = asked<Hex>('eth_call', { to: MULTICALL3, data }, { blockHash })
  const results = decodeFunctionResult({ abi: MULTICALL, functionName: 'aggregate3', data: answer })
  expect(results.map(({ success }) => success)).toEqual([true, false])
  expect(results[0]?.returnData.slice(0, 130)).toBe(last?.data)
})

test('logs of a range are filtered by address and topic', () => {
  const { address } = plan.pairs[0] as PairPlan
  const logs = asked<readonly Log[]>('eth_getLogs', {
    fromBlock: '0x0',
    toBlock: '0x1e',
    address: [address],
    topics: [[SYNC]],
  })
  const all = Array.from({ length: 31 }, (_, number) => receiptsAt(number)).flatMap(each =>
    each.flatMap(({ logs: own }) => own),
  )
  expect(logs.length).toBeGreaterThan(0)
  expect(logs).toEqual(all.filter(log => log.address === address && log.topics[0] === SYNC))
})

test('a block that is not announced does not exist, and 64 below the head is final', () => {
  expect(asked('eth_getBlockByNumber', '0xffff', false)).toBeNull()
  expect(asked<Block>('eth_getBlockByNumber', 'finalized', false)['number']).toBe('0x5')
})

test('rates are those of the real chains', () => {
  expect(Object.fromEntries(RATES.map(each => [each.chainId, each.blocksPerSecond]))).toEqual({
    56: 2.2,
    42161: 4,
    43114: 1,
    137: 0.6,
    1: 0.08,
  })
})

const sample = (mib: number): Sample => ({ mib, serviceCores: 0.2, nodeCores: 0.1 })
const lag = (latenciesMs: readonly number[]) => [{ chainId: 56, latenciesMs }]
const quick = Array.from({ length: 1000 }, () => 20)
const flat = Array.from({ length: 40 }, () => sample(400))

test('a quick and flat run has no fault', () => {
  expect(verdictOf(lag(quick), flat).faults).toEqual([])
})

test('a slow hundredth, growing memory, or too few swaps are faults', () => {
  const slow = [...quick, ...Array.from({ length: 20 }, () => 400)]
  expect(verdictOf(lag(slow), flat).faults).toEqual(['chain 56: p99 of the lag is 400 ms, goal 250'])
  const growing = flat.map((_, at) => sample(400 + 5 * at))
  expect(verdictOf(lag(quick), growing).faults).toEqual([
    'memory is not flat: 470 MiB in the second quarter, 570 in the last',
  ])
  expect(verdictOf(lag([]), flat).faults).toEqual(['chain 56: 0 swaps are too few to judge its lag'])
})
