/** The keys of a service: through its API if `--url` names one, otherwise through the files of its installation. */
import type { ListedKey } from '@assay/server/config'
import type { Client, KeyList, KeyRequest } from '@assay/sdk'
import { EXIT, Failure } from './exit.ts'
import { clientOf, type ConfigChoice, installedConfig } from './options.ts'

export type KeyringChoice = ConfigChoice & { readonly url?: string; readonly key?: string }

export type NewKey = { readonly name: string; readonly consumer: string; readonly scopes: readonly string[] }
export type Issued = { readonly key: string; readonly keyId: string }

export type Keyring = {
  issue(wanted: NewKey): Promise<Issued>
  list(): Promise<readonly ListedKey[]>
  roll(keyId: string): Promise<Issued>
  revoke(keyId: string): Promise<void>
}

export async function keyringOf(choice: KeyringChoice): Promise<Keyring> {
  const { url, key } = choice
  if (url === undefined) return installedKeyring(choice)
  if (!URL.canParse(url))
    throw new Failure(`--url ${url} is not an address such as http://127.0.0.1:8080`, EXIT.misused)
  if (key === undefined)
    throw new Failure('--url needs an admin key: give it with --key or ASSAY_KEY', EXIT.misused)
  return remoteKeyring(clientOf({ url, key }))
}

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

function remoteKeyring({ admin }: Client): Keyring {
  const issued = ({ key, key_id }: Awaited<ReturnType<typeof admin.issueKey>>): Issued => ({
    key,
    keyId: key_id,
  })
  return {
    issue: async ({ name, consumer, scopes }) =>
      issued(await admin.issueKey({ name, consumer, scopes: scopes as KeyRequest['scopes'] })),
    list: async () => (await admin.fetchKeys()).keys.map(listedKey),
    roll: async keyId => issued(await admin.rollKey(keyId)),
    revoke: keyId => admin.revokeKey(keyId),
  }
}

const listedKey = (key: KeyList['keys'][number]): ListedKey => ({
  keyId: key.key_id,
  consumer: key.consumer,
  name: key.name,
  scopes: key.scopes,
  createdAtMs: key.created_at_ms,
  expiresAtMs: key.expires_at_ms,
  revokedAtMs: key.revoked_at_ms,
})
