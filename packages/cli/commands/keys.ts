/** `assay keys …`: through the running service, or in the store of the configuration when it is stopped. */
import type { ListedKey } from '@assay/server/config'
import { Command } from 'commander'
import { configOf, withConfig } from '../options.ts'
import { paint } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { table } from '../terminal/table.ts'
import { time } from '../terminal/words.ts'

const server = () => import('@assay/server/config')

const KEY_ID = 'the eight letters after assay_'

export function keysCommand(): Command {
  const keys = new Command('keys').description('API keys: issue, list, roll, revoke')
  withConfig(keys.command('issue'))
    .description('make a key and print it once')
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption('--scopes <scopes>', 'read, stream, admin; separated by commas')
    .option('--consumer <consumer>', 'who the key belongs to; keys of one consumer share a quota')
    .action(issueKey)
  withConfig(keys.command('list')).description('all keys, without their secrets').action(listKeys)
  withConfig(keys.command('roll'))
    .description('another key in the place of this one, which ends at once; printed once')
    .argument('<key_id>', KEY_ID)
    .action(rollKey)
  withConfig(keys.command('revoke'))
    .description('end a key, its sessions and its streams')
    .argument('<key_id>', KEY_ID)
    .action(revokeKey)
  return keys
}

type Options = {
  readonly config?: string
  readonly name: string
  readonly scopes: string
  readonly consumer?: string
  readonly json?: boolean
}

async function issueKey(options: Options): Promise<void> {
  const scopes = options.scopes.split(',').map(scope => scope.trim())
  const { issueKeyIn } = await server()
  const { key, keyId } = await issueKeyIn(await configOf(options), {
    name: options.name,
    consumer: options.consumer ?? options.name,
    scopes,
  })
  print(options, { key_id: keyId, key, name: options.name, scopes }, () => shownOnce(key))
}

type Choice = { readonly config?: string; readonly json?: boolean }

async function listKeys(options: Choice): Promise<void> {
  const { listKeysIn } = await server()
  const keys = await listKeysIn(await configOf(options))
  print(options, { keys: keys.map(keyText) }, () =>
    keys.length === 0 ? 'There are no keys; `assay keys issue` makes one.' : keyTable(keys),
  )
}

async function rollKey(keyId: string, options: Choice): Promise<void> {
  const { rollKeyIn } = await server()
  const { key, keyId: newId } = await rollKeyIn(await configOf(options), keyId)
  print(options, { key_id: newId, key, replaces: keyId }, () => `${shownOnce(key)} ${keyId} has ended.`)
}

async function revokeKey(keyId: string, options: Choice): Promise<void> {
  const { revokeKeyIn } = await server()
  await revokeKeyIn(await configOf(options), keyId)
  print(
    options,
    { key_id: keyId, revoked: true },
    () => `${keyId} has ended; its sessions and streams end within 5 s.`,
  )
}

const shownOnce = (key: string): string => `${key}\n\nThis is the only time the key is shown.`

const keyText = (key: ListedKey): object => ({
  key_id: key.keyId,
  consumer: key.consumer,
  name: key.name,
  scopes: key.scopes,
  created_at_ms: key.createdAtMs,
  expires_at_ms: key.expiresAtMs,
  revoked_at_ms: key.revokedAtMs,
})

const keyTable = (keys: readonly ListedKey[]): string =>
  table(
    ['Key id', 'Consumer', 'Name', 'Scopes', 'Since', 'State'].map(title => ({ title })),
    keys.map(key => [
      key.keyId,
      key.consumer,
      key.name,
      key.scopes.join(','),
      time(key.createdAtMs),
      stateOf(key),
    ]),
  )

function stateOf(key: ListedKey): string {
  if (key.revokedAtMs !== null) return paint('dim', `revoked ${time(key.revokedAtMs)}`)
  return key.expiresAtMs === null ? paint('green', 'live') : `until ${time(key.expiresAtMs)}`
}
