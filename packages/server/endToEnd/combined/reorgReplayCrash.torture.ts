/**
 * Clients replay the whole log while a reorganisation is being committed, and the service is killed in it, at one of its
 * steps; then it starts again. What each received has no gap and no duplicate, and their state equals the service's.
 */
import { join } from 'node:path'
import { type Client, createClient } from '@assay/sdk'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { issueKeyIn, loadConfig } from '../../commands/config.ts'
import { dyingAt } from '../../store/testing/crashing.ts'
import { REORG_POINTS } from '../../store/testing/failPoints.ts'
import { type ChildService, freePort, startChildService } from '../testing/childService.ts'
import { sized } from '../testing/combined.ts'
import { cursorAfter, Heard } from '../testing/heard.ts'
import { foldOf, listen } from '../testing/listener.ts'
import { CHAIN_ID } from '../testing/plan.ts'
import { isSwap, recordIdOf } from '../testing/record.ts'
import { ROOMY } from '../testing/roomy.ts'
import { storedTip } from '../testing/storedTip.ts'
import { type Block, type Hex, startTestChain, type TestChain } from '../testing/testChain.ts'
import { writeConfig } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

const POINTS = Object.entries(REORG_POINTS)
/** Which steps it dies at: one that left nothing behind in the short form, all of them in the long one. */
const KILLED_AT = sized(POINTS.slice(4, 5), POINTS)
const CLIENTS = sized(4, 20)
/** Blocks with a trade each that a replay has before it. */
const PAST = sized(10, 100)

let chain: TestChain
let child: ChildService
let config: string
let pair: Hex
beforeAll(async () => {
  chain = await startTestChain()
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  config = writeConfig(chain, { name: 'replayed', port: await freePort(), finalityDepth: 100 })
})
afterEach(() => child?.kill())
afterAll(() => chain?.close())

const untilCommitted = ({ number }: Block): Promise<unknown> =>
  until(`block ${number} committed`, () => storedTip(join(chain.folder, 'replayed.db'), CHAIN_ID) >= number)

/** Every record from the first on, over as many connections as needed; it stops reading once, in the middle. */
class Replay {
  readonly sequences: number[] = []
  readonly ids: string[] = []
  connections = 0
  isDone = false
  readonly running: Promise<void>

  constructor(client: Client, middle: number, held: Promise<void>) {
    this.running = this.#run(client, middle, held)
  }

  async #run(client: Client, middle: number, held: Promise<void>): Promise<void> {
    while (!this.isDone) {
      const after = this.sequences.at(-1) ?? 0
      // A service that is not there cannot give one.
      const resumeCursor = await cursorAfter(client, CHAIN_ID, after).catch(() => null)
      if (resumeCursor === null) {
        await new Promise(resolve => setTimeout(resolve, 20))
        continue
      }
      this.connections += 1
      const heard = new Heard(client, { filter: { chain_ids: [CHAIN_ID] }, resumeCursor }, async record => {
        this.sequences.push(record.stream_sequence)
        const id = recordIdOf(record)
        if (id !== null) this.ids.push(id)
        if (record.stream_sequence === middle) await held
      })
      await until('the connection over', () => this.isDone || heard.outcome !== null, 300_000)
      await heard.close()
    }
  }
}

it.each(KILLED_AT)(
  'replays continue without a gap when the service is killed in a reorganisation they receive (%s)',
  async (_, point) => {
    child = await startChildService(config, dyingAt(point))
    const scopes = ['read', 'stream', 'admin'] as const
    const { key } = await issueKeyIn(loadConfig(config, {}), { name: 'replay', consumer: 'replay', scopes })
    const client = createClient({ baseUrl: child.url, apiKey: key })
    await client.admin.setLimits('replay', ROOMY)
    await chain.untilMining('priced', async () => {
      const { tokens } = await client.fetchTokens({ chain_id: CHAIN_ID }).catch(() => ({ tokens: [] }))
      return tokens.length > 4 && tokens.every(each => each.state === 'PRICED')
    })
    for (let at = 0; at < PAST; at++) await chain.run(chain.sellV2(pair, 'USDT', 10 + at))
    const orphaned = await chain.run(chain.sellV2(pair, 'USDT', 90))
    await untilCommitted(orphaned)
    // They begin at the very first record, and are in the middle when the reorganisation comes and the service dies.
    const middle = Math.floor((await client.createSession({ chain_id: CHAIN_ID })).stream.head_sequence / 2)
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const replays = Array.from({ length: CLIENTS }, () => new Replay(client, middle, held))
    const listeners = Array.from({ length: CLIENTS }, () => listen(client))
    await until('in the replay', () => replays.every(({ sequences }) => sequences.at(-1) === middle))
    const sale = chain.batch(chain.sellV2(pair, 'USDT', 15))
    await chain.reorgWith(2, [{ block: 0, ...sale }])
    await child.ended
    release()
    child = await startChildService(config)
    const last = await chain.run(chain.sellV2(pair, 'USDT', 60))
    await untilCommitted(last)
    const head = (await client.createSession({ chain_id: CHAIN_ID })).stream.head_sequence
    await until('everyone at the head', () =>
      replays.every(({ sequences }) => (sequences.at(-1) ?? 0) >= head),
    )
    await chain.untilMining('every follower at the head', async () =>
      listeners.every(({ follower, failure }) => {
        if (failure !== null) throw failure
        return (follower.sequence ?? 0) >= head
      }),
    )
    for (const replay of replays) {
      replay.isDone = true
      await replay.running
      expect(replay.connections).toBeGreaterThan(1)
      expect(replay.sequences).toEqual(replay.sequences.map((_, at) => at + 1))
      expect(new Set(replay.ids).size).toBe(replay.ids.length)
    }
    const whole = new Heard(client, {
      filter: { chain_ids: [CHAIN_ID] },
      resumeCursor: await cursorAfter(client, CHAIN_ID, 0),
    })
    await whole.untilSequence(head)
    await whole.close()
    const swaps = whole.records.filter(isSwap(pair)).filter(each => each.payload.block_hash === orphaned.hash)
    expect(swaps.map(({ payload }) => payload.finality)).toEqual(['canonical', 'orphaned'])
    const fresh = listen(client)
    await chain.untilMining(
      'all at one place',
      async () =>
        (fresh.follower.sequence ?? 0) >= head &&
        listeners.every(({ follower }) => follower.sequence === fresh.follower.sequence),
    )
    const nowMs = Date.now()
    for (const { follower, resets } of listeners) {
      expect(resets).toBe(1)
      expect(foldOf(follower, nowMs)).toBe(foldOf(fresh.follower, nowMs))
    }
    for (const { follower } of [...listeners, fresh]) follower.close()
  },
  120_000,
)
