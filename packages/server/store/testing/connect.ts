/**
 * Databases for tests, named by an address that another thread or process can open too. A new kind of store
 * joins the contract suite by a case here and an entry in `contract.test.ts`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BackfillStore } from '../backfill.ts'
import type { MaintenanceStore } from '../maintenance.ts'
import { claimStore, openStore } from '../openStore.ts'
import type { Store } from '../port.ts'
import { execute, type PostgresServer } from './postgresServer.ts'

export type FullStore = Store & MaintenanceStore & BackfillStore

/** A database made for one test, used by this process until it leaves. */
export type TestDatabase = {
  readonly address: string
  /** Another connection, as a further thread would have it. */
  connect(): Promise<FullStore>
  /** Closes every connection of this process and lets another one have the database. */
  leave(): Promise<void>
  dispose(): Promise<void>
}

/** In a process of its own: claims the database, until the store is closed or the process dies. */
export async function openAsProcess(address: string): Promise<FullStore> {
  const release = await claimStore(address)
  const store = await openStore(address)
  return { ...store, close: () => store.close().then(release) }
}

export async function sqliteDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-store-'))
  return databaseAt(`sqlite:${join(folder, 'data', 'assay.db')}`, () => rm(folder, { recursive: true }))
}

/** A database of its own on a server that several tests share. */
export async function postgresDatabase(server: PostgresServer): Promise<TestDatabase> {
  const url = await server.createDatabase()
  const name = new URL(url.replace('@/', '@host/')).pathname.slice(1)
  return databaseAt(url, async () => {
    await execute(server.urlOf('postgres'), `DROP DATABASE ${name} WITH (FORCE)`)
  })
}

export function databaseAt(address: string, remove: () => Promise<void>): TestDatabase {
  let release: (() => Promise<void>) | null = null
  const opened: FullStore[] = []
  const leave = async () => {
    for (const store of opened.splice(0)) await store.close()
    await release?.()
    release = null
  }
  return {
    address,
    async connect() {
      release ??= await claimStore(address)
      const store = await openStore(address)
      opened.push(store)
      return store
    },
    leave,
    async dispose() {
      await leave()
      await remove()
    },
  }
}
