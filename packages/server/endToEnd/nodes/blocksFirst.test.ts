/**
 * Blocks first: on a node that takes 150 ms for every call, nothing anybody asks for delays a block, withdraws a price or
 * makes the chain unwell. Look-ups run beside the blocks, each paid for.
 */
import type { Client } from '@assay/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ask } from '../testing/answer.ts'
import { CHAIN_ID, token } from '../testing/plan.ts'
import { ROOMY, roomyClient } from '../testing/roomy.ts'
import { listed, many, type SlowNode, startSlowNode, WITH_MARKET } from '../testing/slowNode.ts'
import type { Hex, TestChain } from '../testing/testChain.ts'
import { startTestService, type TestService } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

let node: SlowNode
let chain: TestChain
let service: TestService
let operator: Client
/** Made when every token of the configuration had its first price. */
let firstRounds: number
beforeAll(async () => {
  node = await startSlowNode()
  chain = node.chain
  service = await startTestService(chain, {
    tokens: listed.map(({ symbol }) => symbol),
    endpoints: [node.proxy.url],
  })
  firstRounds = node.rounds.made
  operator = await roomyClient(service)
})
beforeEach(() => service.untilWell())
afterAll(async () => {
  await service?.close()
  await node?.close()
})

const UNLIMITED = { ...ROOMY, enrolments_per_day: 1000 }
/** Of which nothing comes back while a test runs. */
const SIXTY = { ...UNLIMITED, units: 60, window_ms: 3_600_000, burst: 60 }

async function keyOf(consumer: string, limits: typeof ROOMY): Promise<string> {
  const key = await service.key(['read'], consumer)
  await operator.admin.setLimits(consumer, limits)
  return key
}

type Entry = { readonly quote?: { readonly state: string }; readonly error?: { readonly code: string } }

async function batch(key: string, tokens: readonly { readonly address: string }[]) {
  const answer = await ask(`${service.url}/v1/quote/tokens`, {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      tokens: tokens.map(({ address }) => ({ chain_id: CHAIN_ID, token_address: address })),
    }),
  })
  const { quotes } = answer.body as { readonly quotes: readonly Entry[] }
  return { ...answer, said: quotes.map(({ quote, error }) => quote?.state ?? error?.code) }
}

const times = (said: readonly (string | undefined)[], word: string) =>
  said.filter(each => each === word).length

/** A block with a trade in it, and its record. */
async function tradeAndHear(): Promise<void> {
  const pair = chain.pool('uniswap-v2', 'USDC', 'LISTED0')
  const { hash, number } = await chain.run(chain.sellV2(pair, 'LISTED0', 5))
  await service.untilTip({ hash, number })
}

const statuses = async (after: number) =>
  (await service.records(after)).flatMap(({ type, payload }) =>
    type === 'FEED_HEALTH' ? [(payload as { readonly status: string }).status] : [],
  )
const retracted = async (after: number) =>
  (await service.records(after)).filter(({ type }) => type === 'PRICE_RETRACT')

describe('R-find-5: on a node that takes 150 ms a call', () => {
  it('the first prices of 20 configured tokens take a dozen rounds of calls, not one for each token', async () => {
    const prices = await Promise.all(
      listed.map(async ({ address }) =>
        JSON.parse((await service.store.readQuote(CHAIN_ID, address.toLowerCase() as Hex))?.quote ?? '{}'),
      ),
    )
    expect(prices.map(({ state }) => state)).toEqual(listed.map(() => 'PRICED'))
    // Multicall3 itself, then facts, factories, spacings, slots, words, ticks: once for the anchors, once for the tokens.
    expect(firstRounds).toBeLessThanOrEqual(14)
  })

  it('blocks and their prices continue while none of a hundred look-ups is answered', async () => {
    const key = await keyOf('waiting', UNLIMITED)
    const before = await service.head()
    const open = node.closeGate()
    const { status, said } = await batch(key, many.slice(0, 5))
    expect([status, times(said, 'PENDING')]).toEqual([200, 5])
    for (let block = 0; block < 4; block++) await tradeAndHear()
    expect(times((await batch(key, many.slice(0, 5))).said, 'PENDING')).toBe(5)
    expect(await retracted(before)).toEqual([])
    open()
    await chain.untilMining('the five evaluated', async () => {
      return times((await batch(key, many.slice(0, 5))).said, 'PRICED') === 5
    })
  })

  it('100 unknown tokens in one batch leave the chain HEALTHY and every price unchanged', async () => {
    const key = await keyOf('asking', UNLIMITED)
    const before = await service.head()
    const first = await batch(key, many)
    expect([first.status, times(first.said, 'PENDING') + times(first.said, 'PRICED')]).toEqual([
      200,
      many.length,
    ])
    let blocks = 0
    const last = await until('all hundred evaluated', async () => {
      await tradeAndHear()
      blocks++
      const answer = await batch(key, many)
      return times(answer.said, 'PENDING') === 0 && answer
    })
    expect(times(last.said, 'PRICED')).toBe(WITH_MARKET)
    expect(times(last.said, 'UNPRICED')).toBe(many.length - WITH_MARKET)
    expect(blocks).toBeGreaterThan(0)
    expect(await retracted(before)).toEqual([])
    expect(new Set([...(await statuses(before)), 'HEALTHY'])).toEqual(new Set(['HEALTHY']))
  })

  it('max_age_ms reads beside the blocks: they continue, and it is answered when the node answers', async () => {
    const key = await keyOf('fresh', UNLIMITED)
    await chain.mineNow()
    const open = node.closeGate()
    const path = `/v1/quote/token/${CHAIN_ID}/${chain.token('LISTED1')}?max_age_ms=0&deadline_ms=10000`
    const askAnew = () => ask(`${service.url}${path}`, { key })
    const asked = askAnew()
    await until('the reading under way', () => node.proxy.underWay() > 0)
    for (let block = 0; block < 3; block++) await tradeAndHear()
    open()
    // Past its deadline it continues, and the next request gets its result.
    const first = await asked
    const { status, body } = first.status === 504 ? await askAnew() : first
    expect([status, (body as { state: string }).state]).toEqual([200, 'PRICED'])
  })

  it('a token looked up while the chain is reorganised is enrolled with the state of the new branch', async () => {
    const key = await keyOf('reorganised', UNLIMITED)
    const pair = await chain.createV2('v2-two', 'USDC', 'MOTH')
    const { hash, number } = await chain.run(chain.fillV2(pair, 'USDC', 'MOTH', 20_000))
    await service.untilTip({ hash, number })
    const open = node.closeGate()
    const moth = [{ address: chain.token('MOTH') }]
    expect((await batch(key, moth)).said).toEqual(['PENDING'])
    const replaced = await chain.reorgWith(1, [
      { block: 0, ...chain.batch(chain.fillV2(pair, 'USDC', 'MOTH', 30_000)) },
    ])
    await service.untilTip(replaced)
    open()
    await chain.untilMining('the token evaluated', async () => {
      return (await batch(key, moth)).said[0] === 'PRICED'
    })
    const row = await service.store.readPool(CHAIN_ID, pair)
    expect(JSON.parse(row?.state ?? '{}')).toMatchObject({ reserves: await chain.reserves(pair) })
  })
})

describe('R-quote-6: a batch pays for the look-ups it starts', () => {
  const unknown = Array.from({ length: 12 }, (_, at) => token(0x3000 + at, `NONE${at}`, 1))

  it('entry by entry; entries beyond the quota are refused in place, and repeating the rest costs nothing', async () => {
    const key = await keyOf('counting', SIXTY)
    const open = node.closeGate()
    // Sixty units: the batch costs one, and five entries ten each.
    const first = await batch(key, unknown)
    expect(first.status).toBe(200)
    expect([times(first.said, 'PENDING'), times(first.said, 'BUDGET_EXCEEDED')]).toEqual([5, 7])
    const again = await batch(key, unknown.slice(0, 5))
    expect([again.status, times(again.said, 'PENDING')]).toEqual([200, 5])
    open()
  })

  it('and a quote of a single unknown token does too: ten units in all', async () => {
    const key = await keyOf('single', SIXTY)
    const url = (at: number) =>
      `${service.url}/v1/quote/token/${CHAIN_ID}/${token(0x4000 + at, 'NONE', 1).address}`
    const answers = []
    for (let at = 0; at < 7; at++) answers.push((await ask(url(at), { key })).status)
    expect(answers.slice(0, 6)).toEqual([202, 202, 202, 202, 202, 202])
    expect(answers[6]).toBe(429)
  })

  it('entries beyond the day are BUDGET_EXCEEDED in place, and 503 with Retry-After when alone', async () => {
    const key = await keyOf('daily', { ...ROOMY, enrolments_per_day: 2 })
    const { status, said } = await batch(
      key,
      Array.from({ length: 4 }, (_, at) => token(0x6000 + at, 'NONE', 1)),
    )
    expect([status, times(said, 'BUDGET_EXCEEDED')]).toEqual([200, 2])
    const alone = await ask(`${service.url}/v1/quote/token/${CHAIN_ID}/${token(0x5000, 'NONE', 1).address}`, {
      key,
    })
    expect([alone.status, (alone.body as { code: string }).code]).toEqual([503, 'BUDGET_EXCEEDED'])
    expect(Number(alone.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('an entry refused by the quota uses none of the day, and one refused by the day none of the quota', async () => {
    const stray = (at: number) => token(0x7000 + at, 'NONE', 1)
    const key = await keyOf('both', { ...SIXTY, enrolments_per_day: 6 })
    const few = await batch(
      key,
      Array.from({ length: 12 }, (_, at) => stray(at)),
    )
    expect([times(few.said, 'PENDING'), times(few.said, 'BUDGET_EXCEEDED')]).toEqual([5, 7])
    await operator.admin.setLimits('both', { ...SIXTY, burst: 1000, enrolments_per_day: 6 })
    const late = await batch(
      key,
      Array.from({ length: 3 }, (_, at) => stray(12 + at)),
    )
    expect([times(late.said, 'PENDING'), times(late.said, 'BUDGET_EXCEEDED')]).toEqual([1, 2])
    // Two batches at one unit each, and six look-ups at ten.
    expect(late.headers.get('ratelimit')).toMatch(/r=938;/)
  })
})
