/** Folders that an export refuses to continue, because files would miss records or mix two logs, and misuse of its options. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BEGIN_MS, commit, openFolders, type Service } from './testing/folders.ts'

const STEPS = 240
const { root, serviceOf, exported, filesIn, lastIn, joined, inOnePiece, close } = openFolders()
afterAll(close)

let service: Service
beforeAll(async () => {
  service = await serviceOf(STEPS)
  expect((await exported(service, 'prices', '--folder', 'prices')).code).toBe(0)
})

const refused = async (of: Service, args: readonly string[]) => {
  const { code, text, errors } = await exported(of, ...args)
  return [code, `${text}${errors}`]
}

it.each([
  [['prices', 'a.csv', '--folder', 'new'], 'give one of them'],
  [['prices'], '--every applies only to a folder'],
  [['candles', '--folder', 'new'], 'candles are not written to a folder'],
  [['prices', '--folder', 'new', '--to', '9'], '--to applies only to a file'],
  [['prices', '--folder', 'prices', '--after', '9'], '--after is for a new folder'],
  [['events', '--folder', 'prices'], 'which is not of this export (expected events-0000000000000001-'],
  [['prices', '--folder', 'prices', '--chain', '1'], 'choose another folder'],
  [['prices', '--folder', 'prices', '--format', 'csv'], 'choose another folder'],
])('%j is refused: %s', async (args, words) => {
  expect(await refused(service, args)).toEqual([2, expect.stringContaining(words)])
})

it('anything in place of the folder, or unexpected in it, is left alone', async () => {
  writeFileSync(join(root, 'plain'), 'mine')
  expect(await refused(service, ['prices', '--folder', 'plain'])).toEqual([
    2,
    expect.stringContaining('plain is a file'),
  ])
  expect(await refused(service, ['prices', '--folder', 'plain/sub'])).toEqual([
    1,
    expect.stringContaining('check the owner of the folder'),
  ])
  mkdirSync(join(root, 'foreign'))
  for (const name of ['mine.parquet', 'mine.part']) writeFileSync(join(root, 'foreign', name), 'mine')
  expect(await refused(service, ['prices', '--folder', 'foreign'])).toEqual([
    2,
    expect.stringContaining('has mine.parquet, which is not of this export'),
  ])
  rmSync(join(root, 'foreign', 'mine.parquet'))
  expect((await exported(service, 'prices', '--folder', 'foreign')).code).toBe(0)
  expect(readFileSync(join(root, 'foreign', 'mine.part'), 'utf8')).toBe('mine')
})

it('a folder with a file missing between others is refused, until it is restored', async () => {
  await exported(service, 'prices', '--folder', 'holes')
  const [, second = ''] = filesIn('holes')
  const [there, away] = [join(root, 'holes', second), join(root, second)]
  renameSync(there, away)
  expect(await refused(service, ['prices', '--folder', 'holes'])).toEqual([
    2,
    expect.stringMatching(/ends at record \d+ and the next file begins at \d+\. Put the missing file back/),
  ])
  renameSync(away, there)
  expect((await exported(service, 'prices', '--folder', 'holes')).code).toBe(0)
})

it('a new folder begins after the record that --after names', async () => {
  expect((await exported(service, 'prices', '--folder', 'later', '--after', '100')).code).toBe(0)
  expect(filesIn('later')[0]).toMatch(/^prices-0000000000000101-/)
})

describe('another log', () => {
  it('is recognised by the commit time of the last record', async () => {
    await exported(service, 'prices', '--folder', 'other')
    const other = await serviceOf(STEPS + 20, BEGIN_MS + 1)
    expect(await refused(other, ['prices', '--folder', 'other'])).toEqual([
      2,
      expect.stringMatching(
        /has record \d+ from .* UTC, and the folder ends with .*: it is another log\. Select the service with --url, or begin a new folder/,
      ),
    ])
  })

  it('is recognised by an end before that of the folder', async () => {
    await exported(service, 'prices', '--folder', 'longer')
    const shorter = await serviceOf(30)
    expect(await refused(shorter, ['prices', '--folder', 'longer'])).toEqual([
      2,
      expect.stringMatching(/ends at record \d+, and the folder at \d+: it is another log, or an older copy/),
    ])
  })

  it('is one that began a new epoch, even with the last record of the folder', async () => {
    const restored = await serviceOf(100)
    await exported(restored, 'prices', '--folder', 'before')
    const last = lastIn('before')
    await restored.api.store.startEpoch()
    for (let step = 101; step <= 130; step++) await commit(restored, step)
    expect(await refused(restored, ['prices', '--folder', 'before'])).toEqual([
      3,
      expect.stringMatching(
        new RegExp(`began epoch 1, .* before ends at record ${last} of epoch 0: .* --folder before-epoch1\n`),
      ),
    ])
    expect((await exported(restored, 'prices', '--folder', 'before-epoch1')).code).toBe(0)
    expect(filesIn('before-epoch1')[0]).toMatch(new RegExp(`^prices-000${2 ** 40 + 1}-`))
  })
})

it('when retention has deleted records after the last file, it reports which and how to continue', async () => {
  const pruned = await serviceOf(60)
  await exported(pruned, 'prices', '--folder', 'behind')
  const last = lastIn('behind')
  for (let step = 61; step <= 160; step++) await commit(pruned, step)
  const prune = (records: number) =>
    pruned.api.store.prune({ nowMs: Date.now(), hours: 0, records, batch: 7 })
  const { head } = await pruned.api.store.readBounds()
  await prune(head - last)
  expect((await pruned.api.store.readBounds()).oldest).toBe(last + 1)
  await exported(pruned, 'events', '--folder', 'fresh')
  expect(filesIn('fresh')[0]).toMatch(new RegExp(`^events-0*${last + 1}-`))
  await prune(head - last - 40)
  const { oldest } = await pruned.api.store.readBounds()
  expect(oldest).toBeGreaterThan(last + 1)
  expect(await refused(pruned, ['prices', '--folder', 'behind'])).toEqual([
    3,
    expect.stringContaining(
      `records ${last + 1} to ${oldest - 1} are missing: behind ends at ${last}, and the log now begins at ${oldest}. Begin a new folder: --folder behind-${oldest} --after ${oldest - 1}`,
    ),
  ])
  const again = ['prices', '--folder', `behind-${oldest}`, '--after', String(oldest - 1)]
  expect((await exported(pruned, ...again)).code).toBe(0)
})

it('the last record that retention deleted is no gap', async () => {
  const pruned = await serviceOf(60)
  await exported(pruned, 'prices', '--folder', 'exactly')
  const last = lastIn('exactly')
  for (let step = 61; step <= 100; step++) await commit(pruned, step)
  const whole = await inOnePiece(pruned, 'prices', 'parquet', Number.MAX_SAFE_INTEGER)
  const { head } = await pruned.api.store.readBounds()
  await pruned.api.store.prune({ nowMs: Date.now(), hours: 0, records: head - last, batch: 7 })
  const done = await exported(pruned, 'prices', '--folder', 'exactly')
  expect([done.code, done.errors]).toEqual([0, ''])
  const rows = await joined('exactly')
  expect(rows).toEqual(whole.slice(0, rows.length))
  expect(lastIn('exactly')).toBeGreaterThan(last)
})
