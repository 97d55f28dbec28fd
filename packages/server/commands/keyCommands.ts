/**
 * Key commands of the command line: in the running service over its control socket, or in the store of a stopped one.
 */
import { type Access, isScope, type Scope, SCOPES } from '../access/access.ts'
import type { KeyRow } from '../store/port.ts'

const COMMANDS = ['keys.issue', 'keys.list', 'keys.roll', 'keys.revoke'] as const
export type KeyCommand = (typeof COMMANDS)[number]

export const isKeyCommand = (text: unknown): text is KeyCommand =>
  (COMMANDS as readonly unknown[]).includes(text)

/** A key in a list: without its secret or the hash of it. */
export type ListedKey = Omit<KeyRow, 'secretHash'>

export async function runKeyCommand(
  access: Access,
  command: KeyCommand,
  request: Readonly<Record<string, unknown>>,
): Promise<object> {
  switch (command) {
    case 'keys.issue': {
      const { name, consumer, scopes } = request as {
        readonly name: string
        readonly consumer: string
        readonly scopes: readonly string[]
      }
      const { key, keyId } = await access.issue(name, consumer, scopesIn(scopes), null)
      return { key, keyId }
    }
    case 'keys.list':
      return { keys: (await access.list()).map(({ secretHash: _hash, ...key }): ListedKey => key) }
    case 'keys.roll': {
      const rolled = await access.roll(keyIdIn(request))
      if (rolled === null) throw noKey(request)
      return { key: rolled.key, keyId: rolled.keyId }
    }
    case 'keys.revoke': {
      if (!(await access.revoke(keyIdIn(request)))) throw noKey(request)
      return { keyId: keyIdIn(request) }
    }
  }
}

export function scopesIn(texts: readonly string[]): Scope[] {
  const unknown = texts.filter(text => !isScope(text))
  if (unknown.length > 0 || texts.length === 0)
    throw new Error(`scopes are ${JSON.stringify(texts.join(','))}; expected some of ${SCOPES.join(', ')}`)
  return texts.filter(isScope)
}

const keyIdIn = ({ keyId }: Readonly<Record<string, unknown>>): string =>
  typeof keyId === 'string' ? keyId : ''
const noKey = (request: Readonly<Record<string, unknown>>): Error =>
  new Error(`there is no live key ${JSON.stringify(keyIdIn(request))}; \`assay keys list\` shows them`)
