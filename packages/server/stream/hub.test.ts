import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../ops/clock.ts'
import { postgresDatabase, sqliteDatabase } from '../store/testing/connect.ts'
import { commitOf, health } from '../store/testing/drafts.ts'
import { type PostgresServer, startPostgres } from '../store/testing/postgresServer.ts'
import { parseSubscribe, type Subscription } from './filter.ts'
import { Hub } from './hub.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.dispose())

test('S17: with no listener and no wake-up at all, commits of another process are delivered by polling', async () => {
  const database = await postgresDatabase(server)
  const [reader, writer] = [await database.connect(), await database.connect()]
  const hub = await Hub.open(reader, systemClock)
  const heard: number[] = []
  hub.listen({ wake: () => heard.push(hub.head) })
  for (const step of [1, 2, 3]) {
    await writer.commit(commitOf(1, step, { records: [health(1, `${step}`)] }))
    await vi.waitFor(() => expect(heard.at(-1)).toBe(step), { timeout: 60_000, interval: 5 })
  }
  expect(hub.after(0)?.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
  hub.close()
  await database.dispose()
})

test('R-sell-5: tokens that open streams name are known, and those of a whole chain are not', async () => {
  const database = await sqliteDatabase()
  const hub = await Hub.open(await database.connect(), systemClock)
  const token = `0x${'00'.repeat(12)}${'ab'.repeat(20)}`
  const served = new Set([1, 56])
  const listening = (filter: object) => {
    const subscription = parseSubscribe(JSON.stringify({ filter }), served) as Subscription
    return hub.listen({ wake: () => undefined, subscription })
  }
  listening({ chain_ids: [1, 56] })
  const leave = listening({ chain_ids: [1, 56], token_ids: [token] })
  const tokenAddress = `0x${'ab'.repeat(20)}`
  expect([...hub.streamed()]).toEqual([
    { chainId: 1, tokenAddress },
    { chainId: 56, tokenAddress },
  ])
  leave()
  expect([...hub.streamed()]).toEqual([])
  hub.close()
  await database.dispose()
})
