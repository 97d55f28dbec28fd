/**
 * The connection of an endpoint: at most one at a time, opened on first use and shared by all callers. Every new
 * connection must pass the identity check before any other call uses it. HTTP has no lasting connection, so there a
 * failure, or ten minutes, ends the session.
 */
import type { Clock } from '../../ops/clock.ts'
import type { Connection, ConnectionOptions } from './connection.ts'
import { untilAborted } from './deadline.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { openHttp } from './httpConnection.ts'
import { openWebSocket } from './webSocketConnection.ts'

/** How long an HTTP endpoint is trusted to be the same node behind the same address. */
const HTTP_SESSION_MS = 600_000

export type SessionOptions = ConnectionOptions & {
  readonly clock: Clock
  /** Throws when the endpoint is not the expected one. */
  readonly identify: (connection: Connection, signal: AbortSignal) => Promise<void>
  /** A head as the endpoint pushed it, not decoded. */
  readonly onHead: (head: unknown) => void
  readonly onOpened: () => void
  readonly onOpeningFailed: (error: FeedError) => void
  readonly onLost: (error: FeedError, connection: Connection) => void
}

export class Session {
  readonly #options: SessionOptions
  readonly #abort = new AbortController()
  #connection: Connection | null = null
  #opening: Promise<Connection> | null = null
  #openedAtMs = 0
  #hasOpened = false
  #isSubscribed = false

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** It was open before, even if it is not now. */
  get hasOpened(): boolean {
    return this.#hasOpened
  }

  /** Heads are pushed. */
  get isSubscribed(): boolean {
    return this.#isSubscribed
  }

  /** Whether this is the connection currently open. */
  isCurrent(connection: Connection): boolean {
    return connection === this.#connection
  }

  async connected(signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    this.#abort.signal.throwIfAborted()
    const { address, clock } = this.#options
    const isAged = address.kind === 'http' && clock.monotonicMs() - this.#openedAtMs > HTTP_SESSION_MS
    if (this.#connection !== null && !isAged) return this.#connection
    // Shared by all callers, so a caller that gives up must not abort it.
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null
    })
    return untilAborted(this.#opening, signal)
  }

  /** The next caller opens a new connection. */
  drop(): void {
    const connection = this.#connection
    this.#connection = null
    this.#isSubscribed = false
    connection?.close()
  }

  close(): void {
    this.#abort.abort(new FeedError('FEED_CLOSED', this.#options.name, 'the feed is closed'))
    this.drop()
  }

  async #open(): Promise<Connection> {
    const { address, clock, identify, onOpened, onOpeningFailed, onLost } = this.#options
    const { signal } = this.#abort
    let connection: Connection | null = null
    try {
      connection =
        address.kind === 'http' ? openHttp(this.#options) : await openWebSocket(this.#options, signal)
      await identify(connection, signal)
      this.#isSubscribed = await this.#subscribe(connection, signal)
      signal.throwIfAborted()
      const opened = connection
      opened.onLost = error => onLost(error, opened)
    } catch (error) {
      connection?.close()
      this.drop()
      if (isFeedError(error) && !signal.aborted) onOpeningFailed(error)
      throw error
    }
    this.#connection = connection
    this.#openedAtMs = clock.monotonicMs()
    this.#hasOpened = true
    onOpened()
    return connection
  }

  /** False when the endpoint does not push heads; it is polled then. */
  async #subscribe(connection: Connection, signal: AbortSignal): Promise<boolean> {
    if (connection.subscribe === null) return false
    try {
      await connection.subscribe(head => this.#options.onHead(head), signal)
      return true
    } catch (error) {
      if (isFeedError(error, 'METHOD_MISSING', 'RPC_ERROR')) return false
      throw error
    }
  }
}
