/** A chain whose feed is down: every reader reports it over the stored state, which is unchanged, and prices return with the feed. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Client, CompactState, Envelope } from '@assay/sdk'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { pass, type RpcProxy, startRpcProxy } from '../../feed/testing/rpcProxy.ts'
import { ask } from '../testing/answer.ts'
import { CHAIN_ID } from '../testing/plan.ts'
import { idOf, isTokenUpsert } from '../testing/record.ts'
import { roomyClient } from '../testing/roomy.ts'
import { startTestChain, type TestChain } from '../testing/testChain.ts'
import { openTestService, startTestService, type TestService } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

let chain: TestChain
let proxy: RpcProxy
let service: TestService | null = null
beforeAll(async () => {
  chain = await startTestChain()
  proxy = await startRpcProxy(chain.world.url)
})
afterEach(async () => {
  proxy.rule = pass
  await service?.close()
  service = null
})
afterAll(async () => {
  await proxy?.close()
  await chain?.close()
})

const token = () => chain.token('MOTH')
const pool = () => chain.pool('uniswap-v2', 'USDT', 'MOTH')
const at = () => ({ chain_id: CHAIN_ID, token_address: token() })

const quoteUrl = ({ url }: TestService) => `${url}/v1/quote/token/${CHAIN_ID}/${token()}`

/** Everything the chain's tokens were last said to be. */
async function storedPrices({ store }: TestService): Promise<Map<string, CompactState>> {
  const rows = await store.readTokens({ chainId: CHAIN_ID, after: null, limit: 1000 })
  return new Map(
    rows.flatMap(({ tokenAddress, price }) =>
      price === null ? [] : [[tokenAddress, JSON.parse(price) as CompactState]],
    ),
  )
}

/** Runs until every token has a price, then stops: what a service finds that starts on this database. */
async function runOnce(name: string): Promise<{ before: ReadonlyMap<string, CompactState>; etag: string }> {
  const first = await startTestService(chain, { name, endpoints: [proxy.url] })
  await chain.untilMining('every token priced', async () =>
    [...(await storedPrices(first)).values()].every(({ state }) => state === 'PRICED'),
  )
  const { headers } = await ask(quoteUrl(first), { key: await first.key() })
  const before = await storedPrices(first)
  await first.close()
  return { before, etag: headers.get('etag') as string }
}

async function untilGone(client: Client): Promise<void> {
  await until(
    'the feed gone',
    async () => (await client.fetchHealth({ chain_id: CHAIN_ID })).status === 'UNAVAILABLE',
  )
}

/** Each reader's result for the token's price, by the name of the reader. */
async function readings(running: TestService, client: Client): Promise<Record<string, unknown>> {
  const key = await running.key()
  const get = async (path: string) => (await ask(`${running.url}${path}`, { key })).body
  const path = `/v1/quote/token/${CHAIN_ID}/${token()}`
  const page = await client.fetchTokens({ chain_id: CHAIN_ID })
  const { quotes } = await client.quoteTokens({ tokens: [at()] })
  const found = await client.search({ address: token() })
  const foundPool = (await client.search({ address: pool() })).pools[0]
  const detail = await client.fetchPool({ chain_id: CHAIN_ID, pool_address: pool() })
  const sideOf = (of: typeof detail | undefined) =>
    of?.token0.token_address === token() ? of.token0.price : of?.token1.price
  return {
    quote: await get(path),
    'quote, requested again': await get(path),
    'quote of upper case': await get(path.replace(token(), `0x${token().slice(2).toUpperCase()}`)),
    'narrowed quote': await get(`${path}?max_hops=2`),
    'quote no older than now': await get(`${path}?max_age_ms=0`),
    batch: 'quote' in (quotes[0] ?? {}) ? (quotes[0] as { quote: object }).quote : quotes[0],
    'token list': page.tokens.find(({ token_address }) => token_address === token())?.price,
    'token list, state': {
      state: page.tokens.find(({ token_address }) => token_address === token())?.state,
      reason: 'FEED',
    },
    search: found.tokens[0]?.price,
    'search of a pool': sideOf(foundPool),
    'pool detail': sideOf(detail),
  }
}

async function expectGone(running: TestService, client: Client): Promise<void> {
  const stored = (await storedPrices(running)).get(token()) as CompactState
  for (const [reader, said] of Object.entries(await readings(running, client))) {
    expect(said, reader).toMatchObject({ state: 'UNPRICED', reason: 'FEED' })
    // If the chain itself has withdrawn its price, the record already shows it.
    if (reader !== 'token list, state')
      expect((said as { presented?: boolean }).presented, reader).toBe(
        stored.state === 'PRICED' ? true : undefined,
      )
  }
  const { chains } = await client.fetchChains()
  const health = chains.find(({ chain_id }) => chain_id === CHAIN_ID)?.health
  expect(health?.status).toBe('UNAVAILABLE')
  expect(health?.reasons).not.toEqual([])
  const detail = await client.fetchPool({ chain_id: CHAIN_ID, pool_address: pool() })
  expect(detail.state).toMatchObject({ score: 0, reason: 'FEED', components: { feed: { score: 0 } } })
}

/** Snapshot and history say what is stored, and how the feed is beside it. */
async function expectUnedited(running: TestService, client: Client): Promise<void> {
  const stored = (await storedPrices(running)).get(token()) as CompactState
  const { pools, feeds } = await client.fetchPools({ chain_id: CHAIN_ID, token_address: token() })
  const feed = { chain_id: CHAIN_ID, status: 'UNAVAILABLE' }
  expect(feeds).toMatchObject([feed])
  for (const { token0, token1, state } of pools) {
    expect(token0.token_address === token() ? token0.price : token1.price).toEqual(stored)
    expect(state).not.toHaveProperty('presented')
  }
  const sequence = stored.as_of.stream_sequence
  const history = await client.fetchHistory({ ...at(), at_sequence: sequence })
  expect(history.prices).toMatchObject([stored])
  expect(history.feed).toMatchObject(feed)
  const session = await client.createSession({ chain_id: CHAIN_ID })
  expect(session.feed).toMatchObject(feed)
}

/** Each token of before was published, and the readers have its price again. */
async function expectBack(
  running: TestService,
  client: Client,
  before: ReadonlyMap<string, CompactState>,
  head: number,
): Promise<void> {
  await chain.untilMining('priced again', async () => {
    const { state } = await client.quoteToken(at())
    return state === 'PRICED' && (await client.fetchHealth({ chain_id: CHAIN_ID })).status === 'HEALTHY'
  })
  const since = await running.records(head)
  for (const address of before.keys())
    expect(
      since.filter(isTokenUpsert(address)).some(({ payload }) => payload.state === 'PRICED'),
      address,
    ).toBe(true)
  for (const [reader, said] of Object.entries(await readings(running, client)))
    expect(said, reader).toMatchObject({ state: 'PRICED' })
}

/** No start can read what its worker left, so the chain has no worker at all; undone by what is returned. */
function withoutWorker(name: string): () => void {
  const path = join(chain.folder, `${name}.db`)
  const run = (sql: string) => {
    const database = new DatabaseSync(path, { timeout: 60_000 })
    database.exec(sql)
    database.close()
  }
  run(`UPDATE entity SET text = '!' || text`)
  return () => run(`UPDATE entity SET text = substr(text, 2)`)
}

it('R-present-1, R-present-2, R-present-4: without any worker every reader answers UNPRICED FEED, presented, and the record stays', async () => {
  const { before, etag } = await runOnce('silent')
  const repair = withoutWorker('silent')
  service = await openTestService(chain, { name: 'silent', endpoints: [proxy.url] })
  const running = service
  const client = await roomyClient(running)
  const key = await running.key()
  const url = quoteUrl(running)
  const head = await running.head()

  await untilGone(client)
  expect(await running.head()).toBe(head)
  expect(await storedPrices(running)).toEqual(before)
  await expectGone(running, client)
  await expectUnedited(running, client)
  expect(await client.quoteToken(at())).toMatchObject({
    source: 'RETRIEVED',
    candidates: [],
    last_priced: {
      price_usd: (before.get(token()) as { price_usd?: object }).price_usd,
      stream_sequence: before.get(token())?.as_of.stream_sequence,
    },
  })

  // A client with the previous price learns that it is invalid; one that already knows has nothing to fetch.
  const changed = await ask(url, { key, headers: { 'if-none-match': etag } })
  expect(changed.status).toBe(200)
  expect(changed.headers.get('etag')).not.toBe(etag)
  const known = await ask(url, { key, headers: { 'if-none-match': changed.headers.get('etag') as string } })
  expect(known.status).toBe(304)

  // What needs a worker has no price to give.
  const poolQuote = await ask(`${running.url}/v1/quote/pool/${CHAIN_ID}/${pool()}`, { key })
  expect(poolQuote).toMatchObject({ status: 503, body: { code: 'RPC_UNAVAILABLE' } })

  const follower = client.follow({ chain_id: CHAIN_ID })
  const following = follower.run({})
  const view = () => follower.token(idOf(token()))?.price
  await until('the follower has it', () => view() !== undefined)
  expect(view()).toMatchObject({ state: 'UNPRICED', reason: 'FEED', presented: true })
  const stored = [...follower.storedTokens()].find(({ token_id }) => token_id === idOf(token()))
  expect(stored?.price).toEqual(before.get(token()))

  repair()
  await expectBack(running, client, before, head)
  await until('the follower has its price', () => view()?.state === 'PRICED')
  // Nothing but the silence parts them: each token is published again with the health that ends it, or after it.
  const after = await running.records(head)
  const isHealthy = (record: Envelope) =>
    record.type === 'FEED_HEALTH' && ['HEALTHY', 'DEGRADED'].includes(record.payload.status)
  const back = after.findIndex(isHealthy)
  for (const address of before.keys())
    expect(after.slice(back).some(isTokenUpsert(address)), address).toBe(true)
  follower.close()
  await following
})

it('F32: endpoints that are down at start: every reader shows it, and it recovers by itself', async () => {
  const { before } = await runOnce('away')
  proxy.rule = (_call, _fetchAnswer, response) => {
    response.destroy()
    return 'handled'
  }
  service = await openTestService(chain, { name: 'away', endpoints: [proxy.url] })
  const client = await roomyClient(service)
  const head = await service.head()
  await untilGone(client)
  await expectGone(service, client)
  await expectUnedited(service, client)
  proxy.rule = pass
  await expectBack(service, client, before, head)
})

it('a chain that never reported is UNAVAILABLE in the chain list and in its health', async () => {
  proxy.rule = (_call, _fetchAnswer, response) => {
    response.destroy()
    return 'handled'
  }
  service = await openTestService(chain, { name: 'never', endpoints: [proxy.url] })
  const client = await roomyClient(service)
  const { chains } = await client.fetchChains()
  expect(chains).toMatchObject([{ chain_id: CHAIN_ID, health: { status: 'UNAVAILABLE' } }])
  expect(chains[0]?.health?.reasons).not.toEqual([])
  expect(await client.fetchHealth({ chain_id: CHAIN_ID })).toMatchObject({ status: 'UNAVAILABLE' })
})
