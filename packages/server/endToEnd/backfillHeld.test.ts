/**
 * Back-fill of pools of a v4 manager, which holds many more that nobody wants: the node is asked for the logs of ours
 * alone, and what is stored is every event of them.
 */
import { createTickPool, deployV4Manager, type TickPool } from '@assay/world'
import { join } from 'node:path'
import { getAddress, zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChainConfig } from '../config/config.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { startRpcProxy } from '../feed/testing/rpcProxy.ts'
import { TOPIC } from '../market/v4/logs.ts'
import { backfillInto, openBackfillStore, servedBy, storedEvents } from './testing/backfillRun.ts'
import { planWith, token } from './testing/plan.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { writeConfig } from './testing/testService.ts'

/** NEWT is wanted, OLM and TOAD are not. */
const WITH = { tokens: [token(0x50, 'NEWT', 1), token(0x51, 'OLM', 1), token(0x52, 'TOAD', 1)] } as const
const BLOCKS = 30
const LIQUIDITY = 10n ** 24n
const NATIVE = 'NATIVE'

type Filter = { readonly address?: readonly Hex[]; readonly topics: readonly (readonly Hex[] | null)[] }
type RpcLog = { readonly topics: readonly Hex[]; readonly blockHash: Hex; readonly logIndex: Hex }

let chain: TestChain
let manager: Hex
let config: ChainConfig
let ours: readonly TickPool[]
let foreign: readonly TickPool[]
let stores = 0

beforeAll(async () => {
  chain = await startTestChain(planWith(WITH))
  const { client, seeded } = chain.world
  manager = (await deployV4Manager(client)).toLowerCase() as Hex
  await client.setBalance({ address: seeded.trader, value: 1n << 140n })
  ours = [await createPool('NEWT', 'USDC'), await createPool('NEWT', NATIVE)]
  foreign = [
    await createPool('OLM', 'USDC'),
    await createPool('NEWT', 'TOAD'),
    await createPool('OLM', NATIVE),
  ]
  for (let n = 0; n < BLOCKS; n++) {
    // Most blocks have trades in pools of others only.
    const traded = n % 5 === 0 ? [...foreign, ...ours] : foreign
    await chain.run(...traded.map(pool => pool.swap(n % 2 === 0, 10n ** 15n)))
  }
  await chain.mine(12)
  const deployment = {
    deployment_id: 'uniswap-v4',
    family: 'amm_v4',
    factory_address: manager,
    deployment_block: 0,
  }
  const file = writeConfig(chain, { tokens: ['NEWT'], deployments: [deployment] })
  ;[config] = loadConfig(file, {}).chains as [ChainConfig]
})
afterAll(() => chain?.close())

async function createPool(a: string, b: string): Promise<TickPool> {
  const addressOf = (symbol: string) => (symbol === NATIVE ? zeroAddress : getAddress(chain.token(symbol)))
  const pool = await createTickPool(chain.world.client, {
    source: { family: 'amm_v4', factory: manager },
    tokens: [addressOf(a), addressOf(b)],
    sqrtPriceX96: 1n << 96n,
    feePpm: 3000,
    tickSpacing: 60,
  })
  await chain.run(pool.add(-6000, 6000, LIQUIDITY))
  return pool
}

/** Every log of these pools in final blocks, one block at a time, as the node itself gives them. */
async function logsOf(pools: readonly TickPool[]): Promise<string[]> {
  const { number } = await chain.rpc<{ number: Hex }>('eth_getBlockByNumber', 'finalized', false)
  const ids = new Set(pools.map(({ id }) => id))
  const events: string[] = []
  for (let block = 0; block <= Number(number); block++) {
    const at = `0x${block.toString(16)}`
    const filter = { fromBlock: at, toBlock: at, address: manager }
    for (const log of await chain.rpc<RpcLog[]>('eth_getLogs', filter))
      if (ids.has(log.topics[1] as Hex)) events.push(`${log.blockHash}/${Number(log.logIndex)}`)
  }
  return events.sort()
}

const opened = () => openBackfillStore(join(chain.folder, `held-${++stores}.db`))

test('every event of wanted pools is stored, and the node is asked for no other pool of the manager', async () => {
  const expected = await logsOf(ours)
  expect(expected.length).toBeGreaterThanOrEqual(2 * (2 + BLOCKS / 5))
  const proxy = await startRpcProxy(chain.world.url)
  const store = await opened()
  try {
    const { done } = await backfillInto(store, servedBy(config, proxy.url))
    expect(done).toBe(true)
    expect(
      await storedEvents(
        store,
        ours.map(({ id }) => id),
      ),
    ).toEqual(expected)
    expect(
      await storedEvents(
        store,
        foreign.map(({ id }) => id),
      ),
    ).toEqual([])
    const asked = proxy.calls
      .filter(({ method }) => method === 'eth_getLogs')
      .map(({ params }) => params[0] as Filter)
      .filter(({ address }) => address?.includes(manager) !== false)
    const ids = new Set(ours.map(({ id }) => id))
    expect(asked.length).toBeGreaterThanOrEqual(2)
    for (const { address, topics } of asked) {
      expect(address).toEqual([manager])
      const isOfCreations = topics[0]?.length === 1 && topics[0][0] === TOPIC.initialize
      if (isOfCreations) expect(topics.slice(2)).toEqual([topics[2], topics[2]])
      else expect(new Set(topics[1])).toEqual(ids)
    }
    // Blocks in which others alone traded are not read.
    const read = new Set(
      proxy.calls.filter(({ method }) => method === 'eth_getBlockReceipts').map(({ params }) => params[0]),
    )
    const { number } = await chain.head()
    expect(read.size).toBeLessThan(number / 2)
  } finally {
    await store.close()
    await proxy.close()
  }
})

test('a pool of the store is requested even if its creation is older than the scan', async () => {
  const store = await opened()
  try {
    const whole = await backfillInto(store, servedBy(config, chain.world.url))
    const after = await chain.run(...ours.map(pool => pool.swap(true, 10n ** 15n)))
    await chain.mine(12)
    expect(after.number).toBeGreaterThan(whole.to_block)
    const next = await backfillInto(store, servedBy(config, chain.world.url))
    expect(next.pools_found).toBe(0)
    expect(
      await storedEvents(
        store,
        ours.map(({ id }) => id),
      ),
    ).toEqual(await logsOf(ours))
  } finally {
    await store.close()
  }
})
