/** Where the log and the state are stored. */
import { resolve } from 'node:path'
import type { Secret } from '../../ops/secret.ts'
import type { FaultLog } from '../faultLog.ts'
import { optional, secret } from '../field.ts'

/** `address` is `sqlite:PATH` or a PostgreSQL URL with its password; the control socket is next to `path`. */
export type StoreConfig = {
  readonly address: Secret
  readonly path: string
  /** A read replica of it, for API nodes. */
  readonly replica?: Secret
}

const SQLITE = 'sqlite:'
const isSqlite = (address: string): boolean => address.startsWith(SQLITE)

/** A path is no secret; a URL contains a password. */
const shownStore = (address: string): string =>
  isSqlite(address) ? address : `${address.split('://')[0]}://[redacted]`

export const STORE = secret(
  'sqlite:PATH on a local disk, or postgres://user:secret@host/database.',
  [/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, 'sqlite:PATH or postgres://user:secret@host/database'],
  {
    convert: (address, folder) =>
      isSqlite(address) ? `${SQLITE}${resolve(folder, address.slice(SQLITE.length))}` : address,
    shown: shownStore,
    examples: ['postgres://assay:secret@primary/assay'],
    default: 'sqlite:./data/assay.db',
  },
)

export const REPLICA = optional(
  secret(
    'A read replica of a PostgreSQL store, for processes with --role api.',
    [/^postgres(ql)?:\/\/.+$/, 'postgres://user:secret@host/database'],
    { shown: shownStore, examples: ['postgres://assay:secret@replica/assay'] },
  ),
)

type Stores = { readonly store: Secret; readonly replica: Secret | null }

export function onlyPostgresHasReplicas({ store, replica }: Stores, _: string, faults: FaultLog): void {
  if (replica !== null && isSqlite(store.reveal()))
    faults.add('replica', 'a replica of a SQLite store', 'nothing: only PostgreSQL has replicas')
}

export function storeConfig({ store, replica }: Stores, folder: string): StoreConfig {
  const address = store.reveal()
  const path = isSqlite(address) ? address.slice(SQLITE.length) : resolve(folder, 'data/assay')
  return { address: store, path, ...(replica === null ? {} : { replica }) }
}
