/**
 * The supported revisions of the protocol. From 2026-07-28 on each request states its revision and its client in
 * `_meta`; in earlier ones a client does so once, in `initialize`, and we keep nothing of it.
 */
import { CODE, isRecord, type Message, type Params, ProtocolError } from './message.ts'

export const STATELESS = '2026-07-28'
/** Revisions that begin with `initialize`, newest first. For tools they are the same on the wire. */
export const HANDSHAKE: readonly string[] = ['2025-11-25', '2025-06-18']

export type Revision = 'stateless' | 'handshake'

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
const CLIENT_KEY = 'io.modelcontextprotocol/clientInfo'
const ABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
export const SERVER_KEY = 'io.modelcontextprotocol/serverInfo'

/** Revisions are dates, so they sort as text. */
export const isStateless = (version: string): boolean => version >= STATELESS

/** The version a message claims for itself; undefined without a claim. */
export function claimOf(params: Params): unknown {
  const meta = params['_meta']
  return isRecord(meta) ? meta[VERSION_KEY] : undefined
}

/** Uses the message alone, because stdio has nothing else. */
export function revisionOf(message: Exclude<Message, { kind: 'response' }>): Revision {
  const claim = claimOf(message.params)
  if (claim === undefined) return 'handshake'
  assertEnvelope(message.params)
  assertServed(claim as string)
  return 'stateless'
}

/** Checks what each request of the newer revision must state about itself. */
export function assertEnvelope(params: Params): void {
  const meta = params['_meta']
  if (!isRecord(meta)) throw envelopeFault('_meta')
  if (typeof meta[VERSION_KEY] !== 'string') throw envelopeFault(VERSION_KEY)
  if (!isRecord(meta[ABILITIES_KEY])) throw envelopeFault(ABILITIES_KEY)
  const client = meta[CLIENT_KEY]
  if (client === undefined) return
  if (!isRecord(client) || typeof client['name'] !== 'string' || typeof client['version'] !== 'string')
    throw envelopeFault(CLIENT_KEY)
}

const envelopeFault = (key: string): ProtocolError =>
  new ProtocolError(
    CODE.params,
    `Invalid params: ${key} is missing or malformed in the _meta of the request`,
    {
      envelope: { key },
    },
  )

export function assertServed(version: string): void {
  if (version === STATELESS) return
  throw new ProtocolError(CODE.version, 'Unsupported protocol version', {
    supported: [STATELESS],
    requested: version.slice(0, 64),
  })
}
