/** The service on blocks that a third party made large, and on endpoints without receipts by block. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { Handle, RpcAnswer } from '../../../world/proxy/rule.ts'
import { mineFat } from '../../feed/testing/fatBlock.ts'
import { isSwap } from '../testing/record.ts'
import { type Block, startTestChain, type TestChain } from '../testing/testChain.ts'
import { startTestService, type TestService } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

/** More than an ordinary response may have, from any node. */
const LOGS = 57_000

let chain: TestChain
let proxy: FaultProxy
let service: TestService | null = null
beforeAll(async () => {
  chain = await startTestChain()
  proxy = await startFaultProxy({ url: chain.world.url })
})
afterEach(async () => {
  await service?.close()
  service = null
  proxy.clear()
})
afterAll(async () => {
  await proxy.close()
  await chain.close()
})

async function started(name: string): Promise<TestService> {
  service = await startTestService(chain, { name, tokens: ['MOTH'], endpoints: [proxy.url] })
  return service
}

/**
 * A block with all these logs, and a swap behind them. It is shown when its receipts are at hand: how long a node takes to
 * write them is not the question here, and on a slow machine it is longer than an answer may take to begin.
 */
async function fatSwap(method: 'eth_getBlockReceipts' | 'eth_getTransactionReceipt'): Promise<Block> {
  const pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  const sale = chain.batch(chain.sellV2(pair, 'MOTH', 10))
  const { number } = await chain.head()
  const hiding = proxy.add({ fault: { kind: 'tags', tags: { latest: number } } })
  await mineFat(chain, { logs: LOGS }, [{ ...sale, gas: '0xf4240' }])
  const block = await chain.head()
  const { transactions } = await chain.world.client.getBlock({ blockHash: block.hash })
  const written = new Map<unknown, RpcAnswer>()
  for (const hash of method === 'eth_getBlockReceipts' ? [block.hash] : transactions)
    written.set(hash, { result: await chain.rpc(method, hash) })
  const handle: Handle = ({ params }, fetchAnswer) => written.get(params[0]) ?? fetchAnswer()
  proxy.add({ method, fault: { kind: 'handle', handle } })
  hiding.remove()
  return block
}

const counted = (method: string): number => proxy.calls.filter(call => call.method === method).length

it('a block of 20 MB is applied with the swap behind its logs, and so is the block after it', async () => {
  const running = await started('fat')
  const after = await running.head()
  proxy.calls.length = 0
  const { number, hash } = await fatSwap('eth_getBlockReceipts')
  const swap = await running.untilRecord('the swap', after, isSwap())
  expect(swap.payload).toMatchObject({ block_number: number, block_hash: hash, proof: 'receipts' })
  await running.untilTip(await chain.mine())
  // It came whole, in one answer, and its thread lives.
  expect(counted('eth_getTransactionReceipt')).toBe(0)
  expect(running.faults).toEqual([])
})

it('where receipts by block are refused it is applied as well, and the refusal is seen once and reported', async () => {
  proxy.add({
    method: 'eth_getBlockReceipts',
    fault: { kind: 'error', code: -32_600, message: 'Invalid request' },
  })
  proxy.calls.length = 0
  const running = await started('refused')
  const after = await running.head()
  const { number, hash } = await fatSwap('eth_getTransactionReceipt')
  const swap = await running.untilRecord('the swap', after, isSwap())
  expect(swap.payload).toMatchObject({ block_number: number, block_hash: hash, proof: 'receipts' })
  await running.untilTip(await chain.mine(3))
  expect(counted('eth_getBlockReceipts')).toBe(1)
  expect(running.lines).toContainEqual(
    expect.stringContaining(
      'endpoint node-1: eth_getBlockReceipts refused (-32600); falling back to receipts by transaction',
    ),
  )
  const name = 'assay_rpc_method_calls_total{chain_id="1",endpoint="node-1",method="%",purpose="block"}'
  const series = async (method: string): Promise<string> => {
    const text = await (await fetch(`${running.url}/metrics`)).text()
    return text.split('\n').find(line => line.startsWith(name.replace('%', method))) ?? ''
  }
  await until('metrics by method', async () => (await series('eth_getTransactionReceipt')) !== '')
  expect(await series('eth_getBlockReceipts')).toMatch(/ 1$/)
})
