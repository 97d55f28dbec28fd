/** What the command line needs of the service beside running it: its configuration, its keys, its log's position. */
import { Access, isScope, type Scope, SCOPES } from './access/access.ts'
import { systemClock } from './ops/clock.ts'
import type { Config } from './ops/config.ts'
import { askControl } from './ops/control.ts'
import { claimDatabase } from './store/sqlite/claim.ts'
import { openSqliteStore } from './store/sqlite/sqliteStore.ts'

export { askControl, openControl } from './ops/control.ts'
export { environmentConfig, hasShortCut, loadConfig } from './ops/loadConfig.ts'
export { type LogPosition, readPositions, startNextEpoch } from './logPosition.ts'
export { SCOPES }

export type KeyWish = { readonly name: string; readonly consumer: string; readonly scopes: readonly string[] }
export type IssuedKey = { readonly key: string; readonly keyId: string }

/** Makes a key: through the running service if there is one, else in the store of this configuration. */
export async function issueKeyIn(config: Config, wish: KeyWish): Promise<IssuedKey> {
  const scopes = scopesIn(wish.scopes)
  const answered = await askControl(config.store.path, { command: 'keys.issue', ...wish })
  if (answered !== null) return answered as IssuedKey
  const release = claimDatabase(config.store.path)
  try {
    const store = await openSqliteStore({ path: config.store.path })
    const issued = await new Access(store, systemClock).issue(wish.name, wish.consumer, scopes, null)
    await store.close()
    return issued
  } finally {
    release()
  }
}

export function scopesIn(texts: readonly string[]): Scope[] {
  const unknown = texts.filter(text => !isScope(text))
  if (unknown.length > 0 || texts.length === 0)
    throw new Error(`scopes are ${JSON.stringify(texts.join(','))}; expected some of ${SCOPES.join(', ')}`)
  return texts.filter(isScope)
}
