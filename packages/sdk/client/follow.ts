/**
 * Follows a chain, or some of its tokens and pools: snapshot, cursor, replay, live. Starts over when the service
 * requires it.
 *
 * The follower holds the current state of everything it follows and advances only while it is iterated or run. It
 * resumes a dropped connection after the last record applied, and starts from a new snapshot when its cursor is
 * refused. It ends quietly through `close()`, the signal or leaving the loop, and throws only errors that no retry
 * can fix.
 */
import type { Health } from '../wire/health.ts'
import type { Id } from '../wire/identifier.ts'
import type { FeedGone } from '../wire/presented.ts'
import type { SwapEvent } from '../wire/poolEvent.ts'
import type { Session, SessionQuery } from '../wire/session.ts'
import { type Envelope, SCHEMA_VERSION } from '../wire/stream.ts'
import { type Backoff, DEFAULT_BACKOFF, delayMs, retrying, wait } from './backoff.ts'
import { AssayError } from './failure.ts'
import type { CallOptions } from './http.ts'
import { type FollowedPool, type FollowedToken, Market } from './market.ts'
import { Scope, type ScopeRequest } from './scope.ts'
import { type PoolSource, readSnapshot } from './snapshot.ts'
import { stateAt } from './stateAt.ts'
import type { Stream, StreamOutcome, StreamRequest } from './stream.ts'

/** Four missed health records. */
const SILENCE_MS = 60_000

/** The parts of a client that following needs. */
export type Source = PoolSource & {
  createSession(query: SessionQuery, options: CallOptions): Promise<Session>
  stream(request: StreamRequest): Stream
}

/** A whole chain, or some of its tokens and pools. */
export type FollowRequest = ScopeRequest & {
  readonly chain_id: number
  readonly signal?: AbortSignal
  readonly backoff?: Partial<Backoff>
  readonly silenceMs?: number
  /** The client's clock; the system clock by default. */
  readonly now?: () => number
}

export type FollowStatus = 'resetting' | 'replaying' | 'live' | 'reconnecting' | 'closed'

export type FollowEvent =
  /** `reason` explains a reset or reconnect; null otherwise. */
  | { readonly kind: 'status'; readonly status: FollowStatus; readonly reason: string | null }
  /** A record that was not seen before. */
  | { readonly kind: 'record'; readonly record: Envelope }

/** Callbacks for `run`. A callback that throws ends it. */
export type FollowCallbacks = {
  readonly onStatus?: (status: FollowStatus, reason: string | null) => void
  /** The current state of a token: once for each after the snapshot, then after every record about it. */
  readonly onToken?: (token: FollowedToken) => void
  /** The current state of a pool, as for tokens; null when the pool was removed with its block. */
  readonly onPool?: (poolId: Id, pool: FollowedPool | null) => void
  readonly onSwap?: (swap: SwapEvent) => void
  readonly onHealth?: (health: Health) => void
  /** Each record as received, before any of the above. */
  readonly onRecord?: (record: Envelope) => void
}

export class Follower implements AsyncIterable<FollowEvent> {
  readonly #source: Source
  readonly #chainId: number
  readonly #backoff: Backoff
  readonly #silenceMs: number
  readonly #now: () => number
  readonly #scope: Scope
  readonly #market: Market
  readonly #closing = new AbortController()
  readonly #signal: AbortSignal
  #status: FollowStatus = 'resetting'
  /** Consecutive connections that brought no record. */
  #failures = 0
  /** A snapshot was read that the callbacks of `run` have not received yet. */
  #isUnseen = false
  /** The last session was refused for the sequence of a new snapshot. */
  #wasRefused = false

  constructor(source: Source, request: FollowRequest) {
    this.#source = source
    this.#chainId = request.chain_id
    this.#scope = new Scope(request)
    this.#market = new Market(this.#scope)
    this.#backoff = { ...DEFAULT_BACKOFF, ...request.backoff }
    this.#silenceMs = request.silenceMs ?? SILENCE_MS
    this.#now = request.now ?? Date.now
    this.#signal =
      request.signal === undefined
        ? this.#closing.signal
        : AbortSignal.any([request.signal, this.#closing.signal])
  }

  get status(): FollowStatus {
    return this.#status
  }

  /** The chain's newest feed health; null before the first. */
  get health(): Health | null {
    return this.#market.health
  }

  /** The last sequence applied; null while there is no snapshot. */
  get sequence(): number | null {
    return this.#market.sequence
  }

  /** Why the chain's feed is gone, as far as this client knows; null while it carries prices. */
  feedGone(nowMs: number = this.#now()): FeedGone | null {
    return this.#market.feed.gone(nowMs)
  }

  /** The token with its price at `nowMs`: a token whose price has expired, or whose feed is gone, is UNPRICED. */
  token(tokenId: Id, nowMs: number = this.#now()): FollowedToken | undefined {
    const held = this.#market.tokens.get(tokenId)
    return held === undefined ? undefined : presented(held, nowMs, this.feedGone(nowMs))
  }

  *tokens(nowMs: number = this.#now()): IterableIterator<FollowedToken> {
    const feedGone = this.feedGone(nowMs)
    for (const held of this.#market.tokens.values()) yield presented(held, nowMs, feedGone)
  }

  /** Tokens with the price of their last record, expired or not, for callers that apply expiry themselves. */
  storedTokens(): IterableIterator<FollowedToken> {
    return this.#market.tokens.values()
  }

  pool(poolId: Id): FollowedPool | undefined {
    return this.#market.pools.get(poolId)
  }

  pools(): IterableIterator<FollowedPool> {
    return this.#market.pools.values()
  }

  close(): void {
    this.#closing.abort()
  }

  /**
   * Follows until it is closed and calls back: first with the state of the snapshot, and again after a reset, then
   * with every change. Rejects with errors that no retry can fix.
   */
  async run(callbacks: FollowCallbacks): Promise<void> {
    for await (const event of this) {
      if (event.kind === 'record') this.#tell(event.record, callbacks)
      else {
        callbacks.onStatus?.(event.status, event.reason)
        this.#showSnapshot(callbacks)
      }
    }
    callbacks.onStatus?.('closed', null)
  }

  /** Called once the session is open: only then is it known whether the feed still supports the prices. */
  #showSnapshot({ onToken, onPool }: FollowCallbacks): void {
    if (!this.#isUnseen || this.#status !== 'replaying') return
    this.#isUnseen = false
    for (const token of this.tokens()) onToken?.(token)
    for (const pool of this.pools()) onPool?.(pool.pool_id, pool)
  }

  #tell(record: Envelope, { onRecord, onHealth, onSwap, onToken, onPool }: FollowCallbacks): void {
    onRecord?.(record)
    const { type, payload } = record
    if (type === 'FEED_HEALTH') onHealth?.(payload)
    else if (type === 'SWAP_OBSERVED') onSwap?.(payload)
    else if (payload.scope === 'pool') onPool?.(payload.pool_id, this.pool(payload.pool_id) ?? null)
    else {
      const token = this.token(payload.token_id)
      if (token !== undefined) onToken?.(token)
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FollowEvent, undefined> {
    try {
      yield* this.#run()
    } catch (error) {
      if (!this.#signal.aborted) throw error
    } finally {
      this.close()
      this.#status = 'closed'
    }
  }

  async *#run(): AsyncGenerator<FollowEvent, undefined> {
    yield this.#enter('resetting', null)
    for (;;) {
      const isFresh = this.#market.sequence === null
      if (isFresh) {
        this.#market.load(
          await readSnapshot(
            this.#source,
            this.#chainId,
            this.#scope.tokenAddresses,
            this.#backoff,
            this.#signal,
          ),
          this.#now(),
        )
        this.#isUnseen = true
      }
      const outcome = yield* this.#connect(this.#market.sequence as number, isFresh)
      if (outcome.kind === 'ENDED') return
      const why = reasonOf(outcome)
      this.#failures += 1
      const canRetry = outcome.kind !== 'CLOSED' || outcome.reconnect
      if (!canRetry || this.#failures >= this.#backoff.maxFailures)
        throw new AssayError({ code: 'STREAM_CLOSED', message: `the stream ended: ${why}` })
      if (outcome.kind === 'RESET_REQUIRED') this.#market.clear()
      yield this.#enter(outcome.kind === 'RESET_REQUIRED' ? 'resetting' : 'reconnecting', why)
      const askedMs = outcome.kind === 'CLOSED' ? (outcome.retryAfterMs ?? 0) : 0
      await wait(Math.max(askedMs, delayMs(this.#backoff, this.#failures)), this.#signal)
    }
  }

  /** One connection, from a new cursor after `sequence` to its end. */
  async *#connect(sequence: number, isFresh: boolean): AsyncGenerator<FollowEvent, StreamOutcome> {
    const session = await this.#createSession(sequence, isFresh)
    if (session === null) return { kind: 'RESET_REQUIRED', reason: 'SEQUENCE_REFUSED', serverTimeMs: null }
    const { feed, stream: log } = session
    this.#market.feed.opened(feed, this.#now())
    yield this.#enter('replaying', null)
    const stream = this.#source.stream({
      filter: { chain_ids: [this.#chainId] },
      resumeCursor: session.resume_cursor,
      signal: this.#signal,
      silenceMs: this.#silenceMs,
    })
    for await (const record of stream) {
      this.#failures = 0
      // An older service without `feed` in the session reports it only through its records.
      const isReplayed = feed !== undefined && record.stream_sequence <= log.head_sequence
      const isNews = this.#market.apply(record, this.#now(), isReplayed)
      if (this.#status !== 'live' && record.stream_sequence >= log.head_sequence)
        yield this.#enter('live', null)
      if (isNews) yield { kind: 'record', record }
    }
    return stream.outcome
  }

  /**
   * Null when the service does not know that sequence: its log has been replaced, perhaps since the snapshot. A
   * service that refuses its own fresh sequence a second time has another reason, which a new snapshot would not fix.
   */
  async #createSession(sequence: number, isFresh: boolean): Promise<Session | null> {
    const query = { chain_id: this.#chainId, snapshot_sequence: sequence }
    let session: Session
    try {
      session = await retrying(
        () => this.#source.createSession(query, { signal: this.#signal }),
        this.#backoff,
        this.#signal,
      )
    } catch (error) {
      const isRefused = error instanceof AssayError && error.status === 400
      if (!isRefused || (isFresh && this.#wasRefused)) throw error
      this.#wasRefused = isFresh
      return null
    }
    this.#wasRefused = false
    if (session.resume_cursor === null)
      throw new AssayError({ code: 'UNEXPECTED_ANSWER', message: 'a session for a chain without a cursor' })
    if (session.schema_version > SCHEMA_VERSION)
      throw new AssayError({
        code: 'SCHEMA_TOO_NEW',
        message: `the stream has schema version ${session.schema_version}, this SDK reads ${SCHEMA_VERSION}`,
      })
    return session
  }

  #enter(status: FollowStatus, reason: string | null): FollowEvent {
    this.#status = status
    return { kind: 'status', status, reason }
  }
}

function presented(held: FollowedToken, nowMs: number, feedGone: FeedGone | null): FollowedToken {
  if (held.price === null) return held
  const price = stateAt(held.price, nowMs, feedGone)
  return price === held.price ? held : { ...held, price }
}

/** Why a connection ended, in a word or two. */
function reasonOf(outcome: Exclude<StreamOutcome, { kind: 'ENDED' }>): string {
  if (outcome.kind === 'CLOSED') return `${outcome.code} ${outcome.reason}`.trimEnd()
  return outcome.kind === 'RESET_REQUIRED' ? outcome.reason : outcome.why
}
