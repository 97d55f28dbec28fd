/** `assay keys …`: through the running service, or in the store of the configuration when it is stopped. */
import type { ListedKey } from '@assay/server/config'
import { Command, Option } from 'commander'
import { keyringOf, type KeyringChoice } from '../keyring.ts'
import { withInstalled } from '../options.ts'
import { paint } from '../terminal/paint.ts'
import { print } from '../terminal/print.ts'
import { table } from '../terminal/table.ts'
import { time } from '../terminal/words.ts'

const KEY_ID = 'the eight characters after assay_'

export function keysCommand(): Command {
  const keys = new Command('keys').description('manage API keys: issue, list, roll, revoke')
  withKeyring(keys.command('issue'))
    .description('issue a key and print it once')
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption('--scopes <scopes>', 'read, stream, admin; separated by commas')
    .option('--consumer <consumer>', 'the owner of the key; keys of one consumer share a quota')
    .action(issueKey)
  withKeyring(keys.command('list')).description('list all keys, without their secrets').action(listKeys)
  withKeyring(keys.command('roll'))
    .description('replace a key: the old one stops working at once, the new one is printed once')
    .argument('<key_id>', KEY_ID)
    .action(rollKey)
  withKeyring(keys.command('revoke'))
    .description('revoke a key and end its sessions and streams')
    .argument('<key_id>', KEY_ID)
    .action(revokeKey)
  return keys
}

/** Where the keys are: in the files of an installation, or in a running service. */
const withKeyring = (command: Command): Command =>
  withInstalled(command)
    .option('--url <url>', 'a running service, instead of a local configuration; needs an admin key')
    .addOption(new Option('--key <key>', 'an admin key, with --url').env('ASSAY_KEY'))

type Choice = KeyringChoice & { readonly json?: boolean }
type NewKeyChoice = Choice & { readonly name: string; readonly scopes: string; readonly consumer?: string }

async function issueKey(options: NewKeyChoice): Promise<void> {
  const scopes = options.scopes.split(',').map(scope => scope.trim())
  const keyring = await keyringOf(options)
  const { key, keyId } = await keyring.issue({
    name: options.name,
    consumer: options.consumer ?? options.name,
    scopes,
  })
  print(options, { key_id: keyId, key, name: options.name, scopes }, () => shownOnce(key))
}

async function listKeys(options: Choice): Promise<void> {
  const keys = await (await keyringOf(options)).list()
  print(options, { keys: keys.map(keyText) }, () =>
    keys.length === 0 ? 'There are no keys; `assay keys issue` creates one.' : keyTable(keys),
  )
}

async function rollKey(keyId: string, options: Choice): Promise<void> {
  const { key, keyId: newId } = await (await keyringOf(options)).roll(keyId)
  print(
    options,
    { key_id: newId, key, replaces: keyId },
    () => `${shownOnce(key)} ${keyId} has been revoked.`,
  )
}

async function revokeKey(keyId: string, options: Choice): Promise<void> {
  await (await keyringOf(options)).revoke(keyId)
  print(
    options,
    { key_id: keyId, revoked: true },
    () => `${keyId} has been revoked; its sessions and streams end within 5 s.`,
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
