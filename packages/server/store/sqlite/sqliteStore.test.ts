import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitOf, health } from '../testing/drafts.ts'
import { chainStore } from './chainStore.ts'
import { claimDatabase } from './claim.ts'
import { Connection, openDatabase } from './connection.ts'
import { logStore } from './log.ts'
import { snapshotStore } from './snapshotStore.ts'
import { openSqliteStore } from './sqliteStore.ts'

let folder: string
let path: string
let release: () => void
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-sqlite-'))
  path = join(folder, 'assay.db')
  release = claimDatabase(path)
})
afterEach(() => {
  release()
  rmSync(folder, { recursive: true })
})

const records = [health(1, 'x')]

/** A connection whose limits and modes a test can change under the store. */
async function openRaw() {
  await (await openSqliteStore({ path })).close()
  const database = openDatabase(path, () => {})
  const connection = new Connection(database)
  return { database, connection, chain: chainStore(connection), log: logStore(connection) }
}

test('every commit is synced to the device before it is acknowledged', async () => {
  const { database, connection } = await openRaw()
  expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 })
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  expect(database.prepare('PRAGMA foreign_keys').get()).toEqual({ foreign_keys: 1 })
  connection.close()
})

test('a full disk stops writes, not reads, and writes resume when there is space', async () => {
  const { database, connection, chain, log } = await openRaw()
  await chain.commit(commitOf(1, 1, { records }))
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number }
  database.exec(`PRAGMA max_page_count = ${pages + 2}`)
  const large = commitOf(1, 2, { records, entities: [{ key: 'chain', text: 'x'.repeat(100_000) }] })
  await expect(chain.commit(large)).rejects.toMatchObject({ code: 'STORE_FULL', retryable: true })
  expect(await log.readBounds()).toEqual({ epoch: 0, oldest: 1, head: 1 })
  expect((await chain.readCheckpoint(1))?.step).toBe(1)
  database.exec('PRAGMA max_page_count = 1000000')
  expect(await chain.commit(large)).toEqual({ outcome: 'committed', first: 2, last: 2 })
  connection.close()
})

test('a device that refuses a write is not written to again', async () => {
  const { database, connection, chain, log } = await openRaw()
  database.exec('PRAGMA query_only = ON')
  const commit = commitOf(1, 1, { records })
  await expect(chain.commit(commit)).rejects.toMatchObject({ code: 'STORE_READ_ONLY', retryable: false })
  database.exec('PRAGMA query_only = OFF')
  await expect(chain.commit(commit)).rejects.toThrow('Writing has stopped')
  expect((await log.readBounds()).head).toBe(0)
  connection.close()
})

test('while another connection writes, reads continue and the event loop runs; then the write proceeds', async () => {
  const store = await openSqliteStore({ path })
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  let isDone = false
  const commit = store.commit(commitOf(1, 1, { records })).finally(() => {
    isDone = true
  })
  for (let turn = 0; turn < 20; turn++) {
    await nextTurn()
    expect((await store.readBounds()).head).toBe(0)
  }
  expect(isDone).toBe(false)
  other.exec('COMMIT')
  expect(await commit).toEqual({ outcome: 'committed', first: 1, last: 1 })
  other.close()
  await store.close()
})

test('a page and its sequence come from one commit, even if another falls between the two reads', async () => {
  const { database, connection } = await openRaw()
  const other = new DatabaseSync(path)
  class Interrupted extends Connection {
    override prepare(sql: string) {
      const statement = super.prepare(sql)
      if (sql !== 'SELECT next - 1 AS head FROM head') return statement
      const read = statement.get.bind(statement)
      statement.get = () => {
        other.exec('UPDATE head SET next = next + 1')
        return read()
      }
      return statement
    }
  }
  const snapshots = snapshotStore(new Interrupted(database))
  const query = { chainId: null, tokenAddress: null, after: null, limit: 1 }
  expect((await snapshots.readPools(query)).snapshotSequence).toBe(0)
  expect((await snapshots.readPools(query)).snapshotSequence).toBe(1)
  other.close()
  connection.close()
})

test('concurrent writes on one connection do not mix', async () => {
  const store = await openSqliteStore({ path })
  const other = await openSqliteStore({ path })
  await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      (at % 2 === 0 ? store : other).audit({ atMs: at, actor: 'a', action: 'b', subject: 'c', detail: null }),
    ),
  )
  await store.close()
  await other.close()
  const database = new DatabaseSync(path)
  expect(database.prepare('SELECT count(*) AS entries FROM audit').get()).toEqual({ entries: 40 })
  database.close()
})

test('threads that open a new database together find one schema', async () => {
  const committer = new URL('../testing/committer.ts', import.meta.url)
  const threads = [1, 2, 3].map(chainId => {
    const workerData = { address: `sqlite:${path}`, chainId, steps: 3 }
    return once(new Worker(committer, { workerData, execArgv: [] }), 'exit')
  })
  expect(await Promise.all(threads)).toEqual([[0], [0], [0]])
})

test('a non-chain input is journalled with the step it caused', async () => {
  const store = await openSqliteStore({ path })
  await store.commit(commitOf(1, 1, { input: '{"kind":"pause"}', atMs: 5 }))
  await store.commit(commitOf(1, 2))
  await store.close()
  const database = new DatabaseSync(path)
  const journal = database.prepare('SELECT chain_id, step, at_ms, text FROM input').all()
  expect(journal.map(row => ({ ...row }))).toEqual([
    { chain_id: 1, step: 1, at_ms: 5, text: '{"kind":"pause"}' },
  ])
  database.close()
})
