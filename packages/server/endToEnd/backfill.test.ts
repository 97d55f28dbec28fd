/**
 * Back-fill of a real chain through nodes that refuse, truncate and omit: the store equals the chain, in
 * every case. The oracle asks the node directly, block by block.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changing, pass, type RpcProxy, type Rule, startRpcProxy } from '../feed/testing/rpcProxy.ts'
import { POOL_TOPICS } from '../market/families.ts'
import type { ChainConfig } from '../config/config.ts'
import { loadConfig } from '../config/loadConfig.ts'
import type { BackfillProgress } from '../worker/backfill/backfill.ts'
import {
  backfillInto,
  openBackfillStore,
  type Opened,
  servedBy,
  storedEvents,
} from './testing/backfillRun.ts'
import { CHAIN_ID } from './testing/plan.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { openTestService, writeConfig } from './testing/testService.ts'
import { until } from './testing/until.ts'

type RpcLog = {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly logIndex: Hex
}

/** Swaps a block, and blocks of swaps. `npm run test:backfill` makes 25 in each block. */
const [SWAPS, BLOCKS] = [Number(process.env['ASSAY_BACKFILL_SWAPS'] ?? 8), 80] as const
const COMMAND = fileURLToPath(new URL('../../cli/assay.ts', import.meta.url))
const KINDS = new Set<string>(POOL_TOPICS)

let chain: TestChain
let config: ChainConfig
let expected: readonly string[]
let stores = 0
const proxies: RpcProxy[] = []

beforeAll(async () => {
  chain = await startTestChain()
  const [v2, v3] = [chain.pool('uniswap-v2', 'USDC', 'LARK'), chain.pool('uniswap-v3', 'WETH', 'LARK')]
  for (let block = 0; block < BLOCKS; block++)
    await chain.run(
      ...Array.from({ length: SWAPS }, (_, at) =>
        at % 2 === 0
          ? chain.sellV2(v2, at % 4 === 0 ? 'LARK' : 'USDC', 20)
          : chain.sellV3(v3, at % 4 === 1 ? 'LARK' : 'WETH', 20),
      ),
    )
  await chain.mine(12)
  ;[config] = loadConfig(writeConfig(chain), {}).chains as [ChainConfig]
  expected = await eventsOfChain()
})

afterAll(async () => {
  for (const proxy of proxies) await proxy.close()
  await chain.close()
})

/** Every event of every seeded pool in final blocks, as the node itself gives them, one block at a time. */
async function eventsOfChain(): Promise<string[]> {
  const { number } = await chain.rpc<{ number: Hex }>('eth_getBlockByNumber', 'finalized', false)
  const pools = new Set(chain.world.seeded.pools.map(({ address }) => address.toLowerCase()))
  const factories = new Set(config.deployments.map(({ factoryAddress }) => factoryAddress))
  const events: string[] = []
  for (let block = 0; block <= Number(number); block++) {
    const at = `0x${block.toString(16)}`
    for (const log of await chain.rpc<RpcLog[]>('eth_getLogs', { fromBlock: at, toBlock: at })) {
      if (!KINDS.has(log.topics[0] ?? '')) continue
      if (pools.has(log.address) || factories.has(log.address))
        events.push(`${log.blockHash}/${Number(log.logIndex)}`)
    }
  }
  return events.sort()
}

const open = (name = `backfill-${++stores}`) => openBackfillStore(join(chain.folder, `${name}.db`))
const at = (...urls: readonly string[]): ChainConfig => servedBy(config, ...urls)
/** In the pair with USDC, the last ones first. */
const swapsOfLark = (store: Pick<Opened['store'], 'readEvents'>, limit: number) =>
  store.readEvents({
    chainId: CHAIN_ID,
    poolAddress: chain.pool('uniswap-v2', 'USDC', 'LARK'),
    kind: 'SWAP',
    fromBlock: null,
    toBlock: null,
    before: null,
    limit,
  })
const stored = (opened: Opened) =>
  storedEvents(
    opened,
    chain.world.seeded.pools.map(({ address }) => address),
  )

async function proxied(rule: Rule): Promise<RpcProxy> {
  const proxy = await startRpcProxy(chain.world.url, rule)
  proxies.push(proxy)
  return proxy
}

async function gives(rules: readonly Rule[], what: readonly string[] = expected): Promise<RpcProxy[]> {
  const own = await Promise.all(rules.map(proxied))
  const opened = await open()
  try {
    const { done } = await backfillInto(opened, at(...own.map(({ url }) => url)))
    expect(done).toBe(true)
    expect(await stored(opened)).toEqual(what)
  } finally {
    await opened.close()
  }
  return own
}

test('every event of the listed factories’ pools is found, none twice, each from a proven block', async () => {
  expect(expected.length).toBeGreaterThan(SWAPS * BLOCKS)
  const seen: BackfillProgress[] = []
  const opened = await open()
  try {
    const last = await backfillInto(opened, at(chain.world.url), progress => seen.push(progress))
    expect(await stored(opened)).toEqual(expected)
    expect(last).toMatchObject({ done: true, eta_s: 0, events: expected.length })
    expect(last.next_block).toBe(last.to_block + 1)
    expect(last.pools_found).toBe(chain.world.seeded.pools.length)
    expect(seen.map(({ next_block }) => next_block)).toEqual(
      seen.map(({ next_block }) => next_block).sort((a, b) => a - b),
    )
    const [swap] = await swapsOfLark(opened.store, 1)
    expect(swap?.kind).toBe('SWAP')
    expect(JSON.parse(swap?.body ?? '{}')).toMatchObject({ proof: 'receipts' })
  } finally {
    await opened.close()
  }
})

const tooLong = (call: { readonly params: readonly unknown[] }, blocks: number): boolean => {
  const [{ fromBlock, toBlock }] = call.params as [{ fromBlock: Hex; toBlock: Hex }]
  return Number(toBlock) - Number(fromBlock) + 1 > blocks
}

test.each([
  [-32_602, 'le nombre de blocs est trop grand'],
  [-32_614, 'eth_getLogs is limited to a 5 range'],
  [-32_000, ''],
])('F4: a range refused with %i in any words is halved until it is answered', async (code, message) => {
  const [proxy] = await gives([
    (call, fetchAnswer) =>
      call.method === 'eth_getLogs' && tooLong(call, 5) ? { error: { code, message } } : fetchAnswer(),
  ])
  const asked = proxy?.calls.filter(({ method }) => method === 'eth_getLogs') ?? []
  expect(asked.some(call => tooLong(call, 5))).toBe(true)
  expect(asked.some(call => tooLong(call, 1) && !tooLong(call, 5))).toBe(true)
})

test('F4: HTTP 413 and a code that means both too fast and too long are halved as well', async () => {
  await gives([
    (call, fetchAnswer, response) => {
      if (call.method !== 'eth_getLogs' || !tooLong(call, 20)) return fetchAnswer()
      response.statusCode = 413
      response.end('<html>too large</html>')
      return 'handled'
    },
  ])
  let limited = 0
  await gives([
    (call, fetchAnswer) =>
      call.method === 'eth_getLogs' && tooLong(call, 40) && limited++ < 3
        ? { error: { code: -32_005, message: 'query returned more than 10000 results' } }
        : fetchAnswer(),
  ])
})

test('F3: a response truncated silently at a round number is not believed', async () => {
  await gives([changing<RpcLog[]>('eth_getLogs', logs => logs.slice(0, 100))])
})

test('a log left out of a block is found, because the block proves its logs', async () => {
  const isFirst = (log: RpcLog, at: number, logs: RpcLog[]) => logs[at - 1]?.blockHash !== log.blockHash
  await gives([
    changing<RpcLog[]>('eth_getLogs', logs =>
      logs.filter((log, at) => isFirst(log, at, logs) || at % 7 !== 3),
    ),
  ])
})

test('blocks left out altogether are found by a second endpoint', async () => {
  const even = (log: RpcLog) => Number(log.blockNumber) % 2 === 0
  await gives([
    changing<RpcLog[]>('eth_getLogs', logs => logs.filter(even)),
    changing<RpcLog[]>('eth_getLogs', logs => logs.filter(log => !even(log))),
  ])
})

test('when most blocks have events all are read: blocks left out are found by one endpoint alone', async () => {
  const { number } = await chain.head()
  // The last swaps lie before the blocks that made them final.
  const last = number - 12
  await gives([
    async (call, fetchAnswer) => {
      if (call.method !== 'eth_getLogs') return fetchAnswer()
      if (tooLong(call, 4)) return { error: { code: 1, message: '' } }
      const { result } = await fetchAnswer()
      return { result: (result as RpcLog[]).filter(log => Number(log.blockNumber) <= last - 4) }
    },
  ])
})

test('receipts that do not give the root of their block are never stored', async () => {
  const lying = await proxied(
    changing<{ logs: unknown[] }[]>('eth_getBlockReceipts', receipts =>
      receipts.map(receipt => ({ ...receipt, logs: receipt.logs.slice(1) })),
    ),
  )
  const opened = await open()
  try {
    await expect(backfillInto(opened, at(lying.url))).rejects.toMatchObject({ code: 'BLOCK_REFUSED' })
    expect(await stored(opened)).toEqual([])
    // Beside an honest one it does no harm.
    expect((await backfillInto(opened, at(lying.url, chain.world.url))).done).toBe(true)
    expect(await stored(opened)).toEqual(expected)
  } finally {
    await opened.close()
  }
})

test('with every endpoint down it reports so, waits, and continues when one recovers', async () => {
  const opened = await open()
  let isAway = false
  const proxy = await proxied((call, fetchAnswer, response) => {
    if (isAway) {
      response.destroy()
      return 'handled'
    }
    return call.method === 'eth_getLogs' && tooLong(call, 4)
      ? { error: { code: 1, message: '' } }
      : fetchAnswer()
  })
  try {
    const reasons: string[] = []
    const { done, waiting } = await backfillInto(opened, at(proxy.url), progress => {
      if (progress.next_block > progress.to_block / 2 && reasons.length === 0) isAway = true
      if (progress.waiting === null) return
      reasons.push(progress.waiting)
      isAway = false
    })
    expect({ done, waiting }).toEqual({ done: true, waiting: null })
    expect(reasons[0]).toMatch(/endpoint/)
    expect(await stored(opened)).toEqual(expected)
  } finally {
    await opened.close()
  }
})

test('after an interruption it resumes where it stopped', async () => {
  const opened = await open()
  const small: Rule = (call, fetchAnswer) =>
    call.method === 'eth_getLogs' && tooLong(call, 4) ? { error: { code: 1, message: '' } } : fetchAnswer()
  const proxy = await proxied(small)
  try {
    const stop = new AbortController()
    await backfillInto(
      opened,
      at(proxy.url),
      ({ next_block, to_block }) => {
        if (next_block > to_block / 2) stop.abort()
      },
      stop.signal,
    ).catch(() => undefined)
    const position = await opened.store.readBackfill(CHAIN_ID)
    expect(position?.nextBlock).toBeGreaterThan((position?.toBlock ?? 0) / 2)
    expect(position?.nextBlock).toBeLessThanOrEqual(position?.toBlock ?? 0)
    proxy.calls.length = 0
    await backfillInto(opened, at(proxy.url))
    const asked = proxy.calls.filter(({ method }) => method === 'eth_getLogs')
    const lowest = Math.min(...asked.map(({ params }) => Number((params[0] as { fromBlock: Hex }).fromBlock)))
    expect(lowest).toBe(position?.nextBlock)
    expect(await stored(opened)).toEqual(expected)
  } finally {
    await opened.close()
  }
})

/** The command as its own process, through a node that answers slowly enough to be caught at it. */
function command(file: string) {
  const child = spawn(process.execPath, [
    COMMAND,
    'backfill',
    '--config',
    file,
    '--chain',
    `${CHAIN_ID}`,
    '--json',
  ])
  let said = ''
  child.stdout.on('data', (part: Buffer) => {
    said += String(part)
  })
  child.stderr.on('data', (part: Buffer) => {
    said += String(part)
  })
  return { child, said: () => said, exited: once(child, 'exit') }
}

test('after SIGKILL the command resumes and ends with every event, once', async () => {
  const slow = await proxied(async (call, fetchAnswer) => {
    if (call.method !== 'eth_getLogs') return fetchAnswer()
    return tooLong(call, 6) ? { error: { code: 1, message: '' } } : fetchAnswer()
  })
  const file = writeConfig(chain, { name: 'killed', endpoints: [slow.url] })
  const first = command(file)
  await until('a first stored part', () => first.said().includes('"done":false'))
  first.child.kill('SIGKILL')
  await first.exited
  const second = command(file)
  expect((await second.exited)[0], second.said()).toBe(0)
  const opened = await open('killed')
  try {
    expect(await stored(opened)).toEqual(expected)
  } finally {
    await opened.close()
  }
})

test('with the service running the command asks it, and live blocks continue meanwhile', async () => {
  const service = await openTestService(chain, { name: 'running', tokens: ['LARK'] })
  try {
    await service.untilEvaluated()
    const running = command(writeConfig(chain, { name: 'running', tokens: ['LARK'] }))
    const block = await chain.mine()
    await service.untilTip(block)
    expect((await running.exited)[0], running.said()).toBe(0)
    expect(running.said()).toContain('"done":true')
    expect(service.faults).toEqual([])
    const { pools } = await service.store.readPools({
      chainId: CHAIN_ID,
      tokenAddress: null,
      after: null,
      limit: 100,
    })
    const own = new Set(pools.map(({ poolAddress }) => poolAddress))
    const events = await swapsOfLark(service.store, SWAPS * BLOCKS)
    expect(own.has(chain.pool('uniswap-v2', 'USDC', 'LARK'))).toBe(true)
    expect(events.length).toBe(Math.ceil(SWAPS / 2) * BLOCKS)
  } finally {
    await service.close()
  }
})

test('an unconfigured chain is named with the configured ones', async () => {
  const file = writeConfig(chain, { name: 'wrong' })
  const child = spawn(process.execPath, [COMMAND, 'backfill', '--config', file, '--chain', '10'])
  let said = ''
  child.stderr.on('data', (part: Buffer) => {
    said += String(part)
  })
  expect((await once(child, 'exit'))[0]).toBe(1)
  expect(said).toContain('chain 10 is not in the configuration; it has 1')
})

test('the oracle itself: an untouched node gives the same through a proxy', async () => {
  await gives([pass])
})
