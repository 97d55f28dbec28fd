/**
 * The stream's door: the upgrade is authenticated before it happens, then exactly one subscribe frame is awaited.
 * What is refused before the upgrade is plain HTTP with an empty body; after it, a close code and one line.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Access, Principal } from '../access/access.ts'
import { holdsKey } from '../access/apiKey.ts'
import { presentedIn, isOwnOrigin } from '../access/presented.ts'
import type { ClientAddresses } from '../access/clientAddress.ts'
import { DEFAULT_LIMITS } from '../access/limits.ts'
import type { RateLimit } from '../access/rateLimit.ts'
import type { FailureThrottle } from '../access/failureThrottle.ts'
import type { Clock } from '../ops/clock.ts'
import type { LogStore, Sequence } from '../store/port.ts'
import { checkCursor, openCursor } from '../stream/cursor.ts'
import { parseSubscribe, type Subscription } from '../stream/filter.ts'
import type { Hub } from '../stream/hub.ts'
import { Connection } from './connection.ts'

export type GateOptions = {
  readonly access: Access
  readonly limit: RateLimit
  readonly failures: FailureThrottle
  readonly addresses: ClientAddresses
  readonly hub: Hub
  readonly store: LogStore
  readonly clock: Clock
  readonly cursorSecret: Uint8Array
  readonly chainIds: ReadonlySet<number>
  readonly publicOrigin: string | null
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
/** A node behind the log waits this long for it, then asks the client to come back. */
const CATCH_UP_MS = 5000
/** How often open streams are asked whether their key still lives. */
const REVALIDATE_MS = 2500

export class StreamGate {
  readonly #options: GateOptions
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_INBOUND,
    perMessageDeflate: false,
  })
  readonly #open = new Map<
    WebSocket,
    { readonly principal: Principal; connection: Connection | null; isAlive: boolean }
  >()
  readonly #timers: NodeJS.Timeout[] = []

  constructor(server: Server, options: GateOptions) {
    this.#options = options
    server.on('upgrade', (request, socket, head) => {
      this.#upgrade(request, socket, head).catch(() => refuse(socket, 500))
    })
    this.#timers.push(
      setInterval(() => this.#ping(), options.pingMs ?? PING_MS),
      setInterval(() => this.#revalidate(), REVALIDATE_MS),
    )
    for (const timer of this.#timers) timer.unref()
  }

  get connections(): number {
    return this.#open.size
  }

  /** How far the slowest of all replays has read; null when nobody replays. */
  replayed(): Sequence | null {
    const positions = [...this.#open.values()].flatMap(({ connection }) => connection?.replayed ?? [])
    return positions.length === 0 ? null : Math.min(...positions)
  }

  /** Planned restart: everyone is told to come back, then the door closes. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    for (const [socket, { connection }] of this.#open) {
      if (connection === null) socket.close(1012, 'restarting')
      else connection.close(1012, 'restarting')
    }
    this.#server.close()
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const url = new URL(request.url ?? '/', 'http://stream')
    if (url.pathname !== PATH) return refuse(socket, 404)
    const presented = presentedIn(request.headers)
    const isKeyInUrl = holdsKey(request.url ?? '')
    if (presented.bearer === null && presented.cookie === null && !isKeyInUrl)
      return refuse(socket, 401, ['WWW-Authenticate: Bearer'])
    const principal = isKeyInUrl ? null : await this.#options.access.authenticate(presented)
    if (principal === null) {
      const waitMs = this.#options.failures.fail(this.#options.addresses.of(request).address)
      return waitMs === null
        ? refuse(socket, 401, ['WWW-Authenticate: Bearer'])
        : refuse(socket, 429, [retryAfter(waitMs)])
    }
    if (principal.session !== null && !isOwnOrigin(request.headers.origin, this.#options.publicOrigin))
      return refuse(socket, 403)
    if (!principal.scopes.includes('stream')) return refuse(socket, 403)
    const verdict = this.#options.limit.take(principal.consumer, 1, principal.limits ?? undefined)
    if (!verdict.allowed) return refuse(socket, 429, [retryAfter(verdict.waitMs)])
    const own = [...this.#open.values()].filter(each => each.principal.consumer === principal.consumer)
    if (own.length >= (principal.limits ?? DEFAULT_LIMITS).streamConnections)
      return refuse(socket, 429, [retryAfter(1000)])
    // What is wanted is said in the subscribe frame: the URL takes no parameters.
    if (url.search !== '') return refuse(socket, 400)
    this.#server.handleUpgrade(request, socket, head, accepted => this.#accept(accepted, principal))
  }

  #accept(socket: WebSocket, principal: Principal): void {
    const entry: { readonly principal: Principal; connection: Connection | null; isAlive: boolean } = {
      principal,
      connection: null,
      isAlive: true,
    }
    this.#open.set(socket, entry)
    const patience = setTimeout(
      () => socket.close(1008, 'no subscribe frame within 5 s'),
      this.#options.subscribeMs ?? SUBSCRIBE_MS,
    )
    let hasSubscribed = false
    socket.on('close', () => {
      clearTimeout(patience)
      this.#open.delete(socket)
    })
    socket.on('error', () => socket.terminate())
    socket.on('pong', () => {
      entry.isAlive = true
    })
    socket.on('message', (data, isBinary) => {
      if (hasSubscribed) return end(socket, entry.connection, 1008, 'only one subscribe frame per connection')
      if (isBinary) return socket.close(1008, 'the subscribe frame is text')
      hasSubscribed = true
      clearTimeout(patience)
      const subscription = parseSubscribe(textOf(data), this.#options.chainIds)
      if ('fault' in subscription) return socket.close(1008, reasonOf(subscription.fault))
      this.#subscribe(socket, subscription)
        .then(connection => {
          entry.connection = connection
        })
        .catch(() => socket.close(1011, 'the log could not be read'))
    })
  }

  async #subscribe(socket: WebSocket, subscription: Subscription): Promise<Connection | null> {
    const { store, hub, clock, cursorSecret } = this.#options
    if (subscription.resumeCursor === null) return this.#connect(socket, subscription, hub.head, false)
    const cursor = openCursor(cursorSecret, subscription.resumeCursor)
    const bounds = await store.readBounds()
    const isNarrowed = subscription.poolIds.size > 0 || subscription.tokenIds.size > 0
    const reason = checkCursor(cursor, bounds, { chainIds: subscription.chainIds, isNarrowed }, clock.nowMs())
    if (reason !== null || cursor === null) {
      socket.send(
        JSON.stringify({
          type: 'RESET_REQUIRED',
          payload: { reason: reason ?? 'INVALID_CURSOR', server_time_unix_ms: clock.nowMs() },
        }),
      )
      socket.close(1000, reason ?? 'INVALID_CURSOR')
      return null
    }
    if (!(await this.#caughtUp(cursor.sequence))) {
      socket.close(1013, `last_sequence=${cursor.sequence}`)
      return null
    }
    return this.#connect(socket, subscription, cursor.sequence, true)
  }

  /** Null when the client has gone, or sent another frame, while its cursor was looked at. */
  #connect(socket: WebSocket, subscription: Subscription, after: number, isReplaying: boolean) {
    if (socket.readyState !== socket.OPEN) return null
    return new Connection(socket, subscription, after, isReplaying, this.#options)
  }

  async #caughtUp(sequence: number): Promise<boolean> {
    const { hub, clock } = this.#options
    const untilMs = clock.monotonicMs() + CATCH_UP_MS
    while (hub.head < sequence) {
      if (clock.monotonicMs() > untilMs) return false
      await new Promise<void>(resolve => {
        const unlisten = hub.listen(done)
        const timer = setTimeout(done, 100)
        function done() {
          clearTimeout(timer)
          unlisten()
          resolve()
        }
        hub.wake()
      })
    }
    return true
  }

  #ping(): void {
    for (const [socket, entry] of this.#open) {
      if (!entry.isAlive) {
        socket.terminate()
        continue
      }
      entry.isAlive = false
      socket.ping()
    }
  }

  #revalidate(): void {
    for (const [socket, { principal, connection }] of this.#open)
      this.#options.access
        .isValid(principal)
        .then(isValid => {
          if (!isValid) end(socket, connection, 1008, 'the credential has ended')
        })
        .catch(() => undefined)
  }
}

/** A text frame as `ws` hands it over. */
const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString()

function end(socket: WebSocket, connection: Connection | null, code: number, reason: string): void {
  if (connection === null) socket.close(code, reason)
  else connection.close(code, reason)
}

/** A close reason holds 123 bytes; a fault may quote letters of three bytes each. */
function reasonOf(fault: string): string {
  const bytes = Buffer.from(fault)
  // A letter cut in two would not be UTF-8: it is left out whole.
  return bytes.length <= MAX_REASON ? fault : bytes.toString('utf8', 0, MAX_REASON).replace(/\uFFFD+$/, '')
}

const retryAfter = (waitMs: number): string => `Retry-After: ${Math.max(1, Math.ceil(waitMs / 1000))}`

const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
}

function refuse(socket: Duplex, status: number, headers: readonly string[] = []): void {
  socket.end(
    `HTTP/1.1 ${status} ${PHRASES[status]}\r\n${[...headers, `X-Request-Id: ${randomUUID()}`, 'Content-Length: 0', 'Connection: close'].join('\r\n')}\r\n\r\n`,
  )
}
