/** The keys of a service: through its API where `--url` names one, else through the files of its installation. */
import type { ListedKey } from '@assay/server/config'
import { AdminClient, type AdminChoice } from './adminClient.ts'
import { type ConfigChoice, installedConfig } from './options.ts'

export type NewKey = { readonly name: string; readonly consumer: string; readonly scopes: readonly string[] }
export type Issued = { readonly key: string; readonly keyId: string }

export type Keyring = {
  issue(wanted: NewKey): Promise<Issued>
  list(): Promise<readonly ListedKey[]>
  roll(keyId: string): Promise<Issued>
  revoke(keyId: string): Promise<void>
}

export const keyringOf = (choice: ConfigChoice & AdminChoice): Promise<Keyring> =>
  choice.url === undefined
    ? installedKeyring(choice)
    : Promise.resolve(remoteKeyring(new AdminClient(choice.url, choice.key)))

async function installedKeyring(choice: ConfigChoice): Promise<Keyring> {
  const config = await installedConfig(choice)
  const { issueKeyIn, listKeysIn, revokeKeyIn, rollKeyIn } = await import('@assay/server/config')
  return {
    issue: wanted => issueKeyIn(config, wanted),
    list: () => listKeysIn(config),
    roll: keyId => rollKeyIn(config, keyId),
    revoke: keyId => revokeKeyIn(config, keyId),
  }
}

type RemoteKey = {
  readonly key_id: string
  readonly consumer: string
  readonly name: string
  readonly scopes: ListedKey['scopes']
  readonly created_at_ms: number
  readonly expires_at_ms: number | null
  readonly revoked_at_ms: number | null
}

function remoteKeyring(admin: AdminClient): Keyring {
  const issued = (answer: unknown): Issued => {
    const { key, key_id } = answer as { key: string; key_id: string }
    return { key, keyId: key_id }
  }
  const path = (keyId: string) => `keys/${encodeURIComponent(keyId)}`
  return {
    issue: async ({ name, consumer, scopes }) =>
      issued(await admin.call('POST', 'keys', { name, consumer, scopes })),
    async list() {
      const { keys } = (await admin.call('GET', 'keys')) as { readonly keys: readonly RemoteKey[] }
      return keys.map(listedKey)
    },
    roll: async keyId => issued(await admin.call('POST', `${path(keyId)}/roll`)),
    revoke: async keyId => void (await admin.call('DELETE', path(keyId))),
  }
}

const listedKey = (key: RemoteKey): ListedKey => ({
  keyId: key.key_id,
  consumer: key.consumer,
  name: key.name,
  scopes: key.scopes,
  createdAtMs: key.created_at_ms,
  expiresAtMs: key.expires_at_ms,
  revokedAtMs: key.revoked_at_ms,
})
