/** Processes that share a database: who writes a chain, letters, and what is counted over all of them. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ClusterStore, LeaseView } from '../cluster.ts'
import { claimStore, openStore, shareStore } from '../openStore.ts'
import { postgresDatabase, type TestDatabase } from '../testing/connect.ts'
import { commitOf, health } from '../testing/drafts.ts'
import { execute, type PostgresServer, startPostgres } from '../testing/postgresServer.ts'
import { openCluster } from './clusterStore.ts'
import { LOCK_CHAIN } from './chainStore.ts'
import { clientOptions, Connection } from './connection.ts'
import { migrate } from './migrate.ts'
import { schema } from './schema.ts'

let server: PostgresServer
let database: TestDatabase
let cluster: ClusterStore
const ends: (() => Promise<void>)[] = []
const later = <Value>(value: Value, end: (value: Value) => Promise<void>): Value => {
  ends.push(() => end(value))
  return value
}
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.dispose())
beforeEach(async () => {
  database = await postgresDatabase(server)
  const release = await shareStore(database.address)
  ends.push(release)
  cluster = later(openCluster(database.address), each => each.close())
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  await database.dispose()
})

const records = [health(1, 'x')]
const seen = async (): Promise<LeaseView> => (await cluster.readLeases())[0] as LeaseView

describe('a lease', () => {
  test('is taken once, kept by heartbeats, and lost to a process that saw it silent', async () => {
    const taken = await Promise.all(['a', 'b', 'c'].map(owner => cluster.takeLease(1, null, owner)))
    const [lease] = taken.filter(each => each !== null)
    expect(taken.filter(each => each !== null)).toEqual([{ chainId: 1, generation: 1 }])
    const before = await seen()
    expect(await cluster.beat([lease as never])).toEqual([lease])
    // It lives: who had seen it before comes too late.
    expect(await cluster.takeLease(1, before, 'late')).toBeNull()
    const next = await cluster.takeLease(1, await seen(), 'next')
    expect(next).toEqual({ chainId: 1, generation: 2 })
    expect(await cluster.beat([lease as never])).toEqual([])
    // Leaving a lease that is another's by now changes nothing.
    await cluster.leaveLease(lease as never)
    expect((await seen()).owner).toBe('next')
  })

  test('a writer that lost its lease cannot commit, and its successor continues from its last commit', async () => {
    const first = await cluster.takeLease(1, null, 'first')
    const old = later(await openStore(database.address, first), each => each.close())
    expect(await old.commit(commitOf(1, 1, { records }))).toMatchObject({ outcome: 'committed', first: 1 })
    const second = await cluster.takeLease(1, await seen(), 'second')
    await expect(old.commit(commitOf(1, 2, { records }))).rejects.toMatchObject({ code: 'STORE_FENCED' })
    const fresh = later(await openStore(database.address, second), each => each.close())
    expect((await fresh.readCheckpoint(1))?.step).toBe(1)
    expect(await fresh.commit(commitOf(1, 2, { records }))).toMatchObject({ outcome: 'committed', first: 2 })
    // Of another chain it has no lease at all, and neither has who never asked for one.
    await expect(fresh.commit(commitOf(2, 1, { records }))).rejects.toMatchObject({ code: 'STORE_FENCED' })
    const nobody = later(await openStore(database.address), each => each.close())
    await expect(nobody.commit(commitOf(1, 3, { records }))).rejects.toMatchObject({ code: 'STORE_FENCED' })
  })

  test('of a writer stopped in the middle of a commit is free once the server has ended that commit, after four seconds', async () => {
    await cluster.takeLease(1, null, 'stopped')
    const stopped = new pg.Client(clientOptions(database.address))
    stopped.on('error', () => undefined)
    await stopped.connect()
    const { rows } = await stopped.query('SHOW idle_in_transaction_session_timeout')
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '4s' }])
    await stopped.query('BEGIN')
    await stopped.query({ ...LOCK_CHAIN, values: [1] })
    await stopped.query('UPDATE head SET next = next')
    expect(await cluster.takeLease(1, await seen(), 'next')).toEqual({ chainId: 1, generation: 2 })
    await expect(stopped.query('COMMIT')).rejects.toThrow()
    await stopped.end().catch(() => undefined)
  })
})

describe('a claim', () => {
  test('is shared by any number, or exclusive to one process', async () => {
    later(await shareStore(database.address), release => release())
    await expect(claimStore(database.address)).rejects.toMatchObject({
      code: 'STORE_CLAIMED',
      message: expect.stringContaining('--role'),
    })
    for (const end of ends.splice(0).reverse()) await end()
    const alone = await claimStore(database.address)
    await expect(shareStore(database.address)).rejects.toMatchObject({ code: 'STORE_CLAIMED' })
    const store = await openStore(database.address)
    expect(await store.commit(commitOf(1, 1, { records }))).toMatchObject({ outcome: 'committed' })
    await alone()
    // A process that had it alone and did not notice the loss is fenced off by those who share it now.
    later(await shareStore(database.address), release => release())
    await expect(store.commit(commitOf(1, 2, { records }))).rejects.toMatchObject({ code: 'STORE_FENCED' })
    await store.close()
  })
})

test('S15: of nodes on a promoted server the first begins an epoch, and every earlier writer is fenced off', async () => {
  const lease = await cluster.takeLease(1, null, 'before')
  const before = later(await openStore(database.address, lease), each => each.close())
  await before.commit(commitOf(1, 1, { records }))
  // As a replica that was promoted: its head row is of the timeline before.
  await execute(database.address, "UPDATE assay.head SET timeline = '00000000'")
  await expect(before.commit(commitOf(1, 2, { records }))).rejects.toMatchObject({ code: 'STORE_FENCED' })
  for (const _ of [1, 2]) later(await shareStore(database.address), release => release())
  await expect(before.commit(commitOf(1, 2, { records }))).rejects.toMatchObject({ code: 'STORE_FENCED' })
  const after = later(await openStore(database.address, lease), each => each.close())
  expect(await after.readBounds()).toMatchObject({ epoch: 1 })
  expect(await after.commit(commitOf(1, 2, { records }))).toMatchObject({ first: 2 ** 40 + 1 })
})

describe('a request', () => {
  const letter = { chainId: 1, asker: 'api', method: 'enrol', args: '["0x1"]', patienceMs: 60_000 }

  test('reaches the holder of the lease once, and its response reaches the caller once', async () => {
    const id = await cluster.post(letter)
    const mine = [{ chainId: 1, generation: 1 }]
    expect(await cluster.collect([{ chainId: 2, generation: 9 }], 10)).toEqual([])
    expect(await cluster.collect(mine, 10)).toEqual([{ id, chainId: 1, method: 'enrol', args: '["0x1"]' }])
    expect(await cluster.collect(mine, 10)).toEqual([])
    expect(await cluster.receive('api')).toEqual([])
    await cluster.answer({ id, result: '{"state":"PENDING"}', failure: null })
    expect(await cluster.receive('another')).toEqual([])
    expect(await cluster.receive('api')).toEqual([{ id, result: '{"state":"PENDING"}', failure: null }])
    expect(await cluster.receive('api')).toEqual([])
  })

  test('whose writer died goes to the next one, and one with no waiting caller goes to none', async () => {
    const id = await cluster.post(letter)
    await cluster.post({ ...letter, patienceMs: 0 })
    expect(await cluster.collect([{ chainId: 1, generation: 1 }], 10)).toHaveLength(1)
    const again = await cluster.collect([{ chainId: 1, generation: 2 }], 10)
    expect(again.map(each => each.id)).toEqual([id])
  })
})

describe('counts over all nodes', () => {
  test('units are granted up to the burst, earned back with time, and refundable', async () => {
    const quota = { unitMs: 100, burstMs: 1000 }
    expect(await cluster.takeUnits('c', 3, 3, quota)).toMatchObject({ granted: 3, rest: 7 })
    expect(await cluster.takeUnits('c', 1, 100, quota)).toMatchObject({ granted: 7, rest: 0 })
    const refused = await cluster.takeUnits('c', 2, 2, quota)
    expect(refused.granted).toBe(0)
    expect(refused.waitMs).toBeGreaterThan(0)
    expect(refused.waitMs).toBeLessThanOrEqual(200)
    await cluster.returnUnits('c', 5 * quota.unitMs)
    expect((await cluster.takeUnits('c', 5, 5, quota)).granted).toBe(5)
    expect((await cluster.takeUnits('other', 10, 10, quota)).granted).toBe(10)
  })

  test('of twenty requests for the last unit one gets it', async () => {
    const quota = { unitMs: 3_600_000, burstMs: 3_600_000 }
    const others = Array.from({ length: 4 }, () => later(openCluster(database.address), each => each.close()))
    const grants = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (others[at % 4] as ClusterStore).takeUnits('c', 1, 1, quota)),
    )
    expect(grants.filter(grant => grant.granted === 1)).toHaveLength(1)
  })

  test('a server whose clock was set back locks no consumer out', async () => {
    const quota = { unitMs: 100, burstMs: 1000 }
    await cluster.takeUnits('c', 1, 1, quota)
    await execute(database.address, 'UPDATE assay.spending SET earned_ms = earned_ms + 3600000')
    expect((await cluster.takeUnits('c', 1, 1, quota)).waitMs).toBeLessThanOrEqual(100)
  })

  test('streams of a consumer count on every living node', async () => {
    await cluster.greet('a', null)
    await cluster.greet('b', null)
    const opened = await Promise.all(
      Array.from({ length: 8 }, (_, at) => cluster.openStream(at % 2 === 0 ? 'a' : 'b', 'c', 5)),
    )
    expect(opened.filter(each => each)).toHaveLength(5)
    // A node that fell silent has none any more.
    await execute(
      database.address,
      "UPDATE assay.node SET beat_at = beat_at - interval '1 minute' WHERE node = 'a'",
    )
    expect(await cluster.openStream('b', 'c', 5)).toBe(true)
    await cluster.countStreams('b', new Map([['c', 4]]))
    expect(await cluster.openStream('b', 'c', 5)).toBe(true)
    expect(await cluster.openStream('b', 'c', 5)).toBe(false)
  })

  test('the slowest replay is that of all living nodes', async () => {
    expect(await cluster.readReplayed()).toBeNull()
    await cluster.greet('a', 70)
    await cluster.greet('b', 40)
    await cluster.greet('c', null)
    expect(await cluster.readReplayed()).toBe(40)
    await cluster.leave('b')
    expect(await cluster.readReplayed()).toBe(70)
  })
})

describe('O9: two versions on one database', () => {
  const added = (oldest?: number) => [
    ...schema,
    {
      version: schema.length + 1,
      name: 'added',
      sql: 'ALTER TABLE node ADD COLUMN version TEXT',
      ...(oldest === undefined ? {} : { oldest }),
    },
  ]
  const upgrade = async (oldest?: number) => {
    const connection = new Connection(database.address, 1)
    await migrate(connection, added(oldest), 1)
    await connection.close()
  }

  test('a neighbour that a migration is compatible with keeps running, and can be restarted', async () => {
    const first = await cluster.takeLease(1, null, 'old program')
    const running = later(await openStore(database.address, first), each => each.close())
    await upgrade(schema.length)
    expect(await running.commit(commitOf(1, 1, { records }))).toMatchObject({ outcome: 'committed' })
    later(await shareStore(database.address), release => release())
    const again = later(await openStore(database.address, first), each => each.close())
    expect(await again.commit(commitOf(1, 2, { records }))).toMatchObject({ outcome: 'committed' })
  })

  test('one that it is incompatible with is refused at its start', async () => {
    await upgrade()
    await expect(shareStore(database.address)).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER' })
  })

  test('one that needs an event as text alone is refused: the text has only what columns do not', async () => {
    const connection = later(new Connection(database.address, 1), each => each.close())
    const before = schema.slice(
      0,
      schema.findIndex(({ name }) => name === 'events'),
    )
    await expect(migrate(connection, before, 1)).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER' })
  })
})
