/** Responses that no node should give: each is logged with the endpoint's name, none is applied, and another endpoint takes over. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { Rule } from '../../../world/proxy/rule.ts'
import type { FeedLog } from '../feedLog.ts'
import { closeAll, endpointsOf, follow, keep, start } from '../testing/following.ts'
import {
  EVERY_KIND,
  latest,
  type LocalChain,
  LOGGER,
  mineTransactions,
  startLocalChain,
} from '../testing/localChain.ts'
import { expectFinalChain } from '../testing/oracle.ts'

let chain: LocalChain
let proxy: FaultProxy
const logged: { readonly endpoint?: unknown; readonly code?: unknown; readonly reason?: unknown }[] = []
const log: FeedLog = (_level, _message, fields) => void logged.push(fields)
beforeAll(async () => {
  chain = await startLocalChain()
  await mineTransactions(chain, EVERY_KIND)
})
afterAll(() => chain.close())
afterEach(async () => {
  logged.length = 0
  await closeAll()
})

const blocks = [
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
]
const BLOCK_FAULTS: readonly (readonly [what: string, rule: Rule, code: string])[] = [
  [
    'a page of HTML',
    { fault: { kind: 'body', body: '<!doctype html><html>Sign in</html>' } },
    'ANSWER_MALFORMED',
  ],
  [
    'a response cut in the middle that claims to be complete',
    { method: blocks, fault: { kind: 'truncate', share: 0.5, isClean: true } },
    'ANSWER_MALFORMED',
  ],
  [
    'an answer cut in the middle with its connection',
    { method: blocks, fault: { kind: 'truncate', share: 0.5 } },
    'ENDPOINT_UNREACHABLE',
  ],
  [
    'a JSON number where hex belongs, in receipts',
    {
      method: 'eth_getBlockReceipts',
      fault: {
        kind: 'change',
        change: receipts => (receipts as object[]).map(each => ({ ...each, status: 1 })),
      },
    },
    'BLOCK_REFUSED',
  ],
  [
    'a JSON number where hex belongs, in headers',
    {
      method: ['eth_getBlockByHash', 'eth_getBlockByNumber'],
      fault: {
        kind: 'change',
        change: header => ({
          ...(header as object),
          timestamp: Number((header as { timestamp: string }).timestamp),
        }),
      },
    },
    'BLOCK_REFUSED',
  ],
]

describe('a block from an endpoint that gives', () => {
  it.each(BLOCK_FAULTS)('%s is taken from another, and the first is named', async (_what, rule, code) => {
    proxy = keep(await startFaultProxy({ url: chain.anvil.url }))
    const consumer = await follow(chain, {
      log,
      config: { endpoints: endpointsOf(proxy.url, chain.anvil.url) },
    })
    await consumer.untilTip(await latest(chain))
    logged.length = 0
    const active = proxy.add(rule)
    for (let n = 0; n < 20 && !logged.some(each => each.code === code); n++) {
      await mineTransactions(chain, EVERY_KIND)
      await consumer.untilTip(await latest(chain))
    }
    expect(active.fired()).toBeGreaterThan(0)
    const found = logged.find(each => each.code === code)
    expect(found).toMatchObject({ endpoint: 'node-1', reason: expect.stringMatching(/^endpoint node-1: /) })
    expect(logged.filter(each => each.endpoint === 'node-2')).toEqual([])
    await expectFinalChain(consumer, chain)
    expect(consumer.of('reorg')).toEqual([])
  })
})

it('an endpoint of another chain is named with both chains, and gets no further request', async () => {
  const other = keep(await startLocalChain({ chainId: 31_399 }))
  proxy = keep(await startFaultProxy({ url: other.anvil.url }))
  const consumer = await follow(chain, {
    log,
    config: { endpoints: endpointsOf(proxy.url, chain.anvil.url) },
  })
  await consumer.untilTip(await latest(chain))
  await mineTransactions(chain, EVERY_KIND)
  await consumer.untilTip(await latest(chain))
  await expectFinalChain(consumer, chain)
  expect(logged).toContainEqual(
    expect.objectContaining({
      endpoint: 'node-1',
      code: 'ENDPOINT_IDENTITY',
      reason: expect.stringMatching(/expected chain 31337 .* received chain 31399/),
    }),
  )
  const asked = new Set(proxy.calls.map(({ method }) => method))
  expect([...asked].sort()).toEqual(['eth_chainId', 'eth_getBlockByNumber'])
})

it('a JSON number as the result of a call is refused, and another endpoint answers', async () => {
  proxy = keep(
    await startFaultProxy({
      url: chain.anvil.url,
      rules: [{ method: 'eth_call', fault: { kind: 'change', change: () => 12 } }],
    }),
  )
  const endpoints = endpointsOf(proxy.url, chain.anvil.url)
  const feed = await start(chain, { log, config: { endpoints } })
  const { hash } = await latest(chain)
  for (let n = 0; n < 4; n++) expect(await feed.rpc.call(LOGGER, '0x', hash)).toBe('0x')
  for (const each of logged) expect(each).toMatchObject({ endpoint: 'node-1', code: 'ANSWER_MALFORMED' })
})
