/**
 * The headers of a POST that repeat parts of its body. Proxies that do not read bodies rely on them, so they must
 * match: otherwise a proxy would admit one request and the service would run another.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { CODE, type Message, ProtocolError } from './message.ts'
import { assertEnvelope, assertServed, claimOf, HANDSHAKE, isStateless, type Revision } from './revision.ts'

const VERSION = 'mcp-protocol-version'
const METHOD = 'mcp-method'
const NAME = 'mcp-name'

export function agreedRevision(
  headers: IncomingHttpHeaders,
  message: Exclude<Message, { kind: 'response' }>,
): Revision {
  const version = one(headers[VERSION])
  const claim = claimOf(message.params)
  if (claim === undefined) {
    if (version === null) return 'handshake'
    if (isStateless(version)) {
      // A notification need not carry an envelope.
      if (message.kind === 'request') assertEnvelope(message.params)
      assertServed(version)
      return 'stateless'
    }
    if (!HANDSHAKE.includes(version) && version !== OLDEST)
      throw new ProtocolError(
        BAD_VERSION,
        `Bad request: ${VERSION} is ${JSON.stringify(version.slice(0, 64))}; expected ${HANDSHAKE.join(' or ')}`,
      )
    return 'handshake'
  }
  assertEnvelope(message.params)
  if (version !== null && version !== claim) throw disagreement(VERSION, 'the version in _meta')
  assertServed(claim as string)
  if (message.kind === 'request') assertNamed(headers, message)
  return 'stateless'
}

/** The version of clients that predate the header. */
const OLDEST = '2025-03-26'
const BAD_VERSION = -32_000

function assertNamed(headers: IncomingHttpHeaders, message: Message & { kind: 'request' }): void {
  if (one(headers[VERSION]) === null) throw disagreement(VERSION, 'it is missing')
  if (one(headers[METHOD]) !== message.method) throw disagreement(METHOD, 'the method of the body')
  const { name } = message.params
  if (message.method !== 'tools/call' || typeof name !== 'string') return
  const header = one(headers[NAME])
  if (header === null || decoded(header) !== name)
    throw disagreement(NAME, 'the name of the tool in the body')
}

const disagreement = (header: string, what: string): ProtocolError =>
  new ProtocolError(CODE.header, `Bad request: the header ${header} does not agree with the body: ${what}`)

const one = (value: string | string[] | undefined): string | null =>
  typeof value === 'string' ? value.trim() : null

/** Names that a header cannot contain arrive as marked base64. */
function decoded(text: string): string | null {
  const inner = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text)?.[1]
  if (inner === undefined) return text
  const bytes = Buffer.from(inner, 'base64')
  return bytes.toString('base64') === inner ? bytes.toString('utf8') : null
}
