/** The thread of the API blocks for seconds: chains continue without it, and no client loses a stream or a record. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildService, clientOf, freePort, startChildService } from '../testing/childService.ts'
import { sized } from '../testing/combined.ts'
import { cursorAfter, Heard } from '../testing/heard.ts'
import { blockable } from '../testing/loopBlock.ts'
import { CHAIN_ID } from '../testing/plan.ts'
import { isSwap, isTokenUpsert } from '../testing/record.ts'
import { storedTip } from '../testing/storedTip.ts'
import { type Block, startTestChain, type TestChain } from '../testing/testChain.ts'
import { writeConfig } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

const BLOCKED_MS = sized(2000, 5000)
const STREAMS = sized(4, 20)
/** Blocks with a trade while nobody answers. */
const TRADES = 3

let chain: TestChain
let child: ChildService
let config: string
beforeAll(async () => {
  chain = await startTestChain()
  config = writeConfig(chain, { name: 'blocked', port: await freePort() })
  child = await startChildService(config, blockable(BLOCKED_MS))
})
afterAll(async () => {
  await child?.kill()
  await chain?.close()
})

const lagMaxS = (text: string): number =>
  Number(/^assay_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1])

it(`an API blocked for ${BLOCKED_MS} ms stops no commit, drops no stream and shows it in its metrics`, async () => {
  const client = await clientOf(config, child.url, 'listener')
  const resumeCursor = await cursorAfter(client, CHAIN_ID, 0)
  const streams = Array.from(
    { length: STREAMS },
    () => new Heard(client, { filter: { chain_ids: [CHAIN_ID] }, resumeCursor }),
  )
  const moth = chain.token('MOTH')
  await chain.untilMining('every client receives a price', async () =>
    streams.every(({ records }) => records.some(isTokenUpsert(moth))),
  )
  const database = join(chain.folder, 'blocked.db')
  const before = await chain.head()
  await until('the chain at its head', () => storedTip(database, CHAIN_ID) >= before.number)

  process.kill(child.pid, 'SIGUSR2')
  const startMs = performance.now()
  let answeredMs: number | null = null
  const answer = fetch(`${child.url}/healthz`).then(({ status }) => {
    answeredMs = performance.now() - startMs
    return status
  })
  const trades: Block[] = []
  for (let at = 0; at < TRADES; at++)
    trades.push(await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDT', 'MOTH'), 'MOTH', 10 + at)))
  const last = trades.at(-1) as Block
  await until('the chain continues', () => storedTip(database, CHAIN_ID) >= last.number)
  // Committed while the API could not even say that it lives.
  expect(answeredMs).toBeNull()
  expect(await answer).toBe(200)
  expect(answeredMs).toBeGreaterThan(BLOCKED_MS * 0.9)

  for (const stream of streams) {
    await until('the last trade received', () =>
      stream.records.some(each => isSwap()(each) && each.payload.block_hash === last.hash),
    )
    expect(stream.outcome).toBeNull()
    expect(stream.sequences).toEqual(stream.sequences.map((_, at) => at + 1))
    const swaps = stream.records.filter(isSwap()).map(({ payload }) => payload.block_hash)
    expect(swaps.filter(hash => trades.some(trade => trade.hash === hash))).toEqual(
      trades.map(({ hash }) => hash),
    )
  }
  expect(lagMaxS(await (await fetch(`${child.url}/metrics`)).text())).toBeGreaterThan(
    (BLOCKED_MS * 0.9) / 1000,
  )
  expect(await client.fetchHealth({ chain_id: CHAIN_ID })).toMatchObject({ status: 'HEALTHY' })
  await Promise.all(streams.map(stream => stream.close()))
})
