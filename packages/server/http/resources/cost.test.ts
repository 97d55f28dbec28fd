import Fastify from 'fastify'
import { expect, it } from 'vitest'
import type { Principal } from '../../access/access.ts'
import { RateLimit } from '../../access/rateLimit.ts'
import type { CostAnswer } from '../../worker/chainService.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { SingleFlight } from '../plumbing/singleFlight.ts'
import { registerCost } from './cost.ts'

const QUOTA = { units: 1000, windowMs: 1000, burst: 1000 }
const clock = { nowMs: () => 0, monotonicMs: () => 0 }
const [ONE, OTHER] = ['11', '22'].map(digits => `0x${digits.repeat(20)}`)

/** The resource over chains that answer when the test says so. */
function setup() {
  const computed: { name: string; answer: (answer: CostAnswer | Error) => void }[] = []
  const limit = new RateLimit(clock, QUOTA)
  const chainOf = (chainId: number) => ({
    config: { chainId },
    service: () => ({
      chainId,
      cost: (token: string) =>
        new Promise<CostAnswer>((resolve, reject) => {
          const answer = (given: CostAnswer | Error) =>
            given instanceof Error ? reject(given) : resolve(given)
          computed.push({ name: `${chainId} ${token}`, answer })
        }),
    }),
  })
  const app = Fastify()
  app.decorateRequest('principal', null)
  app.addHook('onRequest', async request => {
    const consumer = String(request.headers['x-consumer'])
    Object.assign(request, { principal: { consumer, limits: null } as Principal })
  })
  registerCost(app, {
    chains: new Map([1, 10].map(chainId => [chainId, chainOf(chainId)])),
    clock,
    feeds: { gone: () => null },
    flights: new SingleFlight(),
    limit,
    quotes: { read: async () => ({}) },
    store: {},
  } as unknown as HttpContext)
  const ask = async (consumer: string, token = ONE, chainId = 1) =>
    app.inject({ url: `/v1/cost/${chainId}/${token}`, headers: { 'x-consumer': consumer } })
  const unitsLeft = (consumer: string) => limit.take(consumer, 0).remaining
  return { ask, computed, unitsLeft }
}

/** Until the chains were asked so often, and any request that is still on its way would have asked too. */
async function untilAsked(computed: readonly unknown[], times: number): Promise<void> {
  await expect.poll(() => computed.length).toBeGreaterThanOrEqual(times)
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

it('requests for the same token share one computation, and each is charged for it', async () => {
  const { ask, computed, unitsLeft } = setup()
  const both = Promise.all([ask('a'), ask('b')])
  await untilAsked(computed, 1)
  expect(computed.map(({ name }) => name)).toEqual([`1 ${ONE}`])
  computed[0]?.answer({ outcome: 'cost', cost: '{"moves":[]}' })
  expect((await both).map(({ statusCode, body }) => [statusCode, body])).toEqual([
    [200, '{"moves":[]}'],
    [200, '{"moves":[]}'],
  ])
  expect([unitsLeft('a'), unitsLeft('b')]).toEqual([991, 991])
})

it('another token, the same token on another chain, and a later request are computed separately', async () => {
  const { ask, computed } = setup()
  const all = Promise.all([ask('a'), ask('a', OTHER), ask('a', ONE, 10)])
  await untilAsked(computed, 3)
  expect(computed.map(({ name }) => name).sort()).toEqual([`1 ${ONE}`, `1 ${OTHER}`, `10 ${ONE}`])
  for (const { answer } of computed) answer({ outcome: 'cost', cost: '{}' })
  await all
  const later = ask('a')
  await untilAsked(computed, 4)
  computed[3]?.answer({ outcome: 'cost', cost: '{}' })
  expect((await later).statusCode).toBe(200)
})

it('a failed computation fails all who waited for it, and the next request begins a new one', async () => {
  const { ask, computed } = setup()
  const both = Promise.all([ask('a'), ask('b')])
  await untilAsked(computed, 1)
  computed[0]?.answer(new Error('the thread ended'))
  expect((await both).map(({ statusCode }) => statusCode)).toEqual([500, 500])
  const next = ask('a')
  await untilAsked(computed, 2)
  computed[1]?.answer({ outcome: 'cost', cost: '{}' })
  expect((await next).statusCode).toBe(200)
})
