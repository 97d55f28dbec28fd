import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../ops/clock.ts'
import { postgresDatabase } from '../store/testing/connect.ts'
import { commitOf, health } from '../store/testing/drafts.ts'
import { type PostgresServer, startPostgres } from '../store/testing/postgresServer.ts'
import { Hub } from './hub.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.dispose())

test('S17: with no listener and no wake-up at all, what another process commits is delivered by polling', async () => {
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
