/**
 * One JSON-RPC endpoint: its connection, how it is doing, and when it may be asked again.
 *
 * Nothing is asked of a connection before its identity was checked; that holds for every new one. HTTP has
 * no connection to speak of, so there a failure, or a minute, ends it.
 */
import type { Clock } from '../ops/clock.ts'
import type { Secret } from '../ops/config.ts'
import { type Address, parseAddress } from './address.ts'
import { backOffMs } from './backOff.ts'
import { type Capabilities, capabilitiesOf } from './capabilities.ts'
import { CallRecord } from './callRecord.ts'
import { type Connection, type ConnectionLimits, DEFAULT_LIMITS } from './connection.ts'
import { untilAborted } from './deadline.ts'
import type { EndpointCalls } from './feed.ts'
import { FeedError, isFeedError } from './feedError.ts'
import { Flow } from './flow.ts'
import { openHttp } from './httpConnection.ts'
import { checkIdentity, type Identity } from './identity.ts'
import { openWebSocket } from './webSocketConnection.ts'

export type EndpointStatus = 'OK' | 'LAGGING' | 'SET_ASIDE' | 'FAILING' | 'WRONG_CHAIN'

export type FeedLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void

export type EndpointOptions = {
  readonly name: string
  readonly url: Secret
  readonly identity: Identity
  readonly clock: Clock
  readonly log: FeedLog
  readonly limits?: ConnectionLimits
}

/** How long an HTTP endpoint is trusted to be the same node behind the same address. */
const HTTP_SESSION_MS = 60_000
/** A wrong node is looked at again this often: an operator may have put it right. */
const WRONG_CHAIN_PAUSE_MS = 60_000

/** Answers that the usual time of a method is taken from. */
const USUAL_OF = 64

/** Failures of an endpoint that has too much to do. */
const STRAINED: ReadonlySet<string> = new Set(['ENDPOINT_LIMITED', 'ENDPOINT_STATUS', 'ENDPOINT_TIMEOUT'])

export class Endpoint {
  readonly name: string
  /** Of the chain it serves. */
  readonly capabilities: Capabilities
  readonly #options: EndpointOptions
  readonly #address: Address
  readonly #abort = new AbortController()
  readonly #record = new CallRecord()
  readonly #flow: Flow
  /** Methods the present connection said it does not have. */
  readonly #missing = new Set<string>()
  /** Milliseconds of the latest good answers by method. */
  readonly #times = new Map<string, number[]>()
  #connection: Connection | null = null
  #opening: Promise<Connection> | null = null
  #openedAtMs = 0
  #hasOpened = false
  #isSubscribed = false
  #failures = 0
  #rejected = 0
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #wrongIdentity: FeedError | null = null
  /** A head as the endpoint pushed it, not decoded. */
  onHead: ((head: unknown) => void) | null = null
  /** It connected, subscribed, was lost or may be asked again. */
  onChange: (() => void) | null = null
  /** The highest head it told of. */
  head: number | null = null
  /** Set by whoever compares heads: it is behind the others. */
  isLagging = false
  /** Set by whoever compares heads: nobody else knows its head. */
  isSetAside = false

  constructor(options: EndpointOptions) {
    this.name = options.name
    this.#options = options
    this.capabilities = capabilitiesOf(options.identity.chainId)
    this.#address = parseAddress(options.name, options.url)
    this.#flow = new Flow(options.name, options.clock)
  }

  /** Throws a FeedError, or the signal's reason. Connects, and checks the identity, when it has to. */
  async request(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    const connection = await this.#connected(signal)
    await this.#flow.enter(signal)
    const startedMs = this.#options.clock.monotonicMs()
    try {
      const result = await connection.call(method, params, signal)
      const tookMs = this.#options.clock.monotonicMs() - startedMs
      this.#record.succeeded(tookMs)
      this.#took(method, tookMs)
      this.#flow.widen()
      this.#failures = 0
      return result
    } catch (error) {
      if (isFeedError(error, 'METHOD_MISSING')) this.#missing.add(method)
      if (isFeedError(error) && !signal.aborted) this.#note(error, connection)
      throw error
    } finally {
      this.#flow.leave()
    }
  }

  /** Milliseconds within which 19 of 20 answers to the method came of late; null before there were any. */
  usualMs(method: string): number | null {
    const times = this.#times.get(method)?.toSorted((a, b) => a - b) ?? []
    return times[Math.ceil(times.length * 0.95) - 1] ?? null
  }

  /** The same question, asked again, was answered first. */
  overtaken(): void {
    this.#record.failed()
  }

  /** True once it answered that it does not have the method. */
  lacks(method: string): boolean {
    return this.#missing.has(method)
  }

  /** Connects now, so that a wrong identity shows at the start. */
  async open(signal: AbortSignal): Promise<void> {
    await this.#connected(signal)
  }

  /** Its answer failed a check: it is left alone for a while and another is asked. */
  blame(error: FeedError): void {
    this.#rejected += 1
    this.#record.failed()
    // Blocks fetched together and refused together are one failure.
    if (this.isUsable) this.#backOff(error)
  }

  /** Drops the connection; the next request opens another and subscribes again. */
  reset(reason: string): void {
    this.#options.log('warn', 'endpoint connection dropped', { endpoint: this.name, reason })
    this.#drop()
  }

  /** When it may be asked again, on the monotonic clock. */
  get usableAtMs(): number {
    return this.#abort.signal.aborted ? Number.POSITIVE_INFINITY : this.#notBeforeMs
  }

  get isUsable(): boolean {
    return this.usableAtMs <= this.#options.clock.monotonicMs()
  }

  /** Its head is neither behind the others' nor its own alone. */
  get isInStep(): boolean {
    return !this.isLagging && !this.isSetAside
  }

  /** It has shown that it serves the right chain, and nothing else since. */
  get isIdentified(): boolean {
    return this.#hasOpened && this.#wrongIdentity === null
  }

  /** Nothing came of trying to reach it, so far. */
  get hasFailed(): boolean {
    return this.#failures > 0
  }

  get isSubscribed(): boolean {
    return this.#isSubscribed
  }

  get wrongIdentity(): FeedError | null {
    return this.#wrongIdentity
  }

  get status(): EndpointStatus {
    if (this.#wrongIdentity !== null) return 'WRONG_CHAIN'
    if (this.#failures > 0 || !this.#hasOpened) return 'FAILING'
    if (this.isSetAside) return 'SET_ASIDE'
    return this.isLagging ? 'LAGGING' : 'OK'
  }

  get errorRate(): number {
    return this.#record.errorRate()
  }

  get p50Ms(): number | null {
    return this.#record.p50Ms()
  }

  /** Since it was opened. */
  get calls(): EndpointCalls {
    const { total, totalFailed } = this.#record
    return { name: this.name, calls: total, failed: totalFailed, rejected: this.#rejected }
  }

  close(): void {
    this.#abort.abort(new FeedError('FEED_CLOSED', this.name, 'the feed is closed'))
    this.onChange = null
    this.#drop()
  }

  async #connected(signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    this.#abort.signal.throwIfAborted()
    const { clock } = this.#options
    const isAged = this.#address.kind === 'http' && clock.monotonicMs() - this.#openedAtMs > HTTP_SESSION_MS
    if (this.#connection !== null && !isAged) return this.#connection
    // Shared by all callers, so one of them giving up must not end it.
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null
    })
    return untilAborted(this.#opening, signal)
  }

  async #open(): Promise<Connection> {
    const { name, limits = DEFAULT_LIMITS, identity, clock } = this.#options
    const { signal } = this.#abort
    const options = { name, address: this.#address, limits }
    let connection: Connection | null = null
    try {
      connection = this.#address.kind === 'http' ? openHttp(options) : await openWebSocket(options, signal)
      await checkIdentity(connection, name, identity, signal)
      this.#isSubscribed = await this.#subscribe(connection, signal)
      signal.throwIfAborted()
      const opened = connection
      opened.onLost = error => this.#note(error, opened)
    } catch (error) {
      connection?.close()
      this.#drop()
      if (isFeedError(error) && !signal.aborted) this.#openingFailed(error)
      throw error
    }
    this.#connection = connection
    this.#missing.clear()
    this.#openedAtMs = clock.monotonicMs()
    this.#hasOpened = true
    this.#failures = 0
    this.#wrongIdentity = null
    this.onChange?.()
    return connection
  }

  /** False where the endpoint does not push heads; it is polled then. */
  async #subscribe(connection: Connection, signal: AbortSignal): Promise<boolean> {
    if (connection.subscribe === null) return false
    try {
      await connection.subscribe(head => this.onHead?.(head), signal)
      return true
    } catch (error) {
      if (isFeedError(error, 'METHOD_MISSING', 'RPC_ERROR')) return false
      throw error
    }
  }

  #openingFailed(error: FeedError): void {
    this.#record.failed()
    this.#backOff(error)
    if (error.code !== 'ENDPOINT_IDENTITY') return
    this.#wrongIdentity = error
    this.#notBeforeMs = this.#options.clock.monotonicMs() + WRONG_CHAIN_PAUSE_MS
  }

  /** What a failed call says about the endpoint; calls in flight together count as one failure. */
  #note(error: FeedError, connection: Connection): void {
    // A method that is missing, or a call that failed on its merits, was answered as it should be.
    if (error.code === 'METHOD_MISSING' || error.code === 'RPC_ERROR') return
    this.#record.failed()
    const isFirst = error.code === 'ENDPOINT_LIMITED' ? this.isUsable : connection === this.#connection
    if (!isFirst) return
    if (STRAINED.has(error.code)) this.#flow.narrow()
    if (error.code !== 'ENDPOINT_LIMITED') this.#drop()
    this.#backOff(error)
  }

  #backOff(error: FeedError): void {
    this.#failures++
    const waitMs = error.retryAfterMs ?? backOffMs(this.#failures)
    this.#notBeforeMs = this.#options.clock.monotonicMs() + waitMs
    const fields = {
      endpoint: this.name,
      code: error.code,
      reason: error.message,
      wait_ms: Math.round(waitMs),
    }
    this.#options.log('warn', 'endpoint failed', fields)
    this.onChange?.()
  }

  #took(method: string, tookMs: number): void {
    const times = this.#times.get(method) ?? []
    times.push(tookMs)
    if (times.length > USUAL_OF) times.shift()
    this.#times.set(method, times)
  }

  #drop(): void {
    const connection = this.#connection
    this.#connection = null
    this.#isSubscribed = false
    connection?.close()
  }
}
