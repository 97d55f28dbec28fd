/** Batched calls on a real node: the same answers as one by one, whatever a neighbour in the batch does. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createChainRpc } from '../feed/endpoints/chainRpc.ts'
import type { ChainRpc } from '../feed/feed.ts'
import { openEndpoints } from '../feed/endpoints/openEndpoints.ts'
import { latest, type LocalChain, startLocalChain } from '../feed/testing/localChain.ts'
import { type RpcProxy, startRpcProxy } from '../feed/testing/rpcProxy.ts'
import { systemClock } from '../ops/clock.ts'
import type { Hex } from '../ops/hex.ts'
import { Secret } from '../ops/secret.ts'
import { BudgetSpent, budgeted } from './callBudget.ts'
import { batching, MULTICALL3 } from './multicall.ts'
import { putMulticall3 } from './testing/multicall3.ts'

const at = (n: number): Hex => `0x${'33'.repeat(17)}${n.toString(16).padStart(6, '0')}`
/** mstore(0, n); return(0, 32) */
const answering = (n: number): Hex => `0x60${n.toString(16).padStart(2, '0')}60005260206000f3`
const REVERTER = at(0xf000)
/** invalid: all gas it was given is gone. */
const GAS_EATER = at(0xf001)
const EMPTY = at(0xf002)
const MANY = 250

let chain: LocalChain
let proxy: RpcProxy
let rpc: ChainRpc
let close: () => void
let hash: Hex
const closed = new AbortController()

beforeAll(async () => {
  chain = await startLocalChain()
  for (let n = 0; n < MANY; n++) await chain.rpc('anvil_setCode', at(n), answering(n))
  await chain.rpc('anvil_setCode', REVERTER, '0x60006000fd')
  await chain.rpc('anvil_setCode', GAS_EATER, '0xfe')
  proxy = await startRpcProxy(chain.anvil.url)
  const opened = openEndpoints(
    chain.config({ endpoints: [{ name: 'proxy', url: new Secret(proxy.url) }] }),
    systemClock,
  )
  close = opened.close
  rpc = createChainRpc(opened.endpoints, closed.signal)
})
afterAll(async () => {
  close()
  await proxy.close()
  await chain.close()
})
beforeEach(async () => {
  await chain.rpc('anvil_mine', '0x1')
  ;({ hash } = await latest(chain))
  await rpc.code(EMPTY, hash)
  proxy.calls.length = 0
})

async function deployMulticall(): Promise<void> {
  await putMulticall3((method, ...params) => chain.rpc(method, ...params))
  ;({ hash } = await latest(chain))
}

const ask = (over: ChainRpc, addresses: readonly Hex[]) =>
  Promise.all(addresses.map(address => over.call(address, '0x313ce567', hash)))

const numbers = Array.from({ length: MANY }, (_, n) => n)
const word = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

test('without Multicall3, calls go out one by one', async () => {
  const odd = [REVERTER, GAS_EATER, EMPTY]
  const answers = await ask(batching(rpc), [...numbers.slice(0, 5).map(at), ...odd])
  expect(answers).toEqual([...numbers.slice(0, 5).map(word), null, null, '0x'])
  expect(proxy.calls.filter(({ method }) => method === 'eth_call')).toHaveLength(8)
})

test('with it, hundreds of calls become a few', async () => {
  await deployMulticall()
  proxy.calls.length = 0
  expect(await ask(batching(rpc), numbers.map(at))).toEqual(numbers.map(word))
  expect(proxy.calls.filter(({ method }) => method === 'eth_call')).toHaveLength(3)
})

test('a neighbour that reverts or uses all the gas changes no other result', async () => {
  await deployMulticall()
  const mixed = [at(1), GAS_EATER, at(2), REVERTER, at(3), GAS_EATER, EMPTY, at(4)]
  expect(await ask(batching(rpc), mixed)).toEqual([
    word(1),
    null,
    word(2),
    null,
    word(3),
    null,
    '0x',
    word(4),
  ])
})

test('an aggregate that does not answer, or returns garbage, falls back to single calls', async () => {
  await deployMulticall()
  await chain.rpc('anvil_setCode', MULTICALL3, '0x60006000fd')
  await chain.rpc('anvil_mine', '0x1')
  ;({ hash } = await latest(chain))
  expect(await ask(batching(rpc), [at(1), at(2)])).toEqual([word(1), word(2)])
  await chain.rpc('anvil_setCode', MULTICALL3, answering(7))
  await chain.rpc('anvil_mine', '0x1')
  ;({ hash } = await latest(chain))
  expect(await ask(batching(rpc), [at(1), at(2)])).toEqual([word(1), word(2)])
})

test('calls at different blocks are never answered from one', async () => {
  await deployMulticall()
  const before = hash
  // Setting code changes the newest block in place: the one before has to be past.
  await chain.rpc('anvil_mine', '0x1')
  await chain.rpc('anvil_setCode', at(1), answering(99))
  const { hash: after } = await latest(chain)
  const over = batching(rpc)
  const calls = [before, after, before, after].map(block => over.call(at(1), '0x', block))
  expect(await Promise.all(calls)).toEqual([word(1), word(99), word(1), word(99)])
  await chain.rpc('anvil_setCode', at(1), answering(1))
})

test('a caller that aborts does not cancel the others', async () => {
  const over = batching(rpc)
  const stop = new AbortController()
  const given = over.call(at(1), '0x', hash, stop.signal)
  const kept = over.call(at(2), '0x', hash)
  stop.abort(new Error('no longer'))
  await expect(given).rejects.toThrow('no longer')
  expect(await kept).toBe(word(2))
})

test('requests from outside end with their budget, which refills with time', async () => {
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const over = budgeted(rpc, clock, { calls: 3, perSecond: 2 })
  expect(await ask(over, [at(1), at(2), at(3)])).toEqual([word(1), word(2), word(3)])
  await expect(over.call(at(4), '0x', hash)).rejects.toMatchObject({
    name: 'BudgetSpent',
    retryAfterMs: 500,
    message: expect.stringContaining('budget'),
  })
  await expect(over.code(at(4), hash)).rejects.toBeInstanceOf(BudgetSpent)
  nowMs += 500
  expect(await over.call(at(4), '0x', hash)).toBe(word(4))
})
