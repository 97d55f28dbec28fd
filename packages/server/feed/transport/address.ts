/**
 * The address of an endpoint, split into what is dialled and what must not be seen. Text that comes back
 * from the other side goes through `redact` before it gets into an error: providers echo keys and paths.
 */
import type { Secret } from '../../ops/config.ts'
import { FeedError } from '../feedError.ts'

export type Address = {
  readonly kind: 'http' | 'ws'
  readonly dial: () => string
  /** The user of an HTTP address, who is not in what is dialled: errors of the platform could name it. */
  readonly authorization: string | null
  readonly redact: (text: string) => string
}

/** What is kept of a remote message. */
const TEXT_LIMIT = 200
/** What is looked at of it: an answer may have megabytes of it, and ours is to tell what went wrong. */
const READ_LIMIT = 16 * 1024
/** A scheme as long as any, and no longer: without an end the search would take the square of the text. */
const ANY_URL = /[a-z][a-z0-9+.-]{0,30}:\/\/\S+/gi
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

/** A stray percent sign stands for itself, and so does what is no UTF-8. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'))
  } catch {
    return part
  }
}

/** Longest first, so that no part leaves the rest of a longer one behind; and whatever stands between two signs. */
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
