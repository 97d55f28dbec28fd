/** Unrequested pools of a v4 manager: their trades cost no state call, no record and no warning. */
import { createTickPool, deployV4Manager } from '@assay/world'
import { getAddress } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RpcProxy, startRpcProxy } from '../feed/testing/rpcProxy.ts'
import { planWith, token } from './testing/plan.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, type TestService } from './testing/testService.ts'

/** NEWT and OLM are never asked for; the third pool is of a token that is, with one that is not. */
const WITH = { tokens: [token(0x50, 'NEWT', 1), token(0x51, 'OLM', 1)] } as const
const PAIRS = [
  ['NEWT', 'OLM'],
  ['OLM', 'USDC'],
  ['NEWT', 'LARK'],
] as const
const BLOCKS = 15
const Q96 = 1n << 96n
const LIQUIDITY = 10n ** 24n

let chain: TestChain
let proxy: RpcProxy
let service: TestService
let manager: Hex

beforeAll(async () => {
  chain = await startTestChain(planWith(WITH))
  manager = await deployV4Manager(chain.world.client)
  proxy = await startRpcProxy(chain.world.url)
  const deployment = {
    deployment_id: 'uniswap-v4',
    family: 'amm_v4',
    factory_address: manager,
    deployment_block: 0,
  }
  const options = { deployments: [deployment], endpoints: [proxy.url], tokens: ['LARK'] }
  service = await startTestService(chain, options)
  await service.untilTip(await chain.mine())
})
afterAll(async () => {
  await service?.close()
  await proxy?.close()
  await chain?.close()
})

/** Of calls and logs: whatever names the manager. */
const naming = (from: number) =>
  proxy.calls
    .slice(from)
    .filter(call => JSON.stringify(call).toLowerCase().includes(manager.slice(2).toLowerCase()))

it('are not read, stored or mentioned, from their creation on', async () => {
  const source = { family: 'amm_v4', factory: manager } as const
  const [calls, lines, head] = [proxy.calls.length, service.lines.length, await service.head()]
  const pools = []
  for (const [a, b] of PAIRS) {
    const tokens = [getAddress(chain.token(a)), getAddress(chain.token(b))] as const
    const order = { source, tokens, sqrtPriceX96: Q96, feePpm: 3000, tickSpacing: 60 }
    const pool = await createTickPool(chain.world.client, order)
    await chain.run(pool.add(-6000, 6000, LIQUIDITY))
    pools.push(pool)
  }
  for (let n = 0; n < BLOCKS; n++)
    await service.untilTip(await chain.run(...pools.map(pool => pool.swap(n % 2 === 0, 10n ** 18n))))
  expect(naming(calls)).toEqual([])
  for (const { id } of pools) {
    const page = { kind: null, fromBlock: null, toBlock: null, before: null, limit: 10 }
    expect(await service.store.readEvents({ chainId: service.chainId, poolAddress: id, ...page })).toEqual([])
  }
  const ids = pools.map(({ id }) => id)
  const records = JSON.stringify(await service.records(head))
  for (const id of ids) expect(records).not.toContain(id)
  expect(service.faults).toEqual([])
  expect(service.lines.slice(lines).filter(line => /could not|refused|error/i.test(line))).toEqual([])
})

it('are read once a client requests their token', async () => {
  const calls = proxy.calls.length
  const client = await service.client()
  await chain.untilMining('a price of OLM', async () => {
    const quote = await client.quoteToken({ chain_id: service.chainId, token_address: chain.token('OLM') })
    return quote.state === 'PRICED'
  })
  expect(naming(calls).length).toBeGreaterThan(0)
})
