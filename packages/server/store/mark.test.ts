/**
 * S19: a write-ahead log damaged after a kill, a file put back by hand, a mark that is gone. No sequence that was
 * issued is ever issued again, and losses are reported.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkStore } from './check.ts'
import { epochStart } from './epoch.ts'
import type { Loss } from './loss.ts'
import { claimStore, openReader, openStore } from './openStore.ts'
import { backupSqlite, restoreSqlite } from './sqlite/backup.ts'
import type { FullStore } from './testing/connect.ts'
import { generator } from './testing/generator.ts'
import { scriptedCommit } from './testing/script.ts'
import { seedOfRun } from '../../world/seed.ts'

const STEPS = 40
const SEED = seedOfRun()

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-mark-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** What a start finds, and the store while `task` runs. */
async function started<Result>(
  path: string,
  task: (store: FullStore, losses: readonly Loss[]) => Promise<Result>,
): Promise<Result> {
  const losses: Loss[] = []
  const release = await claimStore(`sqlite:${path}`, loss => losses.push(loss))
  try {
    const store = await openStore(`sqlite:${path}`)
    try {
      return await task(store, losses)
    } finally {
      await store.close()
    }
  } finally {
    await release()
  }
}

async function commitSteps(store: FullStore, from: number, to: number): Promise<number> {
  let last = 0
  for (let step = from; step <= to; step++) {
    const committed = await store.commit(scriptedCommit(1, step))
    if (committed.outcome !== 'committed') throw new Error(`step ${step}: ${committed.outcome}`)
    last = committed.last
  }
  return last
}

/** The files as a kill leaves them at this moment: what was written is in the system's cache. */
function killedCopy(path: string, name: string): string {
  const copy = join(folder, name)
  for (const suffix of ['', '-wal', '.mark'])
    if (existsSync(`${path}${suffix}`)) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`)
  return copy
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] as number) ^ 0xff
  writeFileSync(path, bytes)
}

async function check(path: string) {
  const reader = await openReader(`sqlite:${path}`)
  try {
    return await checkStore(reader)
  } finally {
    await reader.close()
  }
}

describe('a killed service', () => {
  test('S19: a byte flipped anywhere in its write-ahead log never repeats a sequence', async () => {
    const path = join(folder, 'assay.db')
    const [killed, head] = await started(path, async store => {
      const last = await commitSteps(store, 1, STEPS)
      return [killedCopy(path, 'killed.db'), last] as const
    })
    const next = generator(SEED)
    let lossy = 0
    for (let round = 0; round < 6; round++) {
      const damaged = killedCopy(killed, `damaged-${round}.db`)
      const { size } = statSync(`${damaged}-wal`)
      // Behind the pages that make the schema, which the last of the rounds loses too.
      flip(`${damaged}-wal`, round === 5 ? 40 : Math.floor(size / 2) + (next() % Math.floor(size / 2)))
      await started(damaged, async (store, losses) => {
        const context = `seed ${SEED}, round ${round}`
        const bounds = await store.readBounds()
        if (losses.length === 0) {
          expect(bounds, context).toMatchObject({ epoch: 0, head })
          return
        }
        lossy++
        const [loss] = losses as [Loss]
        expect(loss, context).toMatchObject({ why: 'BEHIND', mark: head, lost: head - loss.head, epoch: 1 })
        expect(loss.head, context).toBeLessThan(head)
        expect(bounds, context).toEqual({ epoch: 1, oldest: epochStart(1) + 1, head: epochStart(1) })
        const done = (await store.readCheckpoint(1))?.step ?? 0
        const committed = await store.commit(scriptedCommit(1, done + 1))
        expect(committed, context).toMatchObject({ outcome: 'committed', first: epochStart(1) + 1 })
        const [entry] = await store.readAudit(null, 1)
        expect(entry, context).toMatchObject({ action: 'epoch.begin', subject: 'epoch 1' })
        expect(JSON.parse(entry?.detail ?? ''), context).toEqual(loss)
      })
      // Said once: the next start has nothing to say.
      await started(damaged, async (_, losses) => expect(losses).toEqual([]))
    }
    expect(lossy, `seed ${SEED}`).toBeGreaterThan(0)
  })

  test('a database torn by a checkpoint that copied more than remains is refused with a clear message', async () => {
    const path = join(folder, 'assay.db')
    const [killed, copied] = await started(path, async store => {
      await commitSteps(store, 1, 20)
      const copier = new DatabaseSync(path)
      copier.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      await commitSteps(store, 21, 40)
      // A reader keeps the write-ahead log from restarting after the copy.
      const reader = new DatabaseSync(path, { readOnly: true })
      reader.exec('BEGIN; SELECT count(*) FROM log')
      const { size } = statSync(`${path}-wal`)
      copier.exec('PRAGMA wal_checkpoint(PASSIVE)')
      await commitSteps(store, 41, 45)
      const copy = killedCopy(path, 'killed.db')
      copier.close()
      reader.close()
      return [copy, size] as const
    })
    flip(`${killed}-wal`, Math.floor(copied / 10))
    await expect(started(killed, async () => undefined)).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringMatching(/lost its end .* is not consistent: .*assay db restore/),
    })
    // Nothing was given out meanwhile, and it is refused again.
    await expect(started(killed, async () => undefined)).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
  })

  test('without damage continues in its epoch', async () => {
    const path = join(folder, 'assay.db')
    const killed = await started(path, async store => {
      await commitSteps(store, 1, 5)
      return killedCopy(path, 'killed.db')
    })
    await started(killed, async (store, losses) => {
      expect(losses).toEqual([])
      expect((await store.readBounds()).epoch).toBe(0)
      await commitSteps(store, 6, 6)
    })
  })

  test('fails the check of its database when the log ends below issued sequences', async () => {
    const path = join(folder, 'assay.db')
    const older = await started(path, async store => {
      await commitSteps(store, 1, 5)
      const copy = killedCopy(path, 'older.db')
      await commitSteps(store, 6, 9)
      return copy
    })
    expect((await check(older)).faults).toEqual([])
    copyFileSync(`${path}.mark`, `${older}.mark`)
    expect((await check(older)).faults).toEqual([expect.stringMatching(/the log ends at \d+, but sequences/)])
  })
})

describe('a manually restored file', () => {
  test('S19: an older copy is detected by the mark, and its sequences are not used again', async () => {
    const path = join(folder, 'assay.db')
    await started(path, store => commitSteps(store, 1, 5))
    copyFileSync(path, join(folder, 'kept.db'))
    const head = await started(path, store => commitSteps(store, 6, 9))
    copyFileSync(join(folder, 'kept.db'), path)
    await started(path, async (store, losses) => {
      expect(losses).toMatchObject([{ why: 'BEHIND', mark: head, epoch: 1 }])
      expect(await commitSteps(store, 6, 6)).toBeGreaterThan(epochStart(1))
    })
  })

  test('a copy from before a new epoch begins one above both', async () => {
    const path = join(folder, 'assay.db')
    await started(path, store => commitSteps(store, 1, 5))
    copyFileSync(path, join(folder, 'kept.db'))
    await started(path, async store => {
      await store.startEpoch()
      await commitSteps(store, 6, 7)
    })
    copyFileSync(join(folder, 'kept.db'), path)
    await started(path, async (store, losses) => {
      expect(losses).toMatchObject([{ why: 'BEHIND', epoch: 2 }])
      expect((await store.readBounds()).epoch).toBe(2)
    })
  })

  test('restored by command, it begins its epoch once and raises no alarm', async () => {
    const path = join(folder, 'assay.db')
    const backup = join(folder, 'backup.db')
    await started(path, async store => {
      await commitSteps(store, 1, 5)
      backupSqlite(path, backup)
      await commitSteps(store, 6, 9)
    })
    expect(restoreSqlite(path, backup, null, 1)).toMatchObject({ epoch: 1 })
    await started(path, async (store, losses) => {
      expect(losses).toEqual([])
      expect((await store.readBounds()).epoch).toBe(1)
    })
    // In a folder of its own there is no mark yet.
    const elsewhere = join(folder, 'elsewhere.db')
    expect(restoreSqlite(elsewhere, backup, null, 1)).toMatchObject({ epoch: 1 })
    await started(elsewhere, async (_, losses) => expect(losses).toEqual([]))
  })
})

describe('a mark', () => {
  test('that a database never had is written, in the same epoch', async () => {
    const path = join(folder, 'assay.db')
    await started(path, async (store, losses) => {
      expect(losses).toEqual([])
      const head = await commitSteps(store, 1, 3)
      expect(JSON.parse(readFileSync(`${path}.mark`, 'utf8'))).toMatchObject({ epoch: 0, sequence: head })
      expect(statSync(`${path}.mark`).mode & 0o777).toBe(0o600)
    })
  })

  test.each([
    ['gone', 'MARK_MISSING', (mark: string) => rmSync(mark)],
    ['damaged', 'MARK_DAMAGED', (mark: string) => flip(mark, 12)],
    ['cut short', 'MARK_DAMAGED', (mark: string) => writeFileSync(mark, '{"epoch":0')],
  ])('that is %s begins an epoch, with an unknown loss', async (_, why, spoil) => {
    const path = join(folder, 'assay.db')
    await started(path, store => commitSteps(store, 1, 3))
    spoil(`${path}.mark`)
    expect((await check(path)).faults).toEqual([expect.stringMatching(/^the mark of the database is/)])
    await started(path, async (store, losses) => {
      expect(losses).toMatchObject([{ why, mark: null, lost: null, epoch: 1 }])
      expect((await store.readBounds()).epoch).toBe(1)
    })
  })

  test('covers every commit of other threads before a client can receive it', async () => {
    const path = join(folder, 'assay.db')
    await started(path, async store => {
      const marked = () => (JSON.parse(readFileSync(`${path}.mark`, 'utf8')) as { sequence: number }).sequence
      const { head } = await store.readBounds()
      const { Worker } = await import('node:worker_threads')
      const committer = new Worker(new URL('./testing/committer.ts', import.meta.url), {
        workerData: { address: `sqlite:${path}`, chainId: 1, steps: 3 },
      })
      await new Promise(resolve => committer.once('exit', resolve))
      expect(marked()).toBe(head)
      const records = await store.readLog(head, 100, null)
      expect(marked()).toBe(records.at(-1)?.sequence)
    })
  })
})
