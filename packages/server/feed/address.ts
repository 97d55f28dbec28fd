/**
 * The address of an endpoint, split into what is dialled and what must not be seen. Text that comes back
 * from the other side goes through `redact` before it gets into an error: providers echo keys and paths.
 */
import type { Secret } from '../ops/config.ts'
import { FeedError } from './feedError.ts'

export type Address = {
  readonly kind: 'http' | 'ws'
  readonly dial: () => string
  /** `fetch` refuses a URL with a user in it, and names the URL when it does. */
  readonly authorization: string | null
  readonly redact: (text: string) => string
}

/** What is kept of a remote message. */
const TEXT_LIMIT = 200
/** Shorter parts of a URL ("rpc", "v2", "com") are no secrets, and words of other sentences. */
const SECRET_LENGTH = 8

export function parseAddress(name: string, url: Secret): Address {
  const parsed = URL.parse(url.reveal())
  const kind = parsed === null ? null : kindOf(parsed.protocol)
  if (parsed === null || kind === null)
    throw new FeedError('ENDPOINT_ADDRESS', name, 'its address is not an http, https, ws or wss URL')
  const secrets = partsOf(parsed)
  const authorization = kind === 'http' ? basicOf(parsed) : null
  parsed.hash = ''
  if (kind === 'http') {
    parsed.username = ''
    parsed.password = ''
  }
  return { kind, dial: () => parsed.href, authorization, redact: text => redact(text, secrets) }
}

function kindOf(protocol: string): 'http' | 'ws' | null {
  if (protocol === 'http:' || protocol === 'https:') return 'http'
  return protocol === 'ws:' || protocol === 'wss:' ? 'ws' : null
}

function basicOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`
}

/** A stray percent sign stands for itself. */
function decoded(part: string): string {
  return decodeURIComponent(part.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'))
}

/** Longest first, so that no part leaves the rest of a longer one behind. */
function partsOf(url: URL): readonly string[] {
  const parts = [url.host, url.hostname, url.username, url.password, ...url.pathname.split('/')]
  const values = [...url.searchParams.values(), url.hash.slice(1)]
  return [...parts, ...values]
    .flatMap(part => [part, decoded(part)])
    .filter(part => part.length >= SECRET_LENGTH)
    .sort((a, b) => b.length - a.length)
}

function redact(text: string, secrets: readonly string[]): string {
  let safe = text.replaceAll(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, '[redacted]')
  for (const secret of secrets) safe = safe.replaceAll(secret, '[redacted]')
  // oxlint-disable-next-line no-control-regex -- remote text ends up in logs and terminals
  return safe.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, TEXT_LIMIT)
}
