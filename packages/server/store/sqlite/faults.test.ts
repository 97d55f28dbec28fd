/** The S rows of a disk that is full, broken, slow to be read, or elsewhere. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { claimStore } from '../openStore.ts'
import { watchStore } from '../watchStore.ts'
import { databaseAt } from '../testing/connect.ts'
import { checkHistory } from '../testing/crashing.ts'
import { commitOf, health } from '../testing/drafts.ts'
import { reportOf, traceCommits } from '../testing/fsyncTrace.ts'
import { mountSmallDisk } from '../testing/smallDisk.ts'
import { claimDatabase } from './claim.ts'
import { openSqliteStore } from './sqliteStore.ts'

const MIB = 1024 * 1024

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-faults-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('S3: synced, then acknowledged', () => {
  test('every commit of a traced process is synced before it is acknowledged', () => {
    const report = traceCommits(`sqlite:${join(folder, 'assay.db')}`, 60)
    // Where tracing is not permitted the trace cannot be had; `npm run test:fsync` says so too.
    if ('refused' in report) return expect(report.refused).toMatch(/ENOENT|not permitted|ptrace/i)
    return expect(report).toEqual({ acknowledged: 60, early: 0 })
  })

  test('the trace check detects an acknowledgement that came too early', () => {
    const write = 'pwrite64(20</d/assay.db-wal>, "x", 4096, 0) = 4096'
    const sync = 'fdatasync(20</d/assay.db-wal>)         = 0'
    const acknowledge = String.raw`write(1<pipe:[1]>, "{\"step\":1,"..., 40) = 40`
    expect(reportOf([write, sync, acknowledge])).toEqual({ acknowledged: 1, early: 0 })
    expect(reportOf([write, acknowledge, sync])).toEqual({ acknowledged: 1, early: 1 })
    expect(reportOf([write, sync, write, acknowledge])).toEqual({ acknowledged: 1, early: 1 })
    expect(reportOf([write, sync, acknowledge, acknowledge])).toEqual({ acknowledged: 2, early: 1 })
    expect(reportOf([write, sync.replace('= 0', '= -1 EIO'), acknowledge])).toEqual({
      acknowledged: 1,
      early: 1,
    })
  })
})

describe('S4: a full disk', () => {
  const large = (step: number) =>
    commitOf(1, step, {
      records: [health(1, 'x')],
      entities: [{ key: `${step}`, text: 'x'.repeat(300_000) }],
    })

  test.each([
    ['the floor acts first', 4 * MIB, 'commits stop below 4.0 MiB'],
    ['and without a floor the device reports it', 0, 'full'],
  ])('stops commits, not reads, and they resume when there is space: %s', async (_, floorBytes, message) => {
    const disk = mountSmallDisk(16)
    // Without the right to mount, the limit SQLite itself puts on pages stands in, in sqliteStore.test.ts.
    if ('refused' in disk) return expect(disk.refused).toMatch(/permi|superuser|ENOENT/i)
    const ballast = join(disk.folder, 'ballast')
    writeFileSync(ballast, Buffer.alloc(6 * MIB))
    const path = join(disk.folder, 'assay.db')
    const release = claimDatabase(path)
    const store = await openSqliteStore({ path, floorBytes })
    let step = 1
    let failure: unknown = null
    while (failure === null)
      failure = await store.commit(large(step)).then(
        () => {
          step++
          return null
        },
        (error: unknown) => error,
      )
    expect(failure).toMatchObject({ code: 'STORE_FULL', retryable: true })
    expect((failure as Error).message).toContain(message)
    expect((await store.readBounds()).head).toBe(step - 1)
    expect((await store.readLog(0, 1_000, null)).length).toBe(step - 1)
    expect((await store.readCheckpoint(1))?.step).toBe(step - 1)
    // What the floor keeps free is for this.
    if (floorBytes > 0) await store.audit({ atMs: 1, actor: 'a', action: 'b', subject: 'c', detail: null })
    rmSync(ballast)
    expect(await store.commit(large(step))).toEqual({ outcome: 'committed', first: step, last: step })
    await store.close()
    release()
    return disk.dispose()
  })
})

test('S5: after a failed write the writer stops permanently, reads continue, and nothing acknowledged is lost', async () => {
  const address = `sqlite:${join(folder, 'assay.db')}`
  const stubborn = fileURLToPath(new URL('../testing/stubborn.ts', import.meta.url))
  // The system refuses to let a file grow past 1 MiB: to SQLite that is an error of the device.
  const { stdout, stderr } = spawnSync(
    '/bin/sh',
    ['-c', 'ulimit -f 2048; exec "$0" "$@"', process.execPath, stubborn, address],
    { encoding: 'utf8' },
  )
  expect(stdout, stderr).not.toBe('')
  const met = JSON.parse(stdout) as { acknowledged: number; first: string; second: string; head: number }
  expect(met.first).toContain('STORE_IO')
  expect(met.second).toMatch(/^STORE_IO Writing has stopped/)
  expect(met.head).toBeGreaterThan(0)
  const database = databaseAt(address, async () => undefined)
  const store = await database.connect()
  expect((await store.readCheckpoint(1))?.step).toBe(met.acknowledged)
  await checkHistory(store, met.acknowledged, [], 'after a failed write')
  await database.dispose()
})

describe('S11: a reader that keeps an old snapshot', () => {
  test('lets the write-ahead log grow, which is reported; once it ends the log restarts', async () => {
    const path = join(folder, 'assay.db')
    const release = await claimStore(`sqlite:${path}`)
    const store = await openSqliteStore({ path })
    await store.commit(commitOf(1, 1))
    const reader = new DatabaseSync(path)
    reader.exec('BEGIN')
    reader.prepare('SELECT * FROM head').all()
    const warned: unknown[] = []
    const watch = watchStore(
      `sqlite:${path}`,
      () => undefined,
      { warn: (_, fields) => warned.push(fields?.['bytes']) },
      { everyMs: 5, largeBytes: 20 * MIB },
    )
    const grow = async (from: number) => {
      for (let step = from; step < from + 30; step++)
        await store.commit(
          commitOf(1, step, { entities: [{ key: 'a', text: `${step % 10}`.repeat(1_000_000) }] }),
        )
    }
    await grow(2)
    await vi.waitFor(() => expect(warned[0]).toBeGreaterThan(20 * MIB), { timeout: 60_000 })
    await watch.close()
    const whileRead = statSync(`${path}-wal`).size
    expect(whileRead).toBeGreaterThan(28 * MIB)
    reader.exec('COMMIT')
    const log = reader.prepare('PRAGMA wal_checkpoint(NOOP)')
    await vi.waitFor(
      () => {
        const { log: written, checkpointed } = log.get() as { log: number; checkpointed: number }
        expect(checkpointed).toBe(written)
      },
      { timeout: 60_000 },
    )
    reader.close()
    await grow(32)
    // Without a reader the log is written over from its start after each checkpoint, and does not grow.
    expect(statSync(`${path}-wal`).size).toBeLessThan(whileRead + 8 * MIB)
    await store.close()
    await release()
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test('cannot be one of ours: no read of the port takes more than 10,000 rows', async () => {
    const path = join(folder, 'assay.db')
    const release = claimDatabase(path)
    const store = await openSqliteStore({ path })
    await expect(store.readLog(0, 10_001, null)).rejects.toMatchObject({ code: 'STORE_MISUSE' })
    await store.close()
    release()
  })
})

test('a torn byte in the database is an error, not a result', async () => {
  const path = join(folder, 'assay.db')
  const release = claimDatabase(path)
  const store = await openSqliteStore({ path })
  for (let step = 1; step <= 20; step++)
    await store.commit(
      commitOf(1, step, { records: Array.from({ length: 50 }, () => health(1, 'x'.repeat(100))) }),
    )
  await store.close()
  const database = new DatabaseSync(path)
  const { rootpage, bytes } = database
    .prepare(
      "SELECT rootpage, page_size AS bytes FROM sqlite_schema, pragma_page_size WHERE sqlite_schema.name = 'log'",
    )
    .get() as { rootpage: number; bytes: number }
  database.close()
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(bytes, 0xff), 0, bytes, (rootpage - 1) * bytes)
  await file.close()
  const torn = await openSqliteStore({ path })
  await expect(torn.readLog(0, 100, null)).rejects.toMatchObject({ code: 'STORE_CORRUPT', retryable: false })
  await torn.close()
  release()
})
