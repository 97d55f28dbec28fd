/** R-find-4: a token that was enrolled by being asked for sleeps after seven days without a question. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ask, type Answer } from './testing/answer.ts'
import { callTool, connectMcp, WAYS } from './testing/mcpClient.ts'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { openTestService, type TestService } from './testing/testService.ts'
import { until } from './testing/until.ts'

const DAY_MS = 86_400_000
const [MCP_WAY] = WAYS

const STRAYS = ['STRAY', 'SOLD', 'FAKED', 'TOLD', 'LEFT']

let chain: TestChain
let service: TestService
let stray: Hex
beforeAll(async () => {
  chain = await startTestChain(
    planWith({
      tokens: STRAYS.map((symbol, at) => token(0x51 + at, symbol, 2)),
      pools: STRAYS.map(symbol => ({
        deployment: 'uniswap-v2',
        pair: ['USDC', symbol] as const,
        usd: 400_000,
      })),
    }),
  )
  stray = chain.token('STRAY')
  service = await openTestService(chain, { tokens: ['LARK'] })
})
afterAll(async () => {
  await service?.close()
  await chain?.close()
})

const CONSUMER = 'asker'
/** A refusal for asking too often is waited out. */
const asked = (path: string, address: Hex): Promise<Answer> =>
  until('an answer', async () => {
    const key = await service.key(['read'], CONSUMER)
    const answer = await ask(`${service.url}/v1/${path}/${CHAIN_ID}/${address}`, { key })
    return answer.status !== 429 && answer
  })
const quoteOf = (address: Hex): Promise<Answer> => asked('quote/token', address)

async function untilPriced(address: Hex): Promise<void> {
  await chain.untilMining(`${address} priced`, async () => {
    const { status, body } = await quoteOf(address)
    return status === 200 && (body as { state: string }).state === 'PRICED'
  })
}

/** As if the last question for each lay so far back. */
async function lastAsked(daysAgo: number, tokens = [stray, chain.token('LARK')]): Promise<void> {
  const atMs = Date.now() - daysAgo * DAY_MS
  for (const tokenAddress of tokens)
    await service.store.claimEnrolments([
      {
        chainId: CHAIN_ID,
        tokenAddress,
        consumer: CONSUMER,
        atMs,
        sinceMs: 0,
        most: 9,
      },
    ])
}

async function restarted(): Promise<void> {
  await service.close()
  // One that starts on an old head has no feed, and takes prices back for that.
  await chain.mineNow()
  service = await openTestService(chain, { tokens: ['LARK'] })
}

const stateOf = async (address: Hex): Promise<{ readonly state?: string; readonly reason?: string }> =>
  JSON.parse((await service.store.readToken(CHAIN_ID, address))?.price ?? '{}') as { state?: string }

it('R-sell-5: an exit, a cost and a tool call count as requests for a token, like a quote', async () => {
  const [sold, faked, viaTool, left] = STRAYS.slice(1).map(symbol => chain.token(symbol)) as [
    Hex,
    Hex,
    Hex,
    Hex,
  ]
  for (const address of [sold, faked, viaTool, left]) await untilPriced(address)
  await restarted()
  await service.untilWell()
  await lastAsked(1, [sold, faked, viaTool, left])
  expect((await asked('exit', sold)).status).toBe(200)
  expect((await asked('cost', faked)).status).toBe(200)
  const client = await connectMcp(service.url, await service.key(['read'], CONSUMER), MCP_WAY)
  await callTool(client, 'exit', { chain_id: CHAIN_ID, token_address: viaTool })
  await client.close()
  // Requests are kept in memory and written when the service ends.
  await restarted()
  const idle = await service.store.readIdle(CHAIN_ID, Date.now() - DAY_MS / 2)
  expect([sold, faked, viaTool, left].filter(address => idle.includes(address))).toEqual([left])
})

it('R-find-4: a token nobody requests turns dormant after a week, and returns when it is requested', async () => {
  await untilPriced(stray)
  await untilPriced(chain.token('LARK'))

  // Being asked for is remembered over a restart: what was asked for today does not sleep.
  await lastAsked(8)
  expect((await quoteOf(stray)).status).toBe(200)
  await restarted()
  await service.untilEvaluated()
  expect(await service.store.readIdle(CHAIN_ID, Date.now() - DAY_MS)).not.toContain(stray)
  await untilPriced(stray)

  // What is still in memory is written at the end of a service; the next one is asked nothing.
  await restarted()
  await service.untilEvaluated()
  await lastAsked(8)
  const before = await service.head()
  await restarted()
  const record = await service.untilRecord(
    'the record that puts it to sleep',
    before,
    ({ type, payload }) =>
      type === 'PRICE_RETRACT' &&
      (payload as { token_id?: string }).token_id?.endsWith(stray.slice(2)) === true,
  )
  expect(record.payload).toMatchObject({
    reason: 'OPERATOR',
    // R-unpriced-4: the record that it withdraws was the last with a price.
    current: {
      state: 'UNPRICED',
      reason: 'DORMANT',
      last_priced: {
        price_usd: { display: expect.any(String) as string },
        stream_sequence: (record.payload as { retracted?: { stream_sequence?: number } }).retracted
          ?.stream_sequence as number,
      },
    },
  })
  expect(await stateOf(stray)).toMatchObject({
    state: 'UNPRICED',
    reason: 'DORMANT',
    last_priced: { stream_sequence: expect.any(Number) as number },
  })
  // One of the configuration stays, however long nobody asks for it.
  await chain.untilMining('a price', async () => (await stateOf(chain.token('LARK'))).state === 'PRICED')

  const answer = await quoteOf(stray)
  expect([answer.status, (answer.body as { state: string }).state]).toEqual([202, 'PENDING'])
  await untilPriced(stray)
  await until('nothing failed', () => service.faults.length === 0)
})
