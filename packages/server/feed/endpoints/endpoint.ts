/** One JSON-RPC endpoint: its calls, its abilities and performance, and when it may be used again. */
import type { Clock } from '../../ops/clock.ts'
import type { ProofRules } from '../../config/config.ts'
import type { Secret } from '../../ops/secret.ts'
import { Abilities } from './abilities.ts'
import { type Address, parseAddress } from '../transport/address.ts'
import { proofRulesOf } from '../proof/proofRules.ts'
import {
  type Call,
  type ConnectionLimits,
  DEFAULT_LIMITS,
  type OnAnswer,
  type Settled,
} from '../transport/connection.ts'
import type { EndpointCalls } from '../feed.ts'
import type { FeedError } from '../feedError.ts'
import type { FeedLog } from '../feedLog.ts'
import type { Identity } from './identity.ts'
import { Line } from '../transport/line.ts'
import { type Purpose, purposeOf } from './purpose.ts'

export type EndpointStatus = 'OK' | 'LAGGING' | 'SET_ASIDE' | 'FAILING' | 'WRONG_CHAIN'

export type EndpointOptions = {
  readonly name: string
  readonly url: Secret
  readonly identity: Identity
  readonly proof?: ProofRules | undefined
  readonly clock: Clock
  readonly log: FeedLog
  readonly limits?: ConnectionLimits
  readonly onAnswer?: OnAnswer
  /** The purpose of all its calls, when they share one. */
  readonly purpose?: Purpose
  /** Once the logs of a block are proven, only those with one of these first topics are kept; left out, all are. */
  readonly topics?: ReadonlySet<string>
}

export class Endpoint {
  readonly name: string
  /** The proof rules of the chain it serves. */
  readonly proofRules: ProofRules
  readonly #options: EndpointOptions
  readonly #address: Address
  readonly #line: Line
  readonly abilities: Abilities
  #rejected = 0
  /** A head as the endpoint pushed it, not decoded. */
  onHead: ((head: unknown) => void) | null = null
  /** The endpoint connected, subscribed, lost its connection or may be used again. */
  onChange: (() => void) | null = null
  /** The highest head it reported. */
  head: number | null = null
  /** Set by the comparison of heads: the endpoint is behind the others. */
  isLagging = false
  /** Set by the comparison of heads: no other endpoint knows its head. */
  isSetAside = false

  constructor(options: EndpointOptions) {
    const { name, clock, log, identity, limits = DEFAULT_LIMITS, onAnswer } = options
    this.name = name
    this.#options = options
    this.proofRules = proofRulesOf(options)
    this.#address = parseAddress(name, options.url)
    this.abilities = new Abilities(name, clock, log)
    const connecting = { name, address: this.#address, limits, onAnswer }
    this.#line = new Line({
      ...connecting,
      identity,
      clock,
      log,
      onHead: head => this.onHead?.(head),
      onChange: () => this.onChange?.(),
    })
  }

  /** Throws a FeedError, or the signal's reason. Connects, and checks the identity, when necessary. */
  async request(
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    purpose: Purpose = this.#options.purpose ?? purposeOf(method),
  ): Promise<unknown> {
    return this.#line.call(method, params, signal, purpose)
  }

  /**
   * Several calls in one request, with their outcomes in the same order. Throws when the whole batch failed: it was
   * refused, answered in part, or answered with ids that are not in it. `requestAll` of `batches.ts` decides what goes
   * into one.
   */
  async requestBatch(
    calls: readonly Call[],
    signal: AbortSignal,
    purpose: Purpose = this.#options.purpose ?? purposeOf(calls[0]?.method ?? ''),
  ): Promise<readonly Settled[]> {
    return this.#line.batch(calls, signal, purpose)
  }

  /** The rate limit we apply to it, in calls per second; infinite until it asks us to slow down. */
  get callsPerSecond(): number {
    return this.#line.load.perSecond
  }

  /** A hedged call on this endpoint lost: another attempt was answered first. */
  overtaken(): void {
    this.#line.record.failed()
  }

  /** The time within which it nearly always answers the method; null until known. */
  usualMs(method: string): number | null {
    return this.#line.record.usualMs(method)
  }

  /** Topics of the logs to keep; null to keep all. */
  get topics(): ReadonlySet<string> | null {
    return this.#options.topics ?? null
  }

  /** Whether simultaneous calls go in one request. */
  get takesBatches(): boolean {
    return this.#address.kind === 'http' && this.abilities.has('batches')
  }

  /** Connects now, so that a wrong identity shows at the start. */
  async open(signal: AbortSignal): Promise<void> {
    await this.#line.session.connected(signal)
  }

  /** Its answer failed a check: leave it alone for a while and use another. */
  blame(error: FeedError): void {
    this.#rejected += 1
    this.#line.record.failed()
    // Blocks fetched together and refused together count as one failure.
    if (this.isUsable) this.#line.standing.failed(error)
  }

  /** Drops the connection; the next request opens a new one and subscribes again. */
  reset(reason: string): void {
    this.#options.log('warn', 'endpoint connection dropped', { endpoint: this.name, reason })
    this.#line.session.drop()
  }

  /** When it may be used again, on the monotonic clock. */
  get usableAtMs(): number {
    return this.#line.standing.usableAtMs
  }

  get isUsable(): boolean {
    return this.#line.standing.isUsable
  }

  /** Its head is neither behind the others nor unknown to them. */
  get isInStep(): boolean {
    return !this.isLagging && !this.isSetAside
  }

  /** It has proven that it serves the right chain, and nothing has contradicted that since. */
  get isIdentified(): boolean {
    return this.#line.session.hasOpened && this.wrongIdentity === null
  }

  /** Every attempt to reach it has failed so far. */
  get hasFailed(): boolean {
    return this.#line.standing.hasFailed
  }

  get isSubscribed(): boolean {
    return this.#line.session.isSubscribed
  }

  get wrongIdentity(): FeedError | null {
    return this.#line.standing.wrongIdentity
  }

  get status(): EndpointStatus {
    if (this.wrongIdentity !== null) return 'WRONG_CHAIN'
    if (this.hasFailed || !this.#line.session.hasOpened) return 'FAILING'
    if (this.isSetAside) return 'SET_ASIDE'
    return this.isLagging ? 'LAGGING' : 'OK'
  }

  get errorRate(): number {
    return this.#line.record.errorRate()
  }

  get p50Ms(): number | null {
    return this.#line.record.p50Ms()
  }

  /** Counts since it was opened. */
  get calls(): EndpointCalls {
    const { total, totalFailed, kinds } = this.#line.record
    return { name: this.name, calls: total, failed: totalFailed, rejected: this.#rejected, kinds }
  }

  close(): void {
    this.onChange = null
    this.#line.close()
  }
}
