/**
 * Databases for tests, named by an address that another thread or process can open too. A new kind of store
 * joins the contract suite by a case here and an entry in `contract.test.ts`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MaintenanceStore } from '../maintenance.ts'
import type { Store } from '../port.ts'
import { claimDatabase } from '../sqlite/claim.ts'
import { openSqliteStore } from '../sqlite/sqliteStore.ts'

export type FullStore = Store & MaintenanceStore

/** A database made for one test, used by this process until it leaves. */
export type TestDatabase = {
  readonly address: string
  /** Another connection, as a further thread would have it. */
  connect(): Promise<FullStore>
  /** Closes every connection of this process and lets another one have the database. */
  leave(): Promise<void>
  dispose(): Promise<void>
}

/** In a process of its own: claims the database, for as long as the process lives. */
export async function openAsProcess(address: string): Promise<FullStore> {
  claimDatabase(pathOf(address))
  return openAsThread(address)
}

/** In a thread of a process that has the database already. */
export const openAsThread = (address: string): Promise<FullStore> =>
  openSqliteStore({ path: pathOf(address) })

export async function sqliteDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-store-'))
  const path = join(folder, 'data', 'assay.db')
  let release: (() => void) | null = null
  const opened: FullStore[] = []
  const leave = async () => {
    for (const store of opened.splice(0)) await store.close()
    release?.()
    release = null
  }
  return {
    address: `sqlite:${path}`,
    async connect() {
      release ??= claimDatabase(path)
      const store = await openSqliteStore({ path })
      opened.push(store)
      return store
    },
    leave,
    async dispose() {
      await leave()
      await rm(folder, { recursive: true })
    },
  }
}

function pathOf(address: string): string {
  const [scheme, path] = [address.slice(0, address.indexOf(':')), address.slice(address.indexOf(':') + 1)]
  if (scheme !== 'sqlite') throw new Error(`no store for ${address}`)
  return path
}
