/** What only PostgreSQL can do wrong: broken connections, lost claims, promoted replicas, deaf listeners. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Migration } from '../migrations.ts'
import { claimStore, openStore } from '../openStore.ts'
import { postgresDatabase, type TestDatabase } from '../testing/connect.ts'
import { type CuttingProxy, startCuttingProxy } from '../testing/cuttingProxy.ts'
import type { Loss } from '../loss.ts'
import { commitOf, health } from '../testing/drafts.ts'
import { execute, type PostgresServer, startPostgres } from '../testing/postgresServer.ts'
import { scriptedCommit, scriptedCount } from '../testing/script.ts'
import { type AppenderOptions, appendConcurrently } from '../testing/tail.ts'
import { wholeLog } from '../testing/wholeLog.ts'
import { Connection } from './connection.ts'
import { CommitListener } from './listener.ts'
import { migrate } from './migrate.ts'
import { schema } from './schema.ts'
import { seedOfRun } from '../../../world/seed.ts'

let server: PostgresServer
let database: TestDatabase
let name: string
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.dispose())
beforeEach(async () => {
  database = await postgresDatabase(server)
  name = /assay_\w+/.exec(database.address)?.[0] as string
})
afterEach(() => database.dispose())

const records = [health(1, 'x')]

test('entities are not compressed with pglz, which takes half of the time of a commit', async () => {
  const store = await database.connect()
  const text = JSON.stringify('0123456789'.repeat(1_000))
  await store.commit(commitOf(1, 1, { entities: [{ key: 'long', text }] }))
  const [row] = await execute(
    database.address,
    "SELECT pg_column_compression(text) AS method FROM assay.entity WHERE key = 'long'",
  )
  expect(['lz4', null]).toContain((row as { method: string | null }).method)
  expect((await store.readCheckpoint(1))?.entities).toEqual([['long', text]])
})

describe('a connection cut at COMMIT', () => {
  let proxy: CuttingProxy
  beforeEach(async () => {
    proxy = await startCuttingProxy(server.socket)
  })
  afterEach(() => proxy.close())

  test.each(['before', 'after'] as const)(
    '%s the server received it: the commit is applied once',
    async cut => {
      await database.connect()
      const store = await openStore(proxy.url(name))
      let next = 1
      for (let step = 1; step <= 3; step++) {
        proxy.cutNext(cut)
        const commit = scriptedCommit(1, step)
        const first = next
        next += scriptedCount(1, step)
        expect(await store.commit(commit)).toEqual({
          // What the lost answer said is found in the database.
          outcome: cut === 'before' ? 'committed' : 'already',
          first,
          last: next - 1,
        })
        expect(proxy.cuts).toBe(step)
      }
      const log = await wholeLog(await database.connect())
      expect(log.map(({ sequence }) => sequence)).toEqual(Array.from({ length: next - 1 }, (_, at) => at + 1))
      await store.close()
    },
  )
})

describe('one writer', () => {
  test('a writer whose claim was taken over cannot commit, prune or begin an epoch', async () => {
    const old = await database.connect()
    await old.commit(commitOf(1, 1, { records }))
    // Its machine hangs, and the server gives the lock to another process, which claims the database.
    await execute(server.urlOf(name), "UPDATE assay.head SET generation = generation + 1, owner = ''")
    const next = commitOf(1, 2, { records })
    await expect(old.commit(next)).rejects.toMatchObject({ code: 'STORE_FENCED', retryable: false })
    await expect(old.startEpoch()).rejects.toMatchObject({ code: 'STORE_FENCED' })
    await expect(openStore(database.address)).rejects.toMatchObject({ code: 'STORE_UNCLAIMED' })
    expect(await old.readBounds()).toEqual({ epoch: 0, oldest: 1, head: 1 })
    expect((await old.readCheckpoint(1))?.step).toBe(1)
    await database.leave()
    // A later claim of this process is a new one, with the right to commit.
    const fresh = await database.connect()
    expect(await fresh.commit(next)).toMatchObject({ outcome: 'committed', first: 2 })
    await expect(old.commit(commitOf(1, 3, { records }))).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  test('a claim whose connection breaks is taken again, and its writers continue', async () => {
    const store = await database.connect()
    await execute(
      server.urlOf('postgres'),
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    )
    expect(await store.commit(commitOf(1, 1, { records }))).toMatchObject({ outcome: 'committed' })
    await vi.waitFor(
      async () =>
        expect(
          await execute(server.urlOf(name), "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted"),
        ).toHaveLength(1),
      { timeout: 60_000 },
    )
    await expect(claimStore(database.address)).rejects.toMatchObject({ code: 'STORE_CLAIMED' })
  })
})

test('S14: eight writers with random delays, and a tail reader that misses nothing', async () => {
  const store = await database.connect()
  const options: AppenderOptions = { address: database.address, appends: 60, seed: seedOfRun() }
  const seen = await appendConcurrently(store, 8, options)
  expect(seen.missed, `seed ${options.seed}`).toBe(0)
  expect(seen.records).toBe(8 * 60)
})

test('S15: a server that lost its tail is detected by its timeline, and a new epoch begins', async () => {
  const primary = await startPostgres()
  let replica: PostgresServer | null = null
  try {
    await execute(primary.urlOf('postgres'), 'CREATE DATABASE assay')
    const url = primary.urlOf('assay')
    const commitIn = async (step: number) => {
      const release = await claimStore(url)
      const store = await openStore(url)
      const result = await store.commit(commitOf(1, step, { records }))
      await store.close()
      await release()
      return result
    }
    await commitIn(1)
    await primary.stop()
    // The replica gets no further than here. When it is promoted, it begins a timeline of its own.
    replica = await startPostgres(
      { restore_command: 'false', hot_standby: 'off' },
      primary.data,
      'recovery.signal',
    )
    await primary.start()
    expect(await commitIn(2)).toMatchObject({ first: 2, last: 2 })
    const losses: Loss[] = []
    const claimed = await claimStore(replica.urlOf('assay'), loss => losses.push(loss))
    const next = await openStore(replica.urlOf('assay'))
    const start = 2 ** 40
    expect(await next.readBounds()).toEqual({ epoch: 1, oldest: start + 1, head: start })
    expect(await next.commit(commitOf(1, 2, { records }))).toMatchObject({ first: start + 1 })
    expect(losses).toEqual([{ why: 'PROMOTED', head: 1, mark: null, lost: null, epoch: 1 }])
    expect(await next.readAudit(null, 1)).toMatchObject([{ action: 'epoch.begin', subject: 'epoch 1' }])
    await next.close()
    await claimed()
  } finally {
    await replica?.dispose()
    await primary.dispose()
  }
})

describe('S17: notifications', () => {
  test('a commit wakes a listener, also after its connection broke', async () => {
    const store = await database.connect()
    let news = 0
    const listener = new CommitListener({
      url: database.address,
      onNews: () => news++,
      onQueue: () => undefined,
    })
    await vi.waitFor(() => expect(news).toBe(1), { timeout: 60_000 })
    await store.commit(commitOf(1, 1, { records }))
    await vi.waitFor(() => expect(news).toBe(2), { timeout: 60_000 })
    await execute(
      server.urlOf('postgres'),
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND query LIKE 'LISTEN%'`,
    )
    // Back again, it looks for what it may have missed.
    await vi.waitFor(() => expect(news).toBe(3), { timeout: 60_000 })
    await store.commit(commitOf(1, 2, { records }))
    await vi.waitFor(() => expect(news).toBe(4), { timeout: 60_000 })
    await listener.close()
  })
})

describe('S12: schema', () => {
  const added = (sql: string): Migration[] => [...schema, { version: schema.length + 1, name: 'added', sql }]
  const tables = async () =>
    (await execute(
      server.urlOf(name),
      "SELECT tablename FROM pg_tables WHERE schemaname = 'assay' ORDER BY tablename",
    )) as { tablename: string }[]

  test('a migration that fails half-way has no effect, and the next start continues from before it', async () => {
    const connection = new Connection(database.address, 1)
    const broken = added('CREATE TABLE first (id INT); CREATE TABLE second (nonsense')
    await expect(migrate(connection, broken, 1)).rejects.toThrow(
      `migration ${schema.length + 1} (added) failed`,
    )
    expect(await tables()).not.toContainEqual({ tablename: 'first' })
    expect(await tables()).toContainEqual({ tablename: 'session' })
    await migrate(connection, added('CREATE TABLE first (id INT)'), 2)
    expect(await tables()).toContainEqual({ tablename: 'first' })
    await connection.close()
  })

  test('an older program refuses a newer schema', async () => {
    const connection = new Connection(database.address, 1)
    await migrate(connection, added('CREATE TABLE future (id INT)'), 1)
    await connection.close()
    await expect(database.connect()).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER', retryable: false })
  })

  test('a schema of that name of another program is refused, and other schemas are left alone', async () => {
    await execute(server.urlOf(name), 'CREATE TABLE theirs (id INT); CREATE SCHEMA assay')
    await expect(database.connect()).rejects.toMatchObject({ code: 'STORE_FOREIGN' })
    await execute(server.urlOf(name), 'DROP SCHEMA assay')
    await database.connect()
    expect(await execute(server.urlOf(name), 'SELECT * FROM public.theirs')).toEqual([])
  })

  test('threads that open a new database together find one schema', async () => {
    await database.connect()
    const committer = new URL('../testing/committer.ts', import.meta.url)
    const threads = [1, 2, 3].map(chainId => {
      const workerData = { address: database.address, chainId, steps: 3 }
      return once(new Worker(committer, { workerData, execArgv: [] }), 'exit')
    })
    expect(await Promise.all(threads)).toEqual([[0], [0], [0]])
  })
})

test('a server that is down or refuses is named without its password', async () => {
  const url = 'postgres://assay:hunter2@127.0.0.1:1/none'
  const failure = (await claimStore(url).catch((error: unknown) => error)) as Error
  expect(failure).toMatchObject({ code: 'STORE_UNREACHABLE', retryable: true })
  expect(`${failure.message} ${failure.stack}`).not.toContain('hunter2')
  await expect(claimStore(server.urlOf('no_such_database'))).rejects.toMatchObject({
    code: 'STORE_UNREACHABLE',
    message: expect.stringContaining('no_such_database'),
  })
})
