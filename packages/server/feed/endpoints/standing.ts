/**
 * When an endpoint may be used again. Each failure in a row makes it wait longer. An endpoint that asks us to slow down
 * is rate-limited instead, and left alone only for as long as it says, or when it answers nothing at all.
 */
import type { Clock } from '../../ops/clock.ts'
import { backOffMs } from './backOff.ts'
import type { FeedLog } from '../feedLog.ts'
import type { FeedError } from '../feedError.ts'
import type { LoadLimit } from './loadLimit.ts'

/** How often an endpoint of a wrong chain is checked again: an operator may have fixed it. */
const WRONG_CHAIN_PAUSE_MS = 60_000
/**
 * Rate-limit refusals, a second or more apart and with no answer between them, after which the endpoint counts as
 * closed rather than slow, as at the end of a quota.
 */
const CLOSED_AFTER = 5
const SAME_REFUSAL_MS = 1000
/** The rate is logged at most this often. */
const TELL_PACE_MS = 60_000

export type StandingOptions = {
  readonly name: string
  readonly clock: Clock
  readonly log: FeedLog
  readonly load: LoadLimit
  /** The endpoint has to wait now. */
  readonly onChange: () => void
}

export class Standing {
  readonly #options: StandingOptions
  #failures = 0
  #limitedInARow = 0
  #limitedAtMs = Number.NEGATIVE_INFINITY
  #paceToldAtMs = Number.NEGATIVE_INFINITY
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #wrongIdentity: FeedError | null = null

  constructor(options: StandingOptions) {
    this.#options = options
  }

  /** On the monotonic clock; infinite once it is closed. */
  get usableAtMs(): number {
    return this.#notBeforeMs
  }

  get isUsable(): boolean {
    return this.#notBeforeMs <= this.#options.clock.monotonicMs()
  }

  get hasFailed(): boolean {
    return this.#failures > 0
  }

  get wrongIdentity(): FeedError | null {
    return this.#wrongIdentity
  }

  /** It connected, and serves the right chain. */
  opened(): void {
    this.#failures = 0
    this.#wrongIdentity = null
  }

  openingFailed(error: FeedError): void {
    this.failed(error)
    if (error.code !== 'ENDPOINT_IDENTITY') return
    this.#wrongIdentity = error
    this.#notBeforeMs = this.#options.clock.monotonicMs() + WRONG_CHAIN_PAUSE_MS
  }

  /** It answered, so it is not closed by its rate limit. */
  answered(): void {
    this.#limitedInARow = 0
  }

  succeeded(): void {
    this.#failures = 0
  }

  failed(error: FeedError): void {
    const { name, clock, log, onChange } = this.#options
    this.#failures++
    const waitMs = error.retryAfterMs ?? backOffMs(this.#failures)
    this.#notBeforeMs = clock.monotonicMs() + waitMs
    const fields = { endpoint: name, code: error.code, reason: error.message, wait_ms: Math.round(waitMs) }
    log('warn', 'endpoint failed', fields)
    onChange()
  }

  /** It asked us to slow down. */
  limited(error: FeedError): void {
    const { clock, load } = this.#options
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#limitedAtMs >= SAME_REFUSAL_MS) {
      this.#limitedInARow++
      this.#limitedAtMs = nowMs
    }
    load.limited(error.retryAfterMs ?? 0)
    if (error.retryAfterMs === null && this.#limitedInARow < CLOSED_AFTER) this.#tellPace(nowMs)
    else if (this.isUsable) this.failed(error)
  }

  close(): void {
    this.#notBeforeMs = Number.POSITIVE_INFINITY
  }

  #tellPace(nowMs: number): void {
    if (nowMs - this.#paceToldAtMs < TELL_PACE_MS) return
    this.#paceToldAtMs = nowMs
    const { name, log, load } = this.#options
    const rate = Math.round(load.perSecond * 10) / 10
    const sentence = `endpoint ${name}: rate-limited; continuing at ${rate} calls a second`
    log('warn', sentence, { endpoint: name, calls_per_second: rate })
  }
}
