/**
 * Accepts WebSocket streams: the upgrade is authenticated before it happens, then exactly one subscribe frame is
 * expected. A refusal before the upgrade is plain HTTP with an empty body; after it, a close code with one line.
 */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type RawData, type ServerOptions, type WebSocket, WebSocketServer } from 'ws'
import type { Access, Principal } from '../access/access.ts'
import { holdsKey } from '../access/apiKey.ts'
import { hasTwoCredentials, isOwnOrigin, presentedIn } from '../access/credentials.ts'
import { policyText, restText } from '../access/quotaText.ts'
import type { ClientAddresses } from '../access/clientAddress.ts'
import { DEFAULT_LIMITS } from '../access/limits.ts'
import type { Limiter } from '../access/rateLimit.ts'
import type { FailureThrottle } from '../access/failureThrottle.ts'
import type { Clock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import { requestId } from '../ops/requestId.ts'
import type { LogStore } from '../store/port.ts'
import { StoreError } from '../store/storeError.ts'
import { Batches } from '../stream/batches.ts'
import { WEB_SOCKET } from '../stream/frames.ts'
import { parseSubscribe, type Subscription } from '../stream/filter.ts'
import type { Hub } from '../stream/hub.ts'
import type { Roster } from '../stream/roster.ts'
import { restartNotice, REVALIDATE_MS, startOf } from '../stream/streamStart.ts'
import { Subscriber, type SubscriberContext } from '../stream/subscriber.ts'
import { refuse, retryAfter } from './refusal.ts'
import { SocketSink } from './socketSink.ts'

export type GateOptions = {
  readonly access: Access
  readonly limit: Limiter
  readonly failures: FailureThrottle
  readonly addresses: ClientAddresses
  readonly hub: Hub
  readonly store: LogStore
  readonly clock: Clock
  readonly cursorSecret: Uint8Array
  readonly chainIds: ReadonlySet<number>
  /** Shared with the event stream, because limits apply per consumer over both. */
  readonly roster: Roster
  readonly publicOrigin: string | null
  /** Admits a socket whose credential is valid, if there is room. */
  readonly door: { admit(socket: Socket): boolean }
  readonly log: Log
  readonly pingMs?: number
  readonly subscribeMs?: number
  readonly slowMs?: number
  readonly maxBuffered?: number
}

const PATH = '/v1/stream'
const PING_MS = 30_000
const SUBSCRIBE_MS = 5000
const MAX_INBOUND = 64 * 1024
/** RFC 6455: a control frame has 125 bytes, two of which are the code. */
const MAX_REASON = 123
/** Limit of pings and pongs between two of our own pings. */
const MAX_CONTROL_FRAMES = 120
/** A peer that received the reason is disconnected after this long. */
const CLOSE_MS = 5000

type Entry = {
  readonly ws: WebSocket
  /** The socket that `ws` writes to; our own complete frames are written to it directly. */
  readonly socket: Duplex
  readonly principal: Principal
  subscriber: Subscriber | null
  isAlive: boolean
  frames: number
}

export class StreamGate {
  readonly #options: GateOptions
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_INBOUND,
    perMessageDeflate: false,
    // Newer than the types of `ws`.
    closeTimeout: CLOSE_MS,
  } as ServerOptions)
  /** Shared by all subscribers, because memory per subscriber matters. */
  readonly #context: SubscriberContext
  readonly #open = new Set<Entry>()
  readonly #timers: NodeJS.Timeout[] = []
  /** Response headers of the handshakes being accepted. */
  readonly #lines = new WeakMap<IncomingMessage, readonly string[]>()

  constructor(server: Server, options: GateOptions) {
    this.#options = options
    this.#context = { ...options, batches: new Batches(WEB_SOCKET) }
    server.on('upgrade', (request, socket, head) => {
      const lines = [`X-Request-Id: ${requestId()}`]
      this.#upgrade(request, socket, head, lines).catch((failure: unknown) =>
        this.#failed(socket, failure, lines),
      )
    })
    this.#server.on('headers', (headers, request) => headers.push(...(this.#lines.get(request) ?? [])))
    this.#timers.push(
      setInterval(() => this.#ping(), options.pingMs ?? PING_MS),
      setInterval(() => this.#revalidate(), REVALIDATE_MS),
    )
    for (const timer of this.#timers) timer.unref()
  }

  get connections(): number {
    return this.#open.size
  }

  /** Planned restart: every client gets a retry time, then no new connections are accepted. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    for (const entry of this.#open) end(entry, 1012, restartNotice())
    this.#server.close()
  }

  /** `lines` are headers of any answer, completed as the request is processed. */
  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, lines: string[]): Promise<void> {
    socket.on('error', () => socket.destroy())
    const url = URL.parse(request.url ?? '/', 'http://stream')
    if (url?.pathname !== PATH) return refuse(socket, 404, lines)
    const principal = await this.#authenticate(request, socket, lines)
    if (principal === null) return
    const { limit, publicOrigin, roster, door } = this.#options
    const quota = principal.limits ?? limit.quota
    const verdict = await limit.spend(principal.consumer, 1, quota)
    lines.push(`RateLimit-Policy: ${policyText(quota)}`, `RateLimit: ${restText(verdict)}`)
    if (!verdict.allowed) return refuse(socket, 429, [...lines, retryAfter(verdict.waitMs)])
    if (!door.admit(request.socket)) return refuse(socket, 503, [...lines, retryAfter(1000)])
    if (principal.session !== null && !isOwnOrigin(request, publicOrigin)) return refuse(socket, 403, lines)
    if (!principal.scopes.includes('stream')) return refuse(socket, 403, lines)
    const { streamConnections } = principal.limits ?? DEFAULT_LIMITS
    const hasRoom = await roster.hasRoom(principal.consumer, streamConnections)
    if (!hasRoom || roster.countOf(principal.consumer) >= streamConnections)
      return refuse(socket, 429, [...lines, retryAfter(1000)])
    // The subscribe frame contains the filter: the URL takes no parameters.
    if (url.search !== '') return refuse(socket, 400, lines)
    const herdMs = roster.admit()
    if (herdMs !== null) return refuse(socket, 503, [...lines, retryAfter(herdMs)])
    this.#lines.set(request, lines)
    this.#server.handleUpgrade(request, socket, head, ws => this.#accept(ws, socket, principal))
  }

  /** Null when it was refused. */
  async #authenticate(request: IncomingMessage, socket: Duplex, lines: string[]): Promise<Principal | null> {
    const { access, failures, addresses, publicOrigin } = this.#options
    const refused = (status: number, more: readonly string[] = []) => {
      refuse(socket, status, [...lines, ...more])
      return null
    }
    if (hasTwoCredentials(request)) return refused(400)
    const presented = presentedIn(request.headers, publicOrigin)
    const isKeyInUrl = holdsKey(request.url ?? '')
    if (presented.bearer === null && presented.cookie === null && !isKeyInUrl)
      return refused(401, ['WWW-Authenticate: Bearer'])
    const principal = isKeyInUrl ? null : await access.authenticate(presented)
    if (principal !== null) return principal
    const waitMs = failures.fail(addresses.of(request).address)
    return waitMs === null ? refused(401, ['WWW-Authenticate: Bearer']) : refused(429, [retryAfter(waitMs)])
  }

  /** A client may retry when the database is busy or down; any other failure is logged as ours. */
  #failed(socket: Duplex, failure: unknown, lines: readonly string[]): void {
    const isPassing = failure instanceof StoreError && failure.retryable
    const error = failure instanceof Error ? failure.message : String(failure)
    this.#options.log[isPassing ? 'warn' : 'error']('a stream could not be opened', { error })
    if (isPassing) refuse(socket, 503, [...lines, retryAfter(0)])
    else refuse(socket, 500, lines)
  }

  #accept(ws: WebSocket, socket: Duplex, principal: Principal): void {
    const entry: Entry = { ws, socket, principal, subscriber: null, isAlive: true, frames: 0 }
    const leave = this.#options.roster.enter(principal.consumer)
    this.#open.add(entry)
    let hasSubscribed = false
    const giveUp = () => {
      if (!hasSubscribed) ws.close(1008, 'no subscribe frame within 5 s')
    }
    // After a busy period timers run before sockets, so read first what has arrived meanwhile.
    const patience = setTimeout(() => setImmediate(giveUp), this.#options.subscribeMs ?? SUBSCRIBE_MS)
    ws.on('close', () => {
      clearTimeout(patience)
      entry.subscriber?.stop()
      this.#open.delete(entry)
      leave()
    })
    // A malformed frame: `ws` has sent its close code and ends the socket itself.
    ws.on('error', () => entry.subscriber?.stop())
    ws.on('ping', () => this.#count(entry))
    ws.on('pong', () => {
      entry.isAlive = true
      this.#count(entry)
    })
    ws.on('message', (data, isBinary) => {
      if (hasSubscribed) return end(entry, 1008, 'only one subscribe frame per connection')
      if (isBinary) return ws.close(1008, 'the subscribe frame is text')
      hasSubscribed = true
      clearTimeout(patience)
      const subscription = parseSubscribe(textOf(data), this.#options.chainIds)
      if ('fault' in subscription) return ws.close(1008, reasonOf(subscription.fault))
      this.#subscribe(entry, subscription).catch(() => ws.close(1011, 'the log could not be read'))
    })
  }

  /** Pings and pongs are messages too, and must not keep the server busy. */
  #count(entry: Entry): void {
    entry.frames += 1
    if (entry.frames > MAX_CONTROL_FRAMES) end(entry, 1008, 'too many pings')
  }

  async #subscribe(entry: Entry, subscription: Subscription): Promise<void> {
    const { ws } = entry
    const start = await startOf(this.#options, subscription)
    // The client may have left, or sent another frame, while its cursor was being checked.
    if (ws.readyState !== ws.OPEN) return
    const sink = new SocketSink(ws, entry.socket, this.#options.clock)
    if (start.kind === 'RESET') sink.reset(start.reason)
    else if (start.kind === 'BEHIND') ws.close(1013, `last_sequence=${start.sequence}`)
    else {
      entry.subscriber = new Subscriber(sink, subscription, start.after, start.isReplaying, this.#context)
      this.#options.roster.note(entry.subscriber)
    }
  }

  #ping(): void {
    for (const entry of this.#open) {
      if (!entry.isAlive) {
        entry.ws.terminate()
        continue
      }
      entry.isAlive = false
      entry.frames = 0
      entry.ws.ping()
    }
  }

  /** Checks each credential once, however many connections it has. */
  #revalidate(): void {
    const asked = new Map<string, Promise<boolean>>()
    for (const entry of this.#open) {
      const { keyId, session } = entry.principal
      const credential = session === null ? keyId : `${keyId} ${Buffer.from(session.idHash).toString('hex')}`
      const isValid = asked.get(credential) ?? this.#options.access.isValid(entry.principal)
      asked.set(credential, isValid)
      isValid
        .then(valid => {
          if (!valid) end(entry, 1008, 'the credential was revoked or has expired')
        })
        .catch(() => undefined)
    }
  }
}

/** A text frame as `ws` delivers it. */
const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString()

function end({ ws, subscriber }: Entry, code: number, reason: string): void {
  if (subscriber === null) ws.close(code, reason)
  else subscriber.close(code, reason)
}

/** A close reason holds 123 bytes; a fault may quote characters of three bytes each. */
function reasonOf(fault: string): string {
  const bytes = Buffer.from(fault)
  // A truncated character would not be valid UTF-8, so it is dropped.
  return bytes.length <= MAX_REASON ? fault : bytes.toString('utf8', 0, MAX_REASON).replace(/\uFFFD+$/, '')
}
