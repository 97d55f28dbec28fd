/** What the command line needs of the service beside running it: its configuration, and its keys. */
import { Access, isScope, type Scope, SCOPES } from './access/access.ts'
import { systemClock } from './ops/clock.ts'
import type { Config } from './ops/config.ts'
import { askControl } from './ops/control.ts'
import { claimStore, openStore } from './store/openStore.ts'

export { loadConfig } from './ops/loadConfig.ts'
export { SCOPES }

export type KeyWish = { readonly name: string; readonly consumer: string; readonly scopes: readonly string[] }
export type IssuedKey = { readonly key: string; readonly keyId: string }

/** Makes a key: through the running service if there is one, else in the store of this configuration. */
export async function issueKeyIn(config: Config, wish: KeyWish): Promise<IssuedKey> {
  const scopes = scopesIn(wish.scopes)
  const answered = await askControl(config.store.path, { command: 'keys.issue', ...wish })
  if (answered !== null) return answered as IssuedKey
  const address = config.store.address.reveal()
  const release = await claimStore(address)
  try {
    const store = await openStore(address)
    const issued = await new Access(store, systemClock).issue(wish.name, wish.consumer, scopes, null)
    await store.close()
    return issued
  } finally {
    await release()
  }
}

export function scopesIn(texts: readonly string[]): Scope[] {
  const unknown = texts.filter(text => !isScope(text))
  if (unknown.length > 0 || texts.length === 0)
    throw new Error(`scopes are ${JSON.stringify(texts.join(','))}; expected some of ${SCOPES.join(', ')}`)
  return texts.filter(isScope)
}
