/** All clients reconnect at once after the service was killed: the feed continues, all become live, nothing is lost. */
import { join } from 'node:path'
import { createClient } from '@assay/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { issueKeyIn, loadConfig } from '../../commands/config.ts'
import { type ChildService, freePort, startChildService } from '../testing/childService.ts'
import { IS_LONG, sized } from '../testing/combined.ts'
import { cursorAfter, Heard } from '../testing/heard.ts'
import { foldOf, listen } from '../testing/listener.ts'
import { CHAIN_ID } from '../testing/plan.ts'
import { ROOMY } from '../testing/roomy.ts'
import { storedTip } from '../testing/storedTip.ts'
import { startTestChain, type TestChain } from '../testing/testChain.ts'
import { writeConfig } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

const CLIENTS = sized(60, 1000)
/** More patient than a herd can be, and less than the SDK is by itself: they come within two seconds of one another. */
const BACKOFF = { baseMs: sized(20, 100), maxMs: sized(200, 2000), maxFailures: 10_000 }
const PATIENCE_MS = sized(180_000, 300_000)
/** More than a block takes on a machine that also runs the whole herd; a feed that waits for the herd takes longer. */
const COMMIT_MS = sized(5000, 10_000)

let chain: TestChain
let child: ChildService
let config: string
beforeAll(async () => {
  chain = await startTestChain()
  config = writeConfig(chain, { name: 'herd', port: await freePort() })
  child = await startChildService(config)
})
afterAll(async () => {
  await child?.kill()
  await chain?.close()
})

it(`${CLIENTS} clients that lost their service reconnect: the feed commits meanwhile, and each misses nothing`, async () => {
  const scopes = ['read', 'stream', 'admin'] as const
  const issued = await issueKeyIn(loadConfig(config, {}), { name: 'herd', consumer: 'herd', scopes })
  const client = createClient({ baseUrl: child.url, apiKey: issued.key })
  await client.admin.setLimits('herd', ROOMY)
  await chain.untilMining('priced', async () => {
    const { tokens } = await client.fetchTokens({ chain_id: CHAIN_ID })
    return tokens.length > 4 && tokens.every(each => each.state === 'PRICED')
  })
  const herd = Array.from({ length: CLIENTS }, () => listen(client, BACKOFF))
  const isLive = ({ follower }: (typeof herd)[number]) => follower.status === 'live'
  // A client is live with the first record it receives: blocks with a trade bring them.
  const pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  const trade = (usd: number) => chain.run(chain.sellV2(pair, usd % 2 === 0 ? 'USDT' : 'MOTH', usd))
  let usd = 10
  await until(
    'everyone live',
    async () => {
      await trade(usd++)
      return herd.every(isLive)
    },
    PATIENCE_MS,
  )
  await child.kill()
  await until('no client live', () => herd.every(each => !isLive(each)), PATIENCE_MS)
  await trade(usd++)

  child = await startChildService(config)
  const database = join(chain.folder, 'herd.db')
  const { number } = await chain.head()
  await until('what happened meanwhile', () => storedTip(database, CHAIN_ID) >= number)
  const commitsMs: number[] = []
  await until(
    'everyone back',
    async () => {
      const startMs = performance.now()
      const mined = await trade(usd++)
      await until('committed', () => storedTip(database, CHAIN_ID) >= mined.number)
      commitsMs.push(performance.now() - startMs)
      return herd.every(isLive)
    },
    PATIENCE_MS,
  )
  expect(Math.max(...commitsMs)).toBeLessThan(COMMIT_MS)

  const last = await trade(usd++)
  await until('the last block', () => storedTip(database, CHAIN_ID) >= last.number)
  const head = (await client.createSession({ chain_id: CHAIN_ID })).stream.head_sequence
  await until('everyone at the head', () => herd.every(each => (each.follower.sequence ?? 0) >= head))
  const replay = new Heard(client, {
    filter: { chain_ids: [CHAIN_ID] },
    resumeCursor: await cursorAfter(client, CHAIN_ID, 0),
  })
  await replay.untilSequence(head)
  await replay.close()
  const log = replay.sequences
  await until('all at one place', () => new Set(herd.map(each => each.follower.sequence)).size === 1)
  const nowMs = Date.now()
  const folds = new Set(herd.map(({ follower }) => foldOf(follower, nowMs)))
  expect(folds.size).toBe(1)
  for (const { failure, resets, sequences, reasons } of herd) {
    expect(failure).toBeNull()
    // One snapshot at the beginning; a reconnecting client resumes after its last record.
    expect(resets).toBe(1)
    expect(reasons.length).toBeGreaterThan(0)
    const [first = 0, end = 0] = [sequences[0], sequences.at(-1)]
    expect(sequences).toEqual(log.filter(each => each >= first && each <= end))
    expect(end).toBeGreaterThanOrEqual(head)
  }
  if (IS_LONG)
    console.log(
      `commits while the herd came: ${commitsMs.length}, at most ${Math.max(...commitsMs).toFixed(0)} ms; ` +
        `${herd.reduce((sum, { reasons }) => sum + reasons.length, 0)} connections over`,
    )
  for (const { follower } of herd) follower.close()
})
