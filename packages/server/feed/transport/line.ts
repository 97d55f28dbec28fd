/**
 * The line to an endpoint: its session and the requests sent over it. Each request waits for its place under the load
 * limit, its time and outcome are recorded, and its failure updates the standing.
 */
import type { Clock } from '../../ops/clock.ts'
import { CallRecord } from '../endpoints/callRecord.ts'
import type { Call, Connection, ConnectionOptions, Settled } from './connection.ts'
import type { FeedLog } from '../feedLog.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { LoadLimit } from '../endpoints/loadLimit.ts'
import { noteArrival, noteQueued } from './arrival.ts'
import { checkIdentity, type Identity } from '../endpoints/identity.ts'
import type { Purpose } from '../endpoints/purpose.ts'
import { Session } from './session.ts'
import { Standing } from '../endpoints/standing.ts'

export type LineOptions = ConnectionOptions & {
  readonly identity: Identity
  readonly clock: Clock
  readonly log: FeedLog
  /** A head as the endpoint pushed it, not decoded. */
  readonly onHead: (head: unknown) => void
  /** It connected, subscribed, or must be left alone for a while. */
  readonly onChange: () => void
}

/** Failures of an overloaded endpoint. */
const STRAINED: ReadonlySet<string> = new Set(['ENDPOINT_STATUS', 'ENDPOINT_TIMEOUT'])
/** Attempts of a call that was refused only for its rate: it waits for its turn at a slower rate. */
const PACED_TRIES = 8
const BATCH = 'batch'
/** Methods that an endpoint may refuse with an HTTP status or a page while it answers others. */
const REFUSABLE: ReadonlySet<string> = new Set([
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
  'eth_getLogs',
  'eth_call',
  BATCH,
])
/** Statuses that refuse this request for good; others mean that it may work later. */
const isRefusingStatus = (status: number): boolean =>
  status === 501 || (status < 500 && status !== 408 && status !== 429)

/** For logs the same code means too many logs in the range: a retry would not help. */
const mayBePaced = (method: string, { rpcCode }: FeedError): boolean =>
  method !== 'eth_getLogs' || rpcCode === null

export class Line {
  readonly record = new CallRecord()
  readonly load: LoadLimit
  readonly standing: Standing
  readonly session: Session
  readonly #options: LineOptions

  constructor(options: LineOptions) {
    const { name, clock, log, identity, onChange } = options
    this.#options = options
    this.load = new LoadLimit(name, clock)
    this.standing = new Standing({ name, clock, log, load: this.load, onChange })
    this.session = new Session({
      ...options,
      identify: (connection, signal) => checkIdentity(this.#identifying(connection), name, identity, signal),
      onOpened: () => {
        this.standing.opened()
        onChange()
      },
      onOpeningFailed: error => {
        this.record.failed()
        this.standing.openingFailed(error)
      },
      onLost: (error, connection) => this.#note(error, connection),
    })
  }

  /** Throws a FeedError, or the signal's reason. */
  async call(
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    purpose: Purpose,
  ): Promise<unknown> {
    const sent = { methods: [method], purpose, signal }
    const ask = async (): Promise<unknown> => {
      const connection = await this.session.connected(signal)
      return this.#send(connection, sent, () => connection.call(method, params, signal))
    }
    return this.#paced(method, ask, signal)
  }

  /** Several calls in one request. Throws when the request failed as a whole. */
  async batch(calls: readonly Call[], signal: AbortSignal, purpose: Purpose): Promise<readonly Settled[]> {
    const sent = { methods: calls.map(({ method }) => method), purpose, signal }
    const ask = async (): Promise<readonly Settled[]> => {
      const connection = await this.session.connected(signal)
      return this.#send(connection, sent, async () => {
        const outcomes = (await connection.batch?.(calls, signal)) ?? []
        const limited = outcomes.find(each => 'error' in each && each.error.code === 'ENDPOINT_LIMITED')
        if (limited !== undefined && 'error' in limited) this.#note(limited.error, connection)
        return outcomes
      })
    }
    return this.#paced(BATCH, ask, signal)
  }

  close(): void {
    this.standing.close()
    this.session.close()
  }

  /** Retries calls that were refused for their rate, at the slower rate. */
  async #paced<Result>(method: string, ask: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    for (let tries = 1; ; tries++)
      try {
        return await ask()
      } catch (error) {
        const mayTry = tries < PACED_TRIES && this.standing.isUsable && !signal.aborted
        if (!mayTry || !isFeedError(error, 'ENDPOINT_LIMITED') || !mayBePaced(method, error)) throw error
      }
  }

  /** Sends one request: waits for its place under the load limit and records its time and outcome. */
  async #send<Result>(
    connection: Connection,
    { methods, purpose, signal }: Sent,
    exchange: () => Promise<Result>,
  ): Promise<Result> {
    noteQueued(signal)
    await this.load.enter(signal, purpose, methods.length)
    noteArrival(signal)
    for (const method of methods) this.record.began(method, purpose)
    const name = methods.length === 1 ? (methods[0] ?? BATCH) : BATCH
    const startedMs = this.#options.clock.monotonicMs()
    try {
      const result = await exchange()
      const tookMs = this.#options.clock.monotonicMs() - startedMs
      this.load.widen(methods.length)
      this.standing.answered()
      // While the connection is opening, only the complete identity check counts as a success.
      if (purpose === 'identity') return result
      for (const _ of methods) this.record.succeeded(tookMs, name)
      this.standing.succeeded()
      return result
    } catch (error) {
      if (!isFeedError(error) || signal.aborted) throw error
      if (purpose === 'identity' && error.code !== 'ENDPOINT_LIMITED') throw error
      if (await this.#isRefusal(name, error, connection, signal)) {
        const sentence = `${name} refused (HTTP ${error.httpStatus})`
        throw new FeedError('METHOD_MISSING', this.#options.name, sentence, {
          httpStatus: error.httpStatus ?? 0,
        })
      }
      this.#note(error, connection)
      throw error
    } finally {
      this.load.leave()
    }
  }

  /** Whether a status or a page refuses this method alone: true if a cheap other call is answered. */
  async #isRefusal(
    method: string,
    { code, httpStatus }: FeedError,
    connection: Connection,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!REFUSABLE.has(method) || httpStatus === null || !isRefusingStatus(httpStatus)) return false
    if (code !== 'ENDPOINT_STATUS' && code !== 'ANSWER_MALFORMED') return false
    this.record.began('eth_chainId', 'probe')
    try {
      await connection.call('eth_chainId', [], signal)
      return true
    } catch (error) {
      if (isFeedError(error)) return false
      throw error
    }
  }

  /** The same connection, with its calls counted and rate-limited like others. */
  #identifying(connection: Connection): Pick<Connection, 'call'> {
    return {
      call: (method, params, signal) => {
        const sent = { methods: [method], purpose: 'identity', signal } as const
        const send = () => this.#send(connection, sent, () => connection.call(method, params, signal))
        return this.#paced(method, send, signal)
      },
    }
  }

  /** Updates the standing after a failed call; calls in flight together count as one failure. */
  #note(error: FeedError, connection: Connection): void {
    // A missing method, or a call that failed on its merits, is a proper answer.
    if (error.code === 'METHOD_MISSING' || error.code === 'RPC_ERROR') return
    this.record.failed()
    if (error.code === 'ENDPOINT_LIMITED') return this.standing.limited(error)
    // Anyone can make a block large; over HTTP such an answer affects no other call.
    if (error.code === 'ANSWER_TOO_LARGE' && this.#options.address.kind === 'http') return
    if (!this.session.isCurrent(connection)) return
    if (STRAINED.has(error.code)) this.load.narrow()
    this.session.drop()
    this.standing.failed(error)
  }
}

/** A request in flight: one call, or those of a batch. */
type Sent = { readonly methods: readonly string[]; readonly purpose: Purpose; readonly signal: AbortSignal }
