/**
 * Secrets that every test service has, and a check of everything it emits: bytes its HTTP server sends, lines it logs, what
 * a child process prints. What may never appear is an endpoint's secret, a key outside the response that created it, and a
 * session's id but in the cookie that sets it. `expectNoLeaks` fails with what was found.
 */
import { Server as HttpServer } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** Stands in the URL of every endpoint of a test service, as an operator's own key would. */
export const CANARY = 'canary7f3a9c51e2d84b06'

const KEY = /assay_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/g
/** The text before the key in the one response that shows it. */
const ISSUED = '"key":"'
const COOKIE = /(?:__Host-)?assay_session=([0-9A-Za-z]{43})/g
const SHOWN = 120

const leaks: string[] = []
const sessions = new Set<string>()

/**
 * Whether bytes can hold a secret at all: each kind of them has one of these words in it. Few answers do, and the others
 * are not worth decoding: a test of the stream sends gigabytes.
 */
const isSuspect = (bytes: Buffer): boolean =>
  bytes.includes(CANARY) || bytes.includes('assay_') || [...sessions].some(id => bytes.includes(id))

/** What is wrong with a text of the service, if anything. */
export function scan(where: string, text: string): void {
  for (const [, id] of text.matchAll(COOKIE)) sessions.add(id as string)
  const note = (what: string, at: number) =>
    leaks.push(`${where} reveals ${what}: …${text.slice(Math.max(0, at - SHOWN), at + SHOWN)}…`)
  if (text.includes(CANARY)) note('the secret of an endpoint', text.indexOf(CANARY))
  for (const { index } of text.matchAll(KEY))
    if (where === 'a log' || !text.slice(0, index).endsWith(ISSUED)) note('a key', index)
  for (const id of sessions) {
    const at = text.indexOf(id)
    if (at >= 0 && (where === 'a log' || !text.slice(0, at).endsWith('assay_session='))) note('a session', at)
  }
}

function scanAnswer(chunk: string | Uint8Array): void {
  if (typeof chunk === 'string') return scan('a response', chunk)
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  if (isSuspect(bytes)) scan('a response', bytes.toString())
}

/** Fails with everything found since it was last asked. */
export function expectNoLeaks(): void {
  const found = leaks.splice(0)
  if (found.length > 0) throw new Error(found.join('\n'))
}

/** From here on whatever an HTTP server of this process sends passes here, streams included. */
export function watchServers(): void {
  // Those of a test file that ran in this process before.
  sessions.clear()
  Socket.prototype.write = function (this: Socket & { server?: unknown }, ...args: unknown[]): boolean {
    const [chunk] = args as [string | Uint8Array]
    if (this.server instanceof HttpServer) scanAnswer(chunk)
    return Duplex.prototype.write.apply(this, args as Parameters<Duplex['write']>)
  }
}
