/**
 * W1 at length: followers behind a network that cuts them at any byte, a service that is killed and started again, and
 * a chain that reorganises meanwhile. In the end each has the service's state, and received every record once.
 */
import { join } from 'node:path'
import { type Client, createClient } from '@assay/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { issueKeyIn, loadConfig } from '../../commands/config.ts'
import { type ChildService, freePort, startChildService } from '../testing/childService.ts'
import { type CuttingProxy, startCuttingProxy } from '../testing/cuttingProxy.ts'
import { cursorAfter, Heard } from '../testing/heard.ts'
import { foldOf, listen } from '../testing/listener.ts'
import { progressOf } from '../testing/longRun.ts'
import { CHAIN_ID, planWith } from '../testing/plan.ts'
import { ROOMY } from '../testing/roomy.ts'
import { storedTip } from '../testing/storedTip.ts'
import { type Block, startTestChain, type TestChain } from '../testing/testChain.ts'
import { writeConfig } from '../testing/testService.ts'
import { until } from '../testing/until.ts'
import { seedOfRun } from '../../../world/seed.ts'

const CUTS = Number(process.env['ASSAY_STREAM_CUTS'] ?? 150)
const SEED = seedOfRun()
const FOLLOWERS = 6
const KILLS = 3
/** Rounds between two looks at how far behind the service is, and how far it may be. */
const [KEEP_UP, NEAR] = [50, 25]
/** A connection lives for up to so many bytes: from inside the handshake to a dozen records. */
const LONGEST = 9000

let state = SEED >>> 0
const random = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

let chain: TestChain
let child: ChildService
let proxy: CuttingProxy
let file: string
let direct: Client
let key: string
/** Not before everyone has been live: what comes after is what none may miss. */
let isCutting = false
beforeAll(async () => {
  chain = await startTestChain(planWith())
  const port = await freePort()
  file = writeConfig(chain, { name: 'resume', port })
  child = await startChildService(file)
  const scopes = ['read', 'stream', 'admin'] as const
  key = (await issueKeyIn(loadConfig(file, {}), { name: 'follower', consumer: 'follower', scopes })).key
  direct = createClient({ baseUrl: child.url, apiKey: key })
  await direct.admin.setLimits('follower', ROOMY)
  await until('priced', async () => {
    const { tokens } = await direct.fetchTokens({ chain_id: CHAIN_ID })
    return tokens.length > 4 && tokens.every(each => each.state === 'PRICED')
  })
  proxy = await startCuttingProxy(port, () =>
    isCutting ? 1 + Math.floor(random() ** 2 * LONGEST) : Number.POSITIVE_INFINITY,
  )
})
afterAll(async () => {
  await proxy?.close()
  await child?.kill()
  await chain?.close()
})

const isNearHead = async (): Promise<boolean> => {
  const { number } = await chain.head()
  const { processed } = await direct.fetchHealth({ chain_id: CHAIN_ID })
  return processed !== null && number - processed.block_number < NEAR
}

const untilCommitted = ({ number }: Block): Promise<boolean> =>
  until(`block ${number} committed`, () => storedTip(join(chain.folder, 'resume.db'), CHAIN_ID) === number)

it(`${CUTS} cuts at random bytes, ${KILLS} kills and reorganisations between: every fold is the service's, and no record is missing or duplicated (seed ${SEED})`, async () => {
  const listeners = Array.from({ length: FOLLOWERS }, () =>
    listen(createClient({ baseUrl: proxy.url, apiKey: key })),
  )
  const pool = chain.pool('uniswap-v2', 'USDC', 'LARK')
  const v3 = chain.pool('uniswap-v3', 'WETH', 'LARK')
  await until('everyone live', async () => {
    await chain.mine(1)
    return listeners.every(({ follower }) => follower.status === 'live')
  })
  isCutting = true
  proxy.cutAll()
  const progress = progressOf('cuts', CUTS)
  let kills = 0
  for (let round = 0; proxy.cuts() < CUTS; round++) {
    await chain.run(
      chain.sellV2(pool, round % 2 === 0 ? 'LARK' : 'USDC', 500 + Math.floor(random() * 900)),
      chain.sellV3(v3, round % 2 === 0 ? 'WETH' : 'LARK', 200 + Math.floor(random() * 400)),
    )
    if (round % 7 === 6) await chain.reorg(1 + Math.floor(random() * 3))
    if (kills < KILLS && proxy.cuts() > ((kills + 1) * CUTS) / (KILLS + 1)) {
      kills += 1
      await child.kill()
      child = await startChildService(file)
    }
    for (const { failure } of listeners) expect(failure).toBeNull()
    progress(proxy.cuts())
    // A service behind its chain publishes no prices: it is to be cut off from clients, not outrun.
    if (round % KEEP_UP === KEEP_UP - 1) await until('the service near the head', isNearHead)
  }
  proxy.mend()
  // Blocks of this moment are what makes a feed healthy again.
  await chain.mineNow()
  await chain.untilMining(
    'a healthy feed',
    async () => (await direct.fetchHealth({ chain_id: CHAIN_ID })).status === 'HEALTHY',
  )
  const last = await chain.run(chain.sellV2(pool, 'LARK', 5000))
  await untilCommitted(last)
  // A service that got no processor for a while withdraws its prices, until blocks of its time come.
  await chain.untilMining('a price at the last trade', async () => {
    const quote = await direct.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('LARK') })
    return quote.state === 'PRICED' && quote.as_of.block_number >= last.number
  })
  await untilCommitted(await chain.head())
  const head = (await direct.createSession({ chain_id: CHAIN_ID })).stream.head_sequence
  await until('everyone at the head', () =>
    listeners.every(({ follower, failure }) => {
      if (failure !== null) throw failure
      return (follower.sequence ?? 0) >= head
    }),
  )

  // One that was never cut.
  const whole = listen(direct)
  await until('the uncut one at the head', () => (whole.follower.sequence ?? 0) >= head)
  const nowMs = Date.now()
  const replay = new Heard(direct, {
    filter: { chain_ids: [CHAIN_ID] },
    resumeCursor: await cursorAfter(direct, CHAIN_ID, 0),
  })
  await replay.untilSequence(head)
  const log = replay.sequences
  await replay.close()
  for (const { follower, sequences, resets } of listeners) {
    expect(resets).toBe(1)
    expect(foldOf(follower, nowMs)).toBe(foldOf(whole.follower, nowMs))
    const [first = 0, end = 0] = [sequences[0], sequences.at(-1)]
    expect(sequences).toEqual(log.filter(each => each >= first && each <= end))
    expect(sequences.length).toBeGreaterThan(50)
  }
  for (const { follower } of [...listeners, whole]) follower.close()
}, 1_800_000)
