/**
 * Schema versions: numbered from 1 without gaps, applied forward only, each in a transaction of its own
 * together with the number it leads to. A migration that has been released never changes.
 */
import { StoreError } from './storeError.ts'

export type Migration = {
  readonly version: number
  readonly name: string
  readonly sql: string
  /**
   * The newest version a program must know to keep working with the database. A migration that only adds data such
   * programs do not read may name an earlier version than its own. Left out, its own.
   */
  readonly oldest?: number
}

/**
 * The migrations still to be applied to a database at `stored`. An older program refuses a newer database, unless that
 * one declares (`oldest`) that it still works with it.
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  stored: number,
  oldest: number = stored,
): readonly Migration[] {
  migrations.forEach(({ version, name }, at) => {
    if (version !== at + 1)
      throw new StoreError('STORE_MISUSE', `migration ${name} has version ${version}, expected ${at + 1}`)
  })
  if (stored > migrations.length && oldest > migrations.length)
    throw new StoreError(
      'STORE_SCHEMA_NEWER',
      `The database has schema version ${stored}; this program knows versions up to ${migrations.length}. ` +
        'Start the newer program that wrote it, or restore a backup made before the upgrade.',
    )
  return migrations.slice(stored)
}
