/**
 * The address of an endpoint, split into the part to dial and the parts to keep secret. Text from the endpoint goes
 * through `redact` before it enters an error, because providers echo keys and paths.
 */
import type { Secret } from '../../ops/secret.ts'
import { FeedError } from '../feedError.ts'

export type Address = {
  readonly kind: 'http' | 'ws'
  readonly dial: () => string
  /** Credentials of an HTTP address. They are removed from the dialled URL because platform errors could print it. */
  readonly authorization: string | null
  readonly redact: (text: string) => string
}

/** Characters kept of a remote message. */
const TEXT_LIMIT = 200
/** Characters examined of a remote message: an answer may contain megabytes, and errors must stay short. */
const READ_LIMIT = 16 * 1024
/** Bounded by the longest real scheme: without a bound the search would take time quadratic in the text. */
const ANY_URL = /[a-z][a-z0-9+.-]{0,30}:\/\/\S+/gi
/** Shorter parts of a URL ("rpc", "v2", "com") are no secrets, and occur as ordinary words. */
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

/** Leaves a stray percent sign and invalid UTF-8 as they are. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'))
  } catch {
    return part
  }
}

/**
 * Longest first, so that redacting a part never leaves the rest of a longer one; includes every part between two
 * separators.
 */
function partsOf(url: URL): readonly string[] {
  const parts = [url.host, url.hostname, url.username, url.password, ...url.pathname.split('/')]
  const values = [...url.searchParams.values(), url.hash.slice(1)]
  return [...parts, ...values, ...url.href.split(/[/?#&=:;,@+]/)]
    .flatMap(part => [part, decoded(part)])
    .filter(part => part.length >= SECRET_LENGTH)
    .sort((a, b) => b.length - a.length)
}

function redact(text: string, secrets: readonly string[]): string {
  let safe = text.slice(0, READ_LIMIT).replaceAll(ANY_URL, '[redacted]')
  for (const secret of secrets) safe = safe.replaceAll(secret, '[redacted]')
  // oxlint-disable-next-line no-control-regex -- remote text ends up in logs and terminals
  return safe.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, TEXT_LIMIT)
}
