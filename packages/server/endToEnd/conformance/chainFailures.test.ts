/**
 * Sentences that need a chain in trouble: quote errors of R-error-2 whose cause is a node or a third party's
 * contract, the expiry of R-expiry-1, and answers of R-quote-2 that must not be older than asked for.
 */
import { createV2Pair, deployV2Factory, V2_PAIR_INIT_CODE_HASH } from '@assay/world'
import { getAddress } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { pass, type RpcProxy, startRpcProxy } from '../../feed/testing/rpcProxy.ts'
import { CHAIN_ID, planWith } from '../testing/plan.ts'
import { isTokenRetract, isTokenUpsert } from '../testing/record.ts'
import { type Hex, startTestChain, type TestChain } from '../testing/testChain.ts'
import { startTestService, type TestService } from '../testing/testService.ts'
import { until } from '../testing/until.ts'
import { DescribedApi } from './describedApi.ts'
import { writeExamples } from './examples.ts'

let chain: TestChain
let proxy: RpcProxy
let service: TestService
let api: DescribedApi
/** A pair of a factory nobody has listed. */
let unlisted: Hex
beforeAll(async () => {
  chain = await startTestChain(planWith())
  unlisted = await makeUnlistedPool()
  proxy = await startRpcProxy(chain.world.url)
  service = await startTestService(chain, { tokens: ['LARK', 'MOTH'], endpoints: [proxy.url] })
  api = await DescribedApi.of(service)
})
afterEach(() => {
  proxy.rule = pass
})
afterAll(async () => {
  await service?.close()
  await proxy?.close()
  await chain?.close()
  if (api !== undefined) writeExamples(api.answers)
})

async function makeUnlistedPool(): Promise<Hex> {
  const { client } = chain.world
  const { address } = await deployV2Factory(client, `0x${'fa'.repeat(20)}`)
  const tokens = [getAddress(chain.token('USDC')), getAddress(chain.token('LARK'))] as const
  const made = await createV2Pair(client, { address, pairInitCodeHash: V2_PAIR_INIT_CODE_HASH }, tokens)
  await chain.mine()
  return made.address.toLowerCase() as Hex
}

type Body = Record<string, unknown>
const poolPath = (pool: string, query = '') => `/v1/quote/pool/${CHAIN_ID}/${pool}${query}`
const tokenPath = (symbol: string, query = '') => `/v1/quote/token/${CHAIN_ID}/${chain.token(symbol)}${query}`
const pair = () => chain.pool('uniswap-v2', 'USDT', 'MOTH')

/** The node hangs up on everyone. */
function cutOff(): void {
  proxy.rule = (_call, _fetchAnswer, response) => {
    response.destroy()
    return 'handled'
  }
}

/** Calls are answered when the test releases them. */
function holdCalls(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  proxy.rule = async (call, fetchAnswer) => {
    if (call.method === 'eth_call') await promise
    return fetchAnswer()
  }
  return resolve
}

describe('R-error-2: errors of a chain', () => {
  it('NOT_SUPPORTED has status 422: a pool-like contract of an unlisted factory', async () => {
    const { status, body } = await api.get(poolPath(unlisted))
    expect([status, (body as Body)['code']]).toEqual([422, 'NOT_SUPPORTED'])
  })

  it('DEADLINE_EXCEEDED has status 504: not there within deadline_ms', async () => {
    const release = holdCalls()
    const { status, body } = await api.get(poolPath(`0x${'ab'.repeat(20)}`, '?deadline_ms=100'))
    expect([status, (body as Body)['code']]).toEqual([504, 'DEADLINE_EXCEEDED'])
    release()
  })

  it('RPC_UNAVAILABLE has status 503: a chain that cannot be called; published prices are still served', async () => {
    await service.untilWell()
    cutOff()
    const { status, body } = await api.get(poolPath(`0x${'cd'.repeat(20)}`, '?deadline_ms=10000'))
    expect([status, (body as Body)['code']]).toEqual([503, 'RPC_UNAVAILABLE'])
    expect((await api.get(tokenPath('LARK'))).body).toMatchObject({ state: 'PRICED', source: 'RETRIEVED' })
  })
})

describe('R-quote-2: max_age_ms', () => {
  /** About this pool: others are made for what a block brings. */
  const calls = () =>
    proxy.calls.filter(
      ({ method, params }) => method === 'eth_call' && JSON.stringify(params).includes(pair().slice(2)),
    ).length

  it('of a pool quote: a state verified longer ago is read from the chain again, a younger one is not', async () => {
    await until(
      'the node back',
      async () => (await api.get(poolPath(pair(), '?max_age_ms=0'))).status === 200,
    )
    const before = calls()
    expect((await api.get(poolPath(pair(), '?max_age_ms=604800000'))).status).toBe(200)
    expect((await api.get(poolPath(pair()))).status).toBe(200)
    expect(calls()).toBe(before)
    const { status, body } = await api.get(poolPath(pair(), '?max_age_ms=0'))
    expect([status, (body as Body)['source']]).toEqual([200, 'COMPUTED'])
    expect(calls()).toBeGreaterThan(before)
  })

  it('of a pool quote: never an older answer, but 503 while the chain cannot be called', async () => {
    cutOff()
    const { status, body } = await api.get(poolPath(pair(), '?max_age_ms=0&deadline_ms=10000'))
    expect([status, (body as Body)['code']]).toEqual([503, 'RPC_UNAVAILABLE'])
    expect((await api.get(poolPath(pair()))).status).toBe(200)
  })

  it('of a pool quote: never an older answer, but 504 while the chain takes too long', async () => {
    await until(
      'the node back',
      async () => (await api.get(poolPath(pair(), '?max_age_ms=0'))).status === 200,
    )
    const release = holdCalls()
    const { status, body } = await api.get(poolPath(pair(), '?max_age_ms=0&deadline_ms=100'))
    expect([status, (body as Body)['code']]).toEqual([504, 'DEADLINE_EXCEEDED'])
    release()
  })

  it('of a token quote: never an older answer, but 503 while the chain cannot be called', async () => {
    cutOff()
    const { status, body } = await api.get(tokenPath('MOTH', '?max_age_ms=0&deadline_ms=10000'))
    expect([status, (body as Body)['code']]).toEqual([503, 'RPC_UNAVAILABLE'])
  })
})

describe('R-expiry-1: expiry', () => {
  it('when no route survives, expiry of the route timer retracts the price with the reason ROUTE_EXPIRED', async () => {
    // A life of some seconds on a chain without blocks; nothing but the timer happens.
    const short = await startTestService(chain, {
      name: 'short-lived',
      tokens: ['MOTH'],
      policy: { ttl_ms: { default: 20_000, by_chain: { [CHAIN_ID]: 20_000 } } },
    })
    try {
      const moth = chain.token('MOTH')
      const own = await DescribedApi.of(short)
      await short.untilWell()
      // By the log: a price of some seconds may be over before it is asked for.
      const price = await chain.untilMining('a price', async () =>
        (await short.records()).findLast(
          record => isTokenUpsert(moth)(record) && record.payload.state === 'PRICED',
        ),
      )
      const retraction = await short.untilRecord(
        'the retraction',
        price.stream_sequence,
        isTokenRetract(moth),
      )
      expect(retraction.payload).toMatchObject({
        reason: 'ROUTE_EXPIRED',
        current: { state: 'UNPRICED', reason: 'ROUTE_EXPIRED' },
      })
      expect((await own.get(tokenPath('MOTH'))).body).toMatchObject({
        state: 'UNPRICED',
        reason: 'ROUTE_EXPIRED',
      })
    } finally {
      await short.close()
    }
  })
})
