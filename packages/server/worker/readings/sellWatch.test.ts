/** When tokens are probed, and by what they are doubted: on an engine in memory, over a node that simulates nothing. */
import { ms } from '@assay/engine'
import { keccak256, toHex } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { E6, E18, P1, P2, P3, T, U, USDC, WETH } from '../../../engine/testing/cast.ts'
import { scenario, type Scenario } from '../../../engine/testing/scenario.ts'
import type { LogEntry } from '../../feed/answers/entry.ts'
import { logOf } from '../../feed/testing/logOf.ts'
import { FeedError } from '../../feed/feedError.ts'
import type { Market } from '../../market/market.ts'
import { TRANSFER } from '../../market/transferLogs.ts'
import { systemClock } from '../../ops/clock.ts'
import type { Address, Hex } from '../../ops/hex.ts'
import { QUIET } from '../../ops/testing/quiet.ts'
import { Intake } from './intake.ts'
import { RecentBlocks } from '../recentBlocks.ts'
import { SellWatch } from './sellWatch.ts'

const PAUSE_MS = 2000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const SELLER: Address = `0x${'5e'.repeat(20)}`

let s: Scenario
let watch: SellWatch
let nowMs: number
let asked: string[]
let idle: Address[]
/** While set, no node survives a simulation of this token. */
let isDeadly: boolean
const DEADLY: Address = `0x${'de'.repeat(20)}`

beforeEach(() => {
  s = scenario()
  s.v2(P2, [WETH, 1000n * E18], [USDC, 2_000_000n * E6])
  s.v2(P1, [T, 1_000_000n * E18], [WETH, 500n * E18])
  s.decimals(T, 18)
  s.run({ kind: 'enrol', token: T })
  nowMs = 0
  asked = []
  idle = []
  isDeadly = false
  const { state } = s
  const apply = async (input: Parameters<Scenario['run']>[0]) => s.run(input)
  const now = () => ms(s.nowMs)
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const common = { state, now, log: QUIET, apply: apply as never }
  const intake = new Intake({ ...common, recent: recentOf(s), inLane: task => task() })
  watch = new SellWatch({
    ...common,
    intake,
    clock,
    chain: { chainId: 1, wrappedNative: WETH, blockTimeMs: 12_000 },
    market: { balances: async () => [] } as unknown as Market,
    signal: new AbortController().signal,
    store: { readIdle: async () => idle },
    simulator: {
      ask: (method, params) => {
        asked.push(method)
        if (isDeadly && JSON.stringify(params).includes(DEADLY.slice(2)))
          return Promise.reject(new FeedError('ANSWER_TOO_LARGE', 'node', 'an answer without an end'))
        return Promise.reject(new FeedError('METHOD_MISSING', 'node', 'no'))
      },
    },
  })
})

/** A recent chain that has the tip. */
function recentOf({ state }: Scenario): RecentBlocks {
  const recent = new RecentBlocks(state)
  const tip = state.chain.tip!
  recent.restart({ ...tip, parentHash: tip.hash })
  return recent
}

async function tend(afterMs: number): Promise<number> {
  nowMs += afterMs
  s.nowMs = ms(s.nowMs + afterMs)
  const before = asked.length
  await watch.tend()
  return asked.filter((method, at) => at >= before && method === 'eth_call').length
}

/** A transaction of one swap of P1 with the Transfer logs that go with it. */
function swapped(kind: 'BUY' | 'SALE', amount: bigint, arrived: bigint): void {
  const { x, address } = s.pool(P1)
  const [gross, net] = kind === 'BUY' ? [amount, amount] : [arrived, arrived]
  const out = kind === 'BUY' ? gross : 0n
  const paid = kind === 'SALE' ? net : 0n
  const event = {
    kind: 'SWAP' as const,
    amount0In: x === 0 ? paid : 1n,
    amount1In: x === 1 ? paid : 1n,
    amount0Out: x === 0 ? out : 1n,
    amount1Out: x === 1 ? out : 1n,
  }
  const transactionHash: Hex = `0x${'77'.repeat(32)}`
  const position = { transactionHash, logIndex: 9, pool: address, family: 'amm_v2' as const }
  const [from, to] = kind === 'BUY' ? [address, SELLER] : [SELLER, address]
  const logs = [transferred(transactionHash, from, to, arrived)]
  if (kind === 'SALE' && amount > arrived) logs.push(transferred(transactionHash, from, T, amount - arrived))
  watch.note({ logs, events: [{ ...position, event }] as never })
}

/** The only thing that a manager does in a transaction: it swaps in P3 what arrived of an amount sent. */
function soldThrough(manager: Address, amount: bigint, arrived: bigint): void {
  const { x, address } = s.pool(P3)
  const [amount0, amount1] = x === 0 ? [arrived, -1n] : [-1n, arrived]
  const event = { kind: 'SWAP' as const, amount0, amount1 }
  const transactionHash: Hex = `0x${'88'.repeat(32)}`
  const position = { transactionHash, logIndex: 9, pool: address, family: 'amm_v4' as const }
  const logs = [
    transferred(transactionHash, SELLER, manager, arrived),
    transferred(transactionHash, SELLER, T, amount - arrived),
  ]
  watch.note({ logs, events: [{ ...position, event }] as never })
}

const topicOf = (address: Address): Hex => `0x${address.slice(2).padStart(64, '0')}`

const transferred = (transactionHash: Hex, from: Address, to: Address, value: bigint): LogEntry =>
  logOf(T, [TRANSFER, topicOf(from), topicOf(to)], `0x${value.toString(16).padStart(64, '0')}`, {
    transactionHash,
    logIndex: '0x1',
  })

describe('the watch of sellability', () => {
  it('R-sell-5: probes a token when it is enrolled, and each hour after that', async () => {
    expect(await tend(0)).toBe(1)
    expect(s.token(T).sellability).toMatchObject({ status: 'UNKNOWN', reason: 'NO_OVERRIDES', method: null })
    expect(await tend(HOUR_MS - 1)).toBe(0)
    expect(await tend(1)).toBe(1)
  })

  it('R-sell-5: not each hour while nobody requests it, and as soon as somebody does', async () => {
    await tend(0)
    idle = [T]
    for (let hour = 0; hour < 5; hour++) expect(await tend(HOUR_MS)).toBe(0)
    s.probed(T)
    swapped('SALE', 10_000n, 9000n)
    expect(await tend(MINUTE_MS)).toBe(1)
    expect(await tend(2 * HOUR_MS)).toBe(0)
    idle = []
    expect(await tend(MINUTE_MS)).toBe(1)
    expect(await tend(HOUR_MS)).toBe(1)
  })

  it('R-sell-5: leaves two seconds between two probes, and takes tokens never probed first', async () => {
    await tend(0)
    s.decimals(U, 18)
    s.v2(`0x${'ab'.repeat(20)}`, [U, 1_000_000n * E18], [WETH, 500n * E18])
    s.run({ kind: 'enrol', token: U })
    expect(await tend(PAUSE_MS - 1)).toBe(0)
    expect(await tend(1)).toBe(1)
    expect(s.token(U).sellability).toBeDefined()
  })

  it('R-sell-5: a token that cannot be probed keeps no other token from its probe', async () => {
    s.v2(P3, [DEADLY, 1_000_000n * E18], [WETH, 500n * E18])
    s.decimals(DEADLY, 18)
    s.run({ kind: 'enrol', token: DEADLY })
    isDeadly = true
    await tend(0)
    expect(s.token(T).sellability).toMatchObject({ status: 'UNKNOWN', reason: 'NO_OVERRIDES' })
    expect(s.token(DEADLY).sellability).toBeUndefined()
    isDeadly = false
    await tend(MINUTE_MS)
    expect(s.token(DEADLY).sellability).toMatchObject({ reason: 'NO_OVERRIDES' })
  })

  it('R-sell-5: probes again when a swap shows another tax than measured, at most once a minute', async () => {
    await tend(0)
    s.probed(T)
    swapped('SALE', 10_000n, 10_000n)
    expect(await tend(MINUTE_MS)).toBe(0)
    swapped('SALE', 10_000n, 9000n)
    expect(await tend(PAUSE_MS)).toBe(1)
    // Nothing simulates here, so the result from the logs is used instead.
    expect(s.token(T).sellability).toMatchObject({
      status: 'TAXED',
      sellTaxBps: 1000,
      transferTaxBps: null,
      method: 'TRANSFER_LOGS',
    })
    swapped('SALE', 10_000n, 5000n)
    expect(await tend(MINUTE_MS - 1)).toBe(0)
    expect(await tend(1)).toBe(1)
  })

  it('R-sell-6: compares with the logs of a v4 manager too, unless a hook may exchange amounts of its own', async () => {
    s.v3(P3, T, WETH, { family: 'amm_v4', tick: 0, positions: [[-6000, 6000, 10n ** 22n]] })
    const { terms } = s.pool(P3)
    if (!('manager' in terms)) throw new Error('a v4 pool has a manager')
    const sale = () => soldThrough(terms.manager, 10_000n, 9000n)
    await tend(0)
    s.probed(T)
    Object.assign(terms, { hooks: `0x${'0'.repeat(39)}4` })
    sale()
    expect(await tend(MINUTE_MS)).toBe(0)
    Object.assign(terms, { hooks: `0x${'0'.repeat(40)}` })
    sale()
    expect(await tend(MINUTE_MS)).toBe(1)
    expect(s.token(T).sellability).toMatchObject({ sellTaxBps: 1000, method: 'TRANSFER_LOGS' })
  })

  it('R-sell-5: probes again when the code behind its proxy is changed', async () => {
    await tend(0)
    s.probed(T)
    const upgraded = logOf(T, [keccak256(toHex('Upgraded(address)')), topicOf(SELLER)])
    watch.note({ logs: [upgraded], events: [] })
    expect(await tend(MINUTE_MS)).toBe(1)
    expect(await tend(MINUTE_MS)).toBe(0)
  })

  it('R-sell-5: probes again when fifty purchases passed without a sale', async () => {
    await tend(0)
    s.probed(T)
    for (let n = 0; n < 49; n++) swapped('BUY', 10_000n, 10_000n)
    swapped('SALE', 10_000n, 10_000n)
    for (let n = 0; n < 49; n++) swapped('BUY', 10_000n, 10_000n)
    expect(await tend(MINUTE_MS)).toBe(0)
    swapped('BUY', 10_000n, 10_000n)
    expect(await tend(PAUSE_MS)).toBe(1)
  })
})
