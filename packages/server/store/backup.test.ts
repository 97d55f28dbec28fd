/** Check, backup and restore: what an operator relies on the day something went wrong. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { restoreDatabase } from '../commands/database.ts'
import type { Config } from '../config/config.ts'
import { checkStore } from './check.ts'
import { LOG_DICTIONARIES } from './logDictionary.ts'
import { pack, unpack } from './packed.ts'
import { openReader } from './openStore.ts'
import { backupSqlite, restoreSqlite } from './sqlite/backup.ts'
import { databaseAt, type FullStore, postgresDatabase, type TestDatabase } from './testing/connect.ts'
import { execute, type PostgresServer, startPostgres } from './testing/postgresServer.ts'
import { scriptedCommit, scriptedCount, scriptedPools } from './testing/script.ts'

let folder: string
let path: string
let database: TestDatabase
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-backup-'))
  path = join(folder, 'assay.db')
  database = databaseAt(`sqlite:${path}`, async () => undefined)
})
afterEach(async () => {
  await database.dispose()
  rmSync(folder, { recursive: true })
})

async function commitSteps(store: FullStore, from: number, to: number): Promise<void> {
  for (let step = from; step <= to; step++) await store.commit(scriptedCommit(1, step))
}

const headAt = (step: number) =>
  Array.from({ length: step }, (_, at) => scriptedCount(1, at + 1)).reduce((sum, each) => sum + each, 0)

async function check(address: string) {
  const reader = await openReader(address)
  try {
    return await checkStore(reader)
  } finally {
    await reader.close()
  }
}

describe('check', () => {
  test('a healthy database, while it is in use', async () => {
    const store = await database.connect()
    await commitSteps(store, 1, 12)
    const head = headAt(12)
    expect(await check(database.address)).toEqual({
      epoch: 0,
      oldest: 1,
      head,
      records: head,
      pools: 7,
      tokens: 7,
      faults: [],
    })
    // A log that was pruned to its newest records is sound too.
    await store.prune({ nowMs: Number.MAX_SAFE_INTEGER, hours: 0, records: 20, batch: 10 })
    expect(await check(database.address)).toMatchObject({ faults: [], oldest: expect.any(Number) })
    expect((await store.readBounds()).oldest).toBeGreaterThan(1)
  })

  test.each([
    [
      'a row of the log is gone',
      'DELETE FROM log WHERE last = (SELECT last FROM log LIMIT 1 OFFSET 3)',
      'the log jumps from',
    ],
    [
      'the end of the log is gone',
      'DELETE FROM log WHERE last = (SELECT max(last) FROM log)',
      'but its head is',
    ],
    [
      'a state was changed',
      `UPDATE pool_state SET state = '{}' WHERE pool_address = '${scriptedPools[2]?.poolAddress}'`,
      'differs from the record',
    ],
    ['a price was lost', 'DELETE FROM token_price WHERE rowid = 2', 'the state is from none'],
    [
      'a pool was lost',
      `DELETE FROM pool WHERE pool_address = '${scriptedPools[3]?.poolAddress}'`,
      'the snapshot has none',
    ],
    [
      'an envelope is at another place',
      `UPDATE log SET packed = replaced(packed, '"stream_sequence":5,', '"stream_sequence":6,')`,
      'claims sequence 6',
    ],
  ])('%s', async (_, sql, expected) => {
    await commitSteps(await database.connect(), 1, 12)
    await database.leave()
    const raw = new DatabaseSync(path)
    raw.function('replaced', (packed, from, to) => {
      const text = unpack(packed as Uint8Array, LOG_DICTIONARIES)
      return pack(text.replaceAll(String(from), String(to)), LOG_DICTIONARIES)
    })
    raw.exec(sql)
    raw.close()
    expect((await check(database.address)).faults.join()).toContain(expected)
  })

  test('a file of another program, or of none, is refused', async () => {
    writeFileSync(join(folder, 'text.db'), 'this is not a database, however long it may be'.repeat(100))
    await expect(check(`sqlite:${join(folder, 'text.db')}`)).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    await expect(check(`sqlite:${join(folder, 'none.db')}`)).rejects.toMatchObject({ code: 'STORE_IO' })
  })
})

describe('backup and restore', () => {
  test('S10: commits after the backup are gone, and their sequences are never used again', async () => {
    const store = await database.connect()
    await commitSteps(store, 1, 6)
    const copy = join(folder, 'copy.db')
    expect(backupSqlite(path, copy)).toEqual({ epoch: 0, oldest: 1, head: headAt(6) })
    expect(statSync(copy).mode & 0o077).toBe(0)
    await commitSteps(store, 7, 9)
    expect(() => backupSqlite(path, copy)).toThrow('exists already')
    // Not while somebody uses it.
    expect(() => restoreSqlite(path, copy, null, 1)).toThrow('already claimed')
    await database.leave()

    const start = 2 ** 40
    const restored = restoreSqlite(path, copy, null, 5)
    expect(restored).toEqual({ epoch: 1, oldest: start + 1, head: start, replaced: `${path}.before-5` })
    const after = await database.connect()
    expect((await after.readCheckpoint(1))?.step).toBe(6)
    expect(await after.commit(scriptedCommit(1, 7))).toMatchObject({ outcome: 'committed', first: start + 1 })
    expect((await check(database.address)).faults).toEqual([])
    await database.leave()
    // The same backup again: the epoch it leads to was in use.
    expect(restoreSqlite(path, copy, null, 6)).toMatchObject({ epoch: 2, head: 2 * start })
    // What was there before is whole.
    expect(await check(`sqlite:${path}.before-5`)).toMatchObject({ epoch: 0, head: headAt(9), faults: [] })
    expect(readdirSync(folder).filter(name => /part|restored/.test(name))).toEqual([])
  })

  test('a damaged backup is refused, and the database is unchanged', async () => {
    await commitSteps(await database.connect(), 1, 3)
    const copy = join(folder, 'copy.db')
    backupSqlite(path, copy)
    await database.leave()
    writeFileSync(copy, Buffer.alloc(8192, 0x55), { flag: 'r+' })
    expect(() => restoreSqlite(path, copy, null, 1)).toThrow(/not a database|damaged|malformed/)
    expect((await (await database.connect()).readCheckpoint(1))?.step).toBe(3)
  })

  test('in place of an unreadable database, the epoch must be given', async () => {
    await commitSteps(await database.connect(), 1, 3)
    const copy = join(folder, 'copy.db')
    backupSqlite(path, copy)
    await database.leave()
    writeFileSync(path, Buffer.alloc(8192, 0x55))
    expect(() => restoreSqlite(path, copy, null, 1)).toThrow('Give --epoch N')
    expect(() => restoreSqlite(path, copy, 0, 1)).toThrow('not above epoch 0')
    expect(restoreSqlite(path, copy, 7, 1)).toMatchObject({ epoch: 7 })
    expect((await (await database.connect()).readCheckpoint(1))?.step).toBe(3)
  })

  test('onto a machine that has no database yet', async () => {
    await commitSteps(await database.connect(), 1, 3)
    const copy = join(folder, 'copy.db')
    backupSqlite(path, copy)
    const elsewhere = join(folder, 'elsewhere', 'assay.db')
    expect(restoreSqlite(elsewhere, copy, null, 1)).toMatchObject({ epoch: 1 })
  })
})

describe('on PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.dispose())

  test('check passes a healthy database, and finds a changed state', async () => {
    const postgres = await postgresDatabase(server)
    await expect(check(postgres.address)).rejects.toMatchObject({ code: 'STORE_SCHEMA_OLDER' })
    await commitSteps(await postgres.connect(), 1, 12)
    expect(await check(postgres.address)).toMatchObject({
      records: headAt(12),
      pools: 7,
      tokens: 7,
      faults: [],
    })
    await execute(postgres.address, "UPDATE assay.token_price SET price = '{}' WHERE token_address LIKE '%2'")
    expect((await check(postgres.address)).faults).toHaveLength(1)
    await postgres.dispose()
  })

  const restore = (address: string, epoch: number | null = null) =>
    restoreDatabase({ store: { address: { reveal: () => address } } } as Config, null, epoch)

  /** Six steps, a backup, three more, and the backup put back in their place. */
  async function lose(backup: (name: string) => Promise<() => Promise<void>>): Promise<TestDatabase> {
    const postgres = await postgresDatabase(server)
    await commitSteps(await postgres.connect(), 1, 6)
    await postgres.leave()
    const bringBack = await backup(nameIn(postgres.address))
    await commitSteps(await postgres.connect(), 7, 9)
    await postgres.leave()
    await bringBack()
    return postgres
  }

  const start = 2 ** 40

  async function expectNewEpoch(postgres: TestDatabase): Promise<void> {
    expect(await restore(postgres.address)).toEqual({
      epoch: 1,
      oldest: start + 1,
      head: start,
      replaced: null,
    })
    const store = await postgres.connect()
    expect((await store.readCheckpoint(1))?.step).toBe(6)
    expect(await store.commit(scriptedCommit(1, 7))).toMatchObject({ outcome: 'committed', first: start + 1 })
    expect(await check(postgres.address)).toMatchObject({ epoch: 1, faults: [] })
    await postgres.leave()
  }

  test('S10: a copied database begins a new epoch; restored again, one above all earlier ones', async () => {
    const copy = `copy_${Date.now()}`
    const run = (sql: string) => execute(server.urlOf('postgres'), sql)
    let bringBack = async () => {}
    const postgres = await lose(async name => {
      await run(`CREATE DATABASE ${copy} TEMPLATE ${name}`)
      bringBack = async () => {
        await run(`DROP DATABASE ${name}`)
        await run(`CREATE DATABASE ${name} TEMPLATE ${copy}`)
      }
      return bringBack
    })
    await expectNewEpoch(postgres)
    await bringBack()
    expect(await restore(postgres.address, 2)).toMatchObject({ epoch: 2, head: 2 * start })
    await expect(restore(postgres.address, 2)).rejects.toThrow('not above epoch 2')
    await postgres.dispose()
    await run(`DROP DATABASE ${copy}`)
  })

  // The packages bring no pg_dump: with that of the system, where there is one, by `npm run test:postgres-versions`.
  if (process.env['ASSAY_POSTGRES'] === undefined) return
  test('S10: pg_dump and pg_restore, as on the operations page', async context => {
    const tools = dumpVersion()
    if (tools < server.major) context.skip(`pg_dump is of version ${tools}, the server of ${server.major}`)
    const file = join(folder, 'assay.dump')
    const run = (tool: string, ...options: string[]) => execFileSync(tool, options, { stdio: 'pipe' })
    const postgres = await lose(async name => {
      run('pg_dump', '--schema=assay', '--format=custom', `--file=${file}`, server.urlOf(name))
      return async () => {
        run('pg_restore', '--clean', '--if-exists', `--dbname=${server.urlOf(name)}`, file)
      }
    })
    await expectNewEpoch(postgres)
    await postgres.dispose()
  })
})

const nameIn = (url: string): string => new URL(url.replace('@/', '@host/')).pathname.slice(1)

/** Zero where there is none; an older one refuses a newer server. */
function dumpVersion(): number {
  try {
    return Number(/(\d+)\./.exec(execFileSync('pg_dump', ['--version'], { encoding: 'utf8' }))?.[1])
  } catch {
    return 0
  }
}
