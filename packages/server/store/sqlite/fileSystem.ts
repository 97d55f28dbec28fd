/**
 * Which file systems a database may be on, and how much space it needs. Its threads share memory through a mapped file
 * and rely on the locks of the system; file systems over a network or in user space break one or the other.
 */
import { statfsSync } from 'node:fs'
import { StoreError } from '../storeError.ts'

/** `f_type` of statfs(2) on Linux, from linux/magic.h. */
const REFUSED: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x73757245, 'Coda'],
  [0x0bd00bd0, 'Lustre'],
])

/** The numbers mean other things elsewhere, so only Linux is checked. */
export function refuseNetworkFileSystem(
  folder: string,
  typeOf: (folder: string) => number = path => statfsSync(path).type,
  platform: NodeJS.Platform = process.platform,
): void {
  if (platform !== 'linux') return
  // The kernel's field is a signed word on some machines.
  const name = REFUSED.get(typeOf(folder) >>> 0)
  if (name === undefined) return
  throw new StoreError(
    'STORE_NETWORK_FILE_SYSTEM',
    `${folder} is on a ${name} file system, where SQLite loses data. Put the database on a local disk, ` +
      'or use PostgreSQL.',
  )
}

/**
 * Stops the growth of the log before the disk is full: on a full disk no user can log in, prune or even read, because
 * readers need space too. Commits resume as soon as there is space.
 */
export function assertSpace(folder: string, floorBytes: number): void {
  const { bavail, bsize } = statfsSync(folder)
  const freeBytes = bavail * bsize
  if (freeBytes >= floorBytes) return
  throw new StoreError(
    'STORE_FULL',
    `${folder} has ${mebibytes(freeBytes)} MiB left, and commits stop below ${mebibytes(floorBytes)} MiB. ` +
      'Free some space: commits resume by themselves.',
  )
}

const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1)
