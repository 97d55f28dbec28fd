import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { assertClaimed, claimDatabase } from './claim.ts'
import { refuseNetworkFileSystem } from './fileSystem.ts'
import { thisProcess } from '../processIdentity.ts'
import { openSqliteStore } from './sqliteStore.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-claim-'))
  path = join(folder, 'assay.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a database that this process has not claimed is not opened', async () => {
  await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'STORE_UNCLAIMED' })
  await expect(openSqliteStore({ path: join(folder, 'none', 'assay.db') })).rejects.toMatchObject({
    code: 'STORE_UNCLAIMED',
  })
  const release = claimDatabase(path)
  expect(() => assertClaimed(path)).not.toThrow()
  release()
  expect(() => assertClaimed(path)).toThrow('has not claimed')
})

test('a process claims a database once, by any path, and may claim it again after releasing it', () => {
  const release = claimDatabase(path)
  const link = join(folder, 'link')
  symlinkSync(folder, link)
  expect(() => claimDatabase(join(link, 'assay.db'))).toThrow('already claimed')
  release()
  release()
  claimDatabase(join(link, 'assay.db'))()
})

test('the owner entry of a dead process is taken over', () => {
  writeFileSync(`${path}.owner`, JSON.stringify({ pid: 1, start: 'long ago' }))
  const release = claimDatabase(path)
  expect(JSON.parse(readFileSync(`${path}.owner`, 'utf8'))).toEqual(thisProcess())
  release()
})

test('a later process with the same id is not the owner', () => {
  const release = claimDatabase(path)
  writeFileSync(`${path}.owner`, JSON.stringify({ ...thisProcess(), start: 'another boot/1' }))
  expect(() => assertClaimed(path)).toThrow(`Process ${process.pid} has not claimed`)
  release()
})

test('the files are readable by their owner only', async () => {
  const release = claimDatabase(path)
  const store = await openSqliteStore({ path })
  for (const suffix of ['', '-wal', '-shm', '.lock', '.owner'])
    expect(statSync(path + suffix).mode & 0o077, suffix).toBe(0)
  await store.close()
  release()
})

test.each([
  ['NFS', 0x6969],
  ['CIFS', 0xff534d42],
  ['CIFS', 0xff534d42 | 0],
  ['SMB2', 0xfe534d42],
  ['FUSE', 0x65735546],
])('S7: a database on %s is refused', (name, type) => {
  expect(() => refuseNetworkFileSystem('/data', () => type, 'linux')).toThrow(
    `/data is on a ${name} file system`,
  )
  expect(() => refuseNetworkFileSystem('/data', () => type, 'darwin')).not.toThrow()
})

test('ext4, xfs, btrfs, overlay and tmpfs are served', () => {
  for (const type of [0xef53, 0x58465342, 0x9123683e, 0x794c7630, 0x01021994])
    expect(() => refuseNetworkFileSystem('/data', () => type, 'linux')).not.toThrow()
})
