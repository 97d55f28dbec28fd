/** Service functions for the command line besides running it: configuration, keys, log position. */
import { Access, SCOPES } from '../access/access.ts'
import { type KeyCommand, type ListedKey, runKeyCommand, scopesIn } from './keyCommands.ts'
import { systemClock } from '../ops/clock.ts'
import type { Config } from '../config/config.ts'
import { askControl } from '../ops/control.ts'
import { createLog } from '../ops/log.ts'
import { logLoss } from '../store/loss.ts'
import { openStore, shareStore } from '../store/openStore.ts'

export { askControl, openControl } from '../ops/control.ts'
export { configSchema } from '../config/jsonSchema.ts'
export { type ShownConfig, showConfig, showEnvironment } from '../config/show.ts'
export { configTemplate } from '../config/template.ts'
export { configWarnings } from '../config/warnings.ts'
export { historySentence } from '../config/historySize.ts'
export { ConfigError } from '../config/faultLog.ts'
export { environmentConfig, hasShortCut } from '../config/environmentConfig.ts'
export { loadConfig } from '../config/loadConfig.ts'
export { type LogPosition, readPositions, startNextEpoch } from './logPosition.ts'
export { type ListedKey, SCOPES }

export type KeyWish = { readonly name: string; readonly consumer: string; readonly scopes: readonly string[] }
export type IssuedKey = { readonly key: string; readonly keyId: string }

/** Makes a key. */
export async function issueKeyIn(config: Config, wish: KeyWish): Promise<IssuedKey> {
  // Checked before anything is opened.
  scopesIn(wish.scopes)
  return (await keyCommandIn(config, 'keys.issue', wish)) as IssuedKey
}

export async function listKeysIn(config: Config): Promise<readonly ListedKey[]> {
  return ((await keyCommandIn(config, 'keys.list', {})) as { readonly keys: readonly ListedKey[] }).keys
}

/** Replaces a key with a new one. */
export async function rollKeyIn(config: Config, keyId: string): Promise<IssuedKey> {
  return (await keyCommandIn(config, 'keys.roll', { keyId })) as IssuedKey
}

export async function revokeKeyIn(config: Config, keyId: string): Promise<void> {
  await keyCommandIn(config, 'keys.revoke', { keyId })
}

/** Through the running service if there is one, otherwise in the store of this configuration, which nodes may share. */
async function keyCommandIn(config: Config, command: KeyCommand, request: object): Promise<object> {
  const answered = await askControl(config.store.path, { command, ...request })
  if (answered !== null) return answered
  const address = config.store.address.reveal()
  const release = await shareStore(address, loss => logLoss(createLog(), loss))
  try {
    const store = await openStore(address)
    try {
      return await runKeyCommand(new Access(store, systemClock), command, { ...request })
    } finally {
      await store.close()
    }
  } finally {
    await release()
  }
}
