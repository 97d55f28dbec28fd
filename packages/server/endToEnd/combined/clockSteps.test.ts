/** The wall clock of a running service is set forward and back by an hour: no client is wrongly admitted, locked out or flooded, and the chain continues. */
import { join } from 'node:path'
import { createClient, type Client } from '@assay/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { issueKeyIn, loadConfig } from '../../commands/config.ts'
import { ask } from '../testing/answer.ts'
import { type ChildService, clientOf, freePort, startChildService } from '../testing/childService.ts'
import { setClock, settable } from '../testing/clockStep.ts'
import { IS_LONG, sized } from '../testing/combined.ts'
import { cursorAfter, Heard } from '../testing/heard.ts'
import { CHAIN_ID } from '../testing/plan.ts'
import { isSwap } from '../testing/record.ts'
import { ROOMY } from '../testing/roomy.ts'
import { storedTip } from '../testing/storedTip.ts'
import { type Block, type Hex, startTestChain, type TestChain } from '../testing/testChain.ts'
import { writeConfig } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

const HOUR_MS = 3_600_000
/** The successive settings of the clock. */
const STEPS = sized([-HOUR_MS, 0], [HOUR_MS, 0, -HOUR_MS, 0])
const HOURS = STEPS.map(step => `${step / HOUR_MS} h`).join(', ')
/** A block of one trade is said in a handful of records; a timer that runs wild would say thousands. */
const MOST_RECORDS_PER_BLOCK = 40

let chain: TestChain
let child: ChildService
let config: string
let clock: string
let client: Client
let cookie: string
let pair: Hex
beforeAll(async () => {
  chain = await startTestChain()
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  config = writeConfig(chain, { name: 'clock', port: await freePort() })
  clock = join(chain.folder, 'clock')
  child = await startChildService(config, settable(clock))
  const scopes = ['read', 'stream', 'admin'] as const
  const { key } = await issueKeyIn(loadConfig(config, {}), { name: 'watch', consumer: 'watch', scopes })
  client = createClient({ baseUrl: child.url, apiKey: key })
  await client.admin.setLimits('watch', ROOMY)
  const session = await ask(`${child.url}/v1/session`, { method: 'POST', key })
  cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] as string
})
afterAll(async () => {
  await child?.kill()
  await chain?.close()
})

const database = () => join(chain.folder, 'clock.db')
const health = () => client.fetchHealth({ chain_id: CHAIN_ID })
const quote = () => client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('MOTH') })

async function trade(usd: number): Promise<Block> {
  const block = await chain.run(chain.sellV2(pair, 'MOTH', usd))
  await until(`block ${block.number} committed`, () => storedTip(database(), CHAIN_ID) >= block.number)
  return block
}

/** Spends the rest of a quota, and returns how long the service asks to wait. */
async function untilLimited(spender: Client): Promise<number> {
  return until('a refusal', async () => {
    const refusal = await spender.fetchChains().then(
      () => null,
      (failure: { status?: number; retryAfterMs?: number }) => failure,
    )
    if (refusal === null) return false
    expect(refusal.status).toBe(429)
    return refusal.retryAfterMs
  })
}

it(`a clock set to ${HOURS}: streams, quotas and commits use the monotonic clock, and effects of the step are reported`, async () => {
  await chain.untilMining('priced', async () => (await quote().catch(() => null))?.state === 'PRICED')
  const heard = new Heard(client, {
    filter: { chain_ids: [CHAIN_ID] },
    resumeCursor: await cursorAfter(client, CHAIN_ID, 0),
  })
  const old = await cursorAfter(client, CHAIN_ID, 0)
  const spender = await clientOf(config, child.url, 'spender')
  // A unit a second: spent faster than that on any machine.
  await client.admin.setLimits('spender', { ...ROOMY, units: 60, window_ms: 60_000, burst: 5 })
  const trades: Block[] = []
  for (const [at, offsetMs] of STEPS.entries()) {
    await untilLimited(spender)
    const from = heard.records.length
    const { number } = await chain.head()
    setClock(clock, offsetMs)

    // A spent quota stays spent, and refills at its configured rate.
    const waitMs = await untilLimited(spender)
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThanOrEqual(1000)
    await until('let in again', () =>
      spender.fetchChains().then(
        () => true,
        () => false,
      ),
    )

    await until('the step is reported', async () => {
      const seen = await health()
      return seen.reasons.some(each => each === 'CLOCK' || (offsetMs >= 0 && each === 'NO_VERIFIED_HEAD'))
    })
    trades.push(await trade(10 + at), await trade(20 + at))
    // By a clock an hour ahead every block is an hour old, and no price is one of now.
    if (offsetMs > 0) await until('no price', async () => (await quote()).state !== 'PRICED')
    if (IS_LONG && offsetMs === 0) {
      await chain.untilMining('healthy again', async () => (await health()).status === 'HEALTHY')
      await chain.untilMining('priced again', async () => (await quote()).state === 'PRICED')
    }
    const last = trades.at(-1) as Block
    await until('heard', () =>
      heard.records.some(each => isSwap()(each) && each.payload.block_hash === last.hash),
    )
    const blocks = (await chain.head()).number - number
    expect(heard.records.length - from).toBeLessThan(MOST_RECORDS_PER_BLOCK * blocks)
    // A key is good whatever the hour; a session is not while it has been idle for an hour by the clock.
    const { status } = await ask(`${child.url}/v1/chains`, { headers: { cookie } })
    expect(status).toBe(offsetMs > 0 ? 401 : 200)
  }
  expect(heard.outcome).toBeNull()
  expect(heard.sequences).toEqual(heard.sequences.map((_, at) => at + 1))
  const swaps = heard.records.filter(isSwap(pair)).map(({ payload }) => payload.block_hash)
  expect(swaps).toEqual(trades.map(({ hash }) => hash))
  // A cursor of before is as good as ever.
  const again = new Heard(client, { filter: { chain_ids: [CHAIN_ID] }, resumeCursor: old })
  await again.untilSequence(heard.sequences.at(-1) as number)
  await Promise.all([heard.close(), again.close()])
})
