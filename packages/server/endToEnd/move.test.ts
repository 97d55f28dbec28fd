/** From SQLite to PostgreSQL: keys, sessions and cursors stay valid, and nothing is half moved. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createClient } from '@assay/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../commands/config.ts'
import { checkDatabase, moveDatabase } from '../commands/database.ts'
import { startNextEpoch } from '../commands/logPosition.ts'
import { execute, type PostgresServer, startPostgres } from '../store/testing/postgresServer.ts'
import { ask } from './testing/answer.ts'
import { cursorAfter, Heard } from './testing/heard.ts'
import { CHAIN_ID } from './testing/plan.ts'
import { isSwap } from './testing/record.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, type TestService, writeConfig } from './testing/testService.ts'
import { until } from './testing/until.ts'

let chain: TestChain
let server: PostgresServer
let pair: Hex
let before: TestService
beforeAll(async () => {
  ;[chain, server] = await Promise.all([startTestChain(), startPostgres()])
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  before = await startTestService(chain, { name: 'move' })
  // An epoch that is not the first, as after a restore.
  await before.close()
  await startNextEpoch(before.config.store.path, 2)
  before = await startTestService(chain, { name: 'move' })
  await before.untilTip(await chain.run(chain.sellV2(pair, 'MOTH', 300)))
})
afterAll(async () => {
  await chain?.close()
  await server?.dispose()
})

const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
const ignore = () => undefined

describe('assay db move', () => {
  it('refuses a database in use, and a target that holds anything, and leaves both alone', async () => {
    const to = await server.createDatabase()
    await expect(moveDatabase(before.config, to, ignore)).rejects.toMatchObject({ code: 'STORE_CLAIMED' })
    const full = await server.createDatabase()
    const other = await startTestService(chain, { name: 'full', store: full })
    await expect(moveDatabase(other.config, to, ignore)).rejects.toThrow('is PostgreSQL already')
    await other.close()
    const copy = await startTestService(chain, { name: 'copy' })
    const { config } = copy
    await copy.close()
    await expect(moveDatabase(config, full, ignore)).rejects.toThrow('is not empty')
    await expect(moveDatabase(config, 'mysql://x', ignore)).rejects.toThrow(
      '--to is not a PostgreSQL address',
    )
    expect((await checkDatabase(other.config)).faults).toEqual([])
  })

  it('keeps epoch, sequences, keys, sessions and cursors, and the log continues without a gap', async () => {
    const to = await server.createDatabase()
    const key = await before.key(['read', 'stream'], 'mover')
    const client = createClient({ baseUrl: before.url, apiKey: key })
    const start = (await client.createSession()).stream.oldest_sequence - 1
    const cursor = await cursorAfter(client, CHAIN_ID, start)
    const opened = await ask(`${before.url}/v1/session`, { method: 'POST', key })
    const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] as string
    const said = await before.records(start)
    const head = await before.head()
    await before.close()
    const { path } = before.config.store
    const files = digest(path)

    // Cut short: whatever stops it, nothing has happened.
    const cut = moveDatabase(before.config, to, table => {
      if (table === 'log') throw new Error('cut short')
    })
    await expect(cut).rejects.toThrow('cut short')
    expect(await execute(to, 'SELECT next, epoch FROM assay.head')).toEqual([{ next: '1', epoch: '0' }])
    expect(await execute(to, 'SELECT 1 FROM assay.api_key')).toEqual([])

    const moved = await moveDatabase(before.config, to, ignore)
    expect(moved).toMatchObject({ epoch: 3, head, records: said.length, faults: [] })
    expect(digest(path)).toBe(files)
    const config = loadConfig(writeConfig(chain, { name: 'moved', store: to }), {})
    expect(await checkDatabase(config)).toMatchObject({ epoch: 3, head, faults: [] })

    const after = await startTestService(chain, { name: 'moved', store: to })
    try {
      const headers = { cookie, origin: new URL(after.url).origin }
      expect((await fetch(`${after.url}/v1/session`, { headers })).status).toBe(200)
      const moving = createClient({ baseUrl: after.url, apiKey: key })
      const heard = new Heard(moving, { filter: { chain_ids: [CHAIN_ID] }, resumeCursor: cursor })
      const { hash } = await chain.run(chain.sellV2(pair, 'MOTH', 100))
      await until('the trade after the move', () =>
        heard.records.filter(isSwap()).some(({ payload }) => payload.block_hash === hash),
      )
      await heard.close()
      expect(heard.records.slice(0, said.length)).toEqual(said)
      expect(heard.sequences).toEqual(heard.sequences.map((_, at) => start + 1 + at))
      expect(after.faults).toEqual([])
    } finally {
      await after.close()
    }
    expect((await checkDatabase(config)).faults).toEqual([])
  })
})
