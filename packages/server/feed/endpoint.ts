/**
 * One JSON-RPC endpoint: its connection, how it is doing, and when it may be asked again.
 *
 * Nothing is asked of a connection before its identity was checked; that holds for every new one. HTTP has
 * no connection to speak of, so there a failure, or ten minutes, ends it.
 */
import type { Clock } from '../ops/clock.ts'
import type { ProofRules, Secret } from '../ops/config.ts'
import { Abilities } from './abilities.ts'
import { type Address, parseAddress } from './address.ts'
import { backOffMs } from './backOff.ts'
import { type Capabilities, capabilitiesOf } from './capabilities.ts'
import { CallRecord } from './callRecord.ts'
import {
  type Call,
  type Connection,
  type ConnectionLimits,
  DEFAULT_LIMITS,
  type OnAnswer,
  type Settled,
} from './connection.ts'
import { untilAborted } from './deadline.ts'
import type { EndpointCalls } from './feed.ts'
import { FeedError, isFeedError } from './feedError.ts'
import { Flow } from './flow.ts'
import { noteHeard, noteQueued } from './heard.ts'
import { openHttp } from './httpConnection.ts'
import { checkIdentity, type Identity } from './identity.ts'
import { type Purpose, purposeOf } from './purpose.ts'
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
  readonly proof?: ProofRules | undefined
  readonly clock: Clock
  readonly log: FeedLog
  readonly limits?: ConnectionLimits
  readonly onAnswer?: OnAnswer
  /** Of all its calls, where they serve one purpose. */
  readonly purpose?: Purpose
  /** Of blocks only logs with one of these first topics are kept once they are proven; left out, all. */
  readonly topics?: ReadonlySet<string>
}

/** How long an HTTP endpoint is trusted to be the same node behind the same address. */
const HTTP_SESSION_MS = 600_000
/** A wrong node is looked at again this often: an operator may have put it right. */
const WRONG_CHAIN_PAUSE_MS = 60_000

/** Failures of an endpoint that has too much to do. */
const STRAINED: ReadonlySet<string> = new Set(['ENDPOINT_STATUS', 'ENDPOINT_TIMEOUT'])
/** Tries of a call that was refused for its rate alone: it waits for its turn at a slower pace. */
const PACED_TRIES = 8
/**
 * Refusals for the rate, a second or more apart, with no answer between them: the endpoint is not slow but closed, as at
 * the end of a quota.
 */
const CLOSED_AFTER = 5
const SAME_REFUSAL_MS = 1000
/** The pace is told at most so often. */
const TELL_PACE_MS = 60_000
const BATCH = 'batch'
/** Methods an endpoint may refuse with an HTTP status or a page while it answers others. */
const REFUSABLE: ReadonlySet<string> = new Set([
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
  'eth_getLogs',
  'eth_call',
  BATCH,
])
/** Statuses that say no to this request; others say that it may work later. */
const isRefusingStatus = (status: number): boolean =>
  status === 501 || (status < 500 && status !== 408 && status !== 429)

/** Of logs the same code is used for a range with too many of them: asking again would not help. */
const mayBePaced = (method: string, { rpcCode }: FeedError): boolean =>
  method !== 'eth_getLogs' || rpcCode === null

export class Endpoint {
  readonly name: string
  /** Of the chain it serves. */
  readonly capabilities: Capabilities
  readonly #options: EndpointOptions
  readonly #address: Address
  readonly #abort = new AbortController()
  readonly #record = new CallRecord()
  readonly #flow: Flow
  readonly abilities: Abilities
  #connection: Connection | null = null
  #opening: Promise<Connection> | null = null
  #openedAtMs = 0
  #hasOpened = false
  #isSubscribed = false
  #failures = 0
  #rejected = 0
  #limitedInARow = 0
  #limitedAtMs = Number.NEGATIVE_INFINITY
  #paceToldAtMs = Number.NEGATIVE_INFINITY
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
    this.capabilities = capabilitiesOf(options)
    this.#address = parseAddress(options.name, options.url)
    this.#flow = new Flow(options.name, options.clock)
    this.abilities = new Abilities(options.name, options.clock, options.log)
  }

  /** Throws a FeedError, or the signal's reason. Connects, and checks the identity, when it has to. */
  async request(
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    purpose: Purpose = this.#options.purpose ?? purposeOf(method),
  ): Promise<unknown> {
    const sent = { methods: [method], purpose, signal }
    const ask = async (): Promise<unknown> => {
      const connection = await this.#connected(signal)
      return this.#send(connection, sent, () => connection.call(method, params, signal))
    }
    return this.#paced(method, ask, signal)
  }

  /**
   * Several calls in one request, their outcomes in the same order. Throws when the batch as a whole failed: refused,
   * answered in part, or with ids that are not in it. `requestAll` of `batches.ts` decides what goes into one.
   */
  async requestBatch(
    calls: readonly Call[],
    signal: AbortSignal,
    purpose: Purpose = this.#options.purpose ?? purposeOf(calls[0]?.method ?? ''),
  ): Promise<readonly Settled[]> {
    const sent = { methods: calls.map(({ method }) => method), purpose, signal }
    const ask = async (): Promise<readonly Settled[]> => {
      const connection = await this.#connected(signal)
      return this.#send(connection, sent, async () => {
        const outcomes = (await connection.batch?.(calls, signal)) ?? []
        const limited = outcomes.find(each => 'error' in each && each.error.code === 'ENDPOINT_LIMITED')
        if (limited !== undefined && 'error' in limited) this.#note(limited.error, connection)
        return outcomes
      })
    }
    return this.#paced(BATCH, ask, signal)
  }

  /** Calls a second it is held to; infinite before it asked us to slow down. */
  get callsPerSecond(): number {
    return this.#flow.perSecond
  }

  /** The same question, asked again, was answered first. */
  overtaken(): void {
    this.#record.failed()
  }

  /** Within which it answers the method nearly always; null before it is known. */
  usualMs(method: string): number | null {
    return this.#record.usualMs(method)
  }

  /** Topics of the logs that are kept of a block; null where all are. */
  get topics(): ReadonlySet<string> | null {
    return this.#options.topics ?? null
  }

  /** Whether calls made together go in one request. */
  get takesBatches(): boolean {
    return this.#address.kind === 'http' && this.abilities.has('batches')
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
    const { kinds } = this.#record
    return { name: this.name, calls: total, failed: totalFailed, rejected: this.#rejected, kinds }
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
    const { name, limits = DEFAULT_LIMITS, onAnswer, identity, clock } = this.#options
    const { signal } = this.#abort
    const options = { name, address: this.#address, limits, onAnswer }
    let connection: Connection | null = null
    try {
      connection = this.#address.kind === 'http' ? openHttp(options) : await openWebSocket(options, signal)
      await checkIdentity(this.#identifying(connection), name, identity, signal)
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
    this.#openedAtMs = clock.monotonicMs()
    this.#hasOpened = true
    this.#failures = 0
    this.#wrongIdentity = null
    this.onChange?.()
    return connection
  }

  /** Asks again, at the slower pace, what was refused for its rate. */
  async #paced<Result>(method: string, ask: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    for (let tries = 1; ; tries++)
      try {
        return await ask()
      } catch (error) {
        const mayTry = tries < PACED_TRIES && this.isUsable && !signal.aborted
        if (!mayTry || !isFeedError(error, 'ENDPOINT_LIMITED') || !mayBePaced(method, error)) throw error
      }
  }

  /** One request over the connection, with its place in the flow, its time and its outcome on the record. */
  async #send<Result>(
    connection: Connection,
    { methods, purpose, signal }: Sent,
    exchange: () => Promise<Result>,
  ): Promise<Result> {
    noteQueued(signal)
    await this.#flow.enter(signal, purpose, methods.length)
    noteHeard(signal)
    for (const method of methods) this.#record.began(method, purpose)
    const name = methods.length === 1 ? (methods[0] ?? BATCH) : BATCH
    const startedMs = this.#options.clock.monotonicMs()
    try {
      const result = await exchange()
      const tookMs = this.#options.clock.monotonicMs() - startedMs
      this.#flow.widen(methods.length)
      this.#limitedInARow = 0
      // Of a connection that is not open yet, only the whole of its identity says something.
      if (purpose === 'identity') return result
      for (const _ of methods) this.#record.succeeded(tookMs, name)
      this.#failures = 0
      return result
    } catch (error) {
      if (!isFeedError(error) || signal.aborted) throw error
      if (purpose === 'identity' && error.code !== 'ENDPOINT_LIMITED') throw error
      if (await this.#isRefusal(name, error, connection, signal)) {
        const sentence = `${name} refused (HTTP ${error.httpStatus})`
        throw new FeedError('METHOD_MISSING', this.name, sentence, { httpStatus: error.httpStatus ?? 0 })
      }
      this.#note(error, connection)
      throw error
    } finally {
      this.#flow.leave()
    }
  }

  /** Whether a status or a page says no to this method alone: then a cheap other one is answered. */
  async #isRefusal(
    method: string,
    { code, httpStatus }: FeedError,
    connection: Connection,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!REFUSABLE.has(method) || httpStatus === null || !isRefusingStatus(httpStatus)) return false
    if (code !== 'ENDPOINT_STATUS' && code !== 'ANSWER_MALFORMED') return false
    this.#record.began('eth_chainId', 'probe')
    try {
      await connection.call('eth_chainId', [], signal)
      return true
    } catch (error) {
      if (isFeedError(error)) return false
      throw error
    }
  }

  /** The same connection, its calls counted and paced like others. */
  #identifying(connection: Connection): Pick<Connection, 'call'> {
    return {
      call: (method, params, signal) => {
        const sent = { methods: [method], purpose: 'identity', signal } as const
        const send = () => this.#send(connection, sent, () => connection.call(method, params, signal))
        return this.#paced(method, send, signal)
      },
    }
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
    if (error.code === 'ENDPOINT_LIMITED') return this.#slowDown(error)
    // Anyone can make a block large; over HTTP nothing else is lost with its answer.
    if (error.code === 'ANSWER_TOO_LARGE' && this.#address.kind === 'http') return
    if (connection !== this.#connection) return
    if (STRAINED.has(error.code)) this.#flow.narrow()
    this.#drop()
    this.#backOff(error)
  }

  /** It is paced, and only left alone for as long as it asks for, or when it answers nothing at all. */
  #slowDown(error: FeedError): void {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#limitedAtMs >= SAME_REFUSAL_MS) {
      this.#limitedInARow++
      this.#limitedAtMs = nowMs
    }
    this.#flow.limited(error.retryAfterMs ?? 0)
    if (error.retryAfterMs !== null || this.#limitedInARow >= CLOSED_AFTER) {
      if (this.isUsable) this.#backOff(error)
      return
    }
    if (nowMs - this.#paceToldAtMs < TELL_PACE_MS) return
    this.#paceToldAtMs = nowMs
    const rate = Math.round(this.#flow.perSecond * 10) / 10
    this.#options.log(
      'warn',
      `endpoint ${this.name}: asked us to slow down; going on at ${rate} calls a second`,
      {
        endpoint: this.name,
        calls_per_second: rate,
      },
    )
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

  #drop(): void {
    const connection = this.#connection
    this.#connection = null
    this.#isSubscribed = false
    connection?.close()
  }
}

/** What is on its way: one call, or those of a batch. */
type Sent = { readonly methods: readonly string[]; readonly purpose: Purpose; readonly signal: AbortSignal }
