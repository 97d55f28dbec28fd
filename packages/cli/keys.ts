/** `assay keys …`: through the running service, or in the store of the configuration when it is stopped. */
import { issueKeyIn, type ListedKey, listKeysIn, revokeKeyIn, rollKeyIn } from '@assay/server/config'
import { configOf } from './configOf.ts'

type Options = {
  readonly config?: string
  readonly name: string
  readonly scopes: string
  readonly consumer?: string
  readonly json?: boolean
}

export async function issueKey(options: Options): Promise<void> {
  const scopes = options.scopes.split(',').map(scope => scope.trim())
  const { key, keyId } = await issueKeyIn(configOf(options), {
    name: options.name,
    consumer: options.consumer ?? options.name,
    scopes,
  })
  print(options, { key_id: keyId, key, name: options.name, scopes }, shownOnce(key))
}

type Choice = { readonly config?: string; readonly json?: boolean }

export async function listKeys(options: Choice): Promise<void> {
  const keys = await listKeysIn(configOf(options))
  print(
    options,
    { keys: keys.map(keyText) },
    keys.length === 0 ? 'There are no keys; `assay keys issue` makes one.' : keys.map(lineOf).join('\n'),
  )
}

export async function rollKey(keyId: string, options: Choice): Promise<void> {
  const { key, keyId: newId } = await rollKeyIn(configOf(options), keyId)
  print(options, { key_id: newId, key, replaces: keyId }, `${shownOnce(key)} ${keyId} has ended.`)
}

export async function revokeKey(keyId: string, options: Choice): Promise<void> {
  await revokeKeyIn(configOf(options), keyId)
  print(
    options,
    { key_id: keyId, revoked: true },
    `${keyId} has ended; its sessions and streams end within 5 s.`,
  )
}

const shownOnce = (key: string): string => `${key}\n\nThis is the only time the key is shown.`

function print({ json }: { readonly json?: boolean }, value: object, text: string): void {
  console.log(json === true ? JSON.stringify(value) : text)
}

const keyText = (key: ListedKey): object => ({
  key_id: key.keyId,
  consumer: key.consumer,
  name: key.name,
  scopes: key.scopes,
  created_at_ms: key.createdAtMs,
  expires_at_ms: key.expiresAtMs,
  revoked_at_ms: key.revokedAtMs,
})

function lineOf(key: ListedKey): string {
  const end =
    key.revokedAtMs !== null
      ? `revoked ${timeOf(key.revokedAtMs)}`
      : key.expiresAtMs !== null
        ? `until ${timeOf(key.expiresAtMs)}`
        : 'live'
  return `${key.keyId}  ${key.consumer}  ${key.name}  ${key.scopes.join(',')}  since ${timeOf(key.createdAtMs)}  ${end}`
}

const timeOf = (ms: number): string => new Date(ms).toISOString()
