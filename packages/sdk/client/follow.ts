/**
 * Following a chain: snapshot, cursor, replay, live; and all of it again when the service says so.
 *
 * The follower holds the current state of every token and pool and moves only while it is iterated. A
 * dropped connection is resumed after the last record applied; a refused cursor starts from a new snapshot.
 * It ends quietly by `close()`, the signal or leaving the loop, and throws only what no retry can help.
 */
import type { Health } from '../wire/health.ts'
import type { Id } from '../wire/identifier.ts'
import { MAX_PAGE_LIMIT } from '../wire/page.ts'
import type { PoolPage, PoolsQuery } from '../wire/pool.ts'
import type { Session, SessionQuery } from '../wire/session.ts'
import { type Envelope, SCHEMA_VERSION } from '../wire/stream.ts'
import { type Backoff, DEFAULT_BACKOFF, delayMs, retrying, wait } from './backoff.ts'
import { stateAt } from './expiry.ts'
import { AssayError } from './failure.ts'
import type { CallOptions } from './http.ts'
import { type FollowedPool, type FollowedToken, Market } from './market.ts'
import type { Stream, StreamOutcome, StreamRequest } from './stream.ts'

/** Four missed health records. */
const SILENCE_MS = 60_000

/** Ten million pools: a service that pages further than this is going round in circles. */
const MAX_SNAPSHOT_PAGES = 10_000

/** What following needs of a client. */
export type Source = {
  fetchPools(query: PoolsQuery, options: CallOptions): Promise<PoolPage>
  createSession(query: SessionQuery, options: CallOptions): Promise<Session>
  stream(request: StreamRequest): Stream
}

export type FollowRequest = {
  readonly chain_id: number
  readonly signal?: AbortSignal
  readonly backoff?: Partial<Backoff>
  readonly silenceMs?: number
}

export type FollowStatus = 'resetting' | 'replaying' | 'live' | 'reconnecting' | 'closed'

export type FollowEvent =
  /** `reason`: why it resets or reconnects; null otherwise. */
  | { readonly kind: 'status'; readonly status: FollowStatus; readonly reason: string | null }
  /** A record that was news. */
  | { readonly kind: 'record'; readonly record: Envelope }

export class Follower implements AsyncIterable<FollowEvent> {
  readonly #source: Source
  readonly #chainId: number
  readonly #backoff: Backoff
  readonly #silenceMs: number
  readonly #market = new Market()
  readonly #closing = new AbortController()
  readonly #signal: AbortSignal
  #status: FollowStatus = 'resetting'

  constructor(source: Source, request: FollowRequest) {
    this.#source = source
    this.#chainId = request.chain_id
    this.#backoff = { ...DEFAULT_BACKOFF, ...request.backoff }
    this.#silenceMs = request.silenceMs ?? SILENCE_MS
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

  /** With its price as it holds at `nowMs`: an expired one is UNPRICED. */
  token(tokenId: Id, nowMs: number = Date.now()): FollowedToken | undefined {
    const held = this.#market.tokens.get(tokenId)
    return held === undefined ? undefined : presented(held, nowMs)
  }

  *tokens(nowMs: number = Date.now()): IterableIterator<FollowedToken> {
    for (const held of this.#market.tokens.values()) yield presented(held, nowMs)
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

  async *#run(): AsyncGenerator<FollowEvent> {
    let failures = 0
    let reason: string | null = null
    for (;;) {
      if (this.#market.sequence === null) {
        yield this.#enter('resetting', reason)
        this.#market.load(await this.#snapshot())
      }
      const session = await this.#session()
      if (session === null) reason = 'SESSION_REFUSED'
      else {
        yield this.#enter('replaying', null)
        const stream = this.#source.stream({
          filter: { chain_ids: [this.#chainId] },
          resumeCursor: session.resume_cursor,
          signal: this.#signal,
          silenceMs: this.#silenceMs,
        })
        for await (const record of stream) {
          failures = 0
          const isNews = this.#market.apply(record)
          if (this.#status !== 'live' && record.stream_sequence >= session.stream.head_sequence)
            yield this.#enter('live', null)
          if (isNews) yield { kind: 'record', record }
        }
        const outcome = await stream.outcome
        if (outcome.kind === 'ENDED') return
        reason = this.#settle(outcome)
      }
      failures += 1
      if (failures >= this.#backoff.maxFailures) throw givenUp(reason, null)
      if (session === null || this.#market.sequence === null) this.#market.clear()
      else yield this.#enter('reconnecting', reason)
      await wait(delayMs(this.#backoff, failures), this.#signal)
    }
  }

  /** What the end of a connection means for the state, in a word. */
  #settle(outcome: Exclude<StreamOutcome, { kind: 'ENDED' }>): string {
    switch (outcome.kind) {
      case 'RESET_REQUIRED':
        this.#market.clear()
        return outcome.reason
      case 'CLOSED':
        if (!outcome.reconnect) throw givenUp(`${outcome.code} ${outcome.reason}`, outcome.code)
        return `${outcome.code} ${outcome.reason}`.trimEnd()
      case 'GIVEN_UP':
        return outcome.why
    }
  }

  #enter(status: FollowStatus, reason: string | null): FollowEvent {
    this.#status = status
    return { kind: 'status', status, reason }
  }

  async #snapshot(): Promise<PoolPage[]> {
    const pages: PoolPage[] = []
    let cursor: string | null = null
    do {
      if (pages.length >= MAX_SNAPSHOT_PAGES) throw givenUp(`a snapshot of over ${pages.length} pages`, null)
      const query: PoolsQuery = {
        chain_id: this.#chainId,
        limit: MAX_PAGE_LIMIT,
        ...(cursor === null ? {} : { cursor }),
      }
      const page: PoolPage = await this.#retrying(options => this.#source.fetchPools(query, options))
      pages.push(page)
      cursor = page.next_cursor
    } while (cursor !== null)
    return pages
  }

  /** A cursor after the last sequence; null when the service does not know that sequence any more. */
  async #session(): Promise<Session | null> {
    const query = { chain_id: this.#chainId, snapshot_sequence: this.#market.sequence as number }
    try {
      const session = await this.#retrying(options => this.#source.createSession(query, options))
      if (session.schema_version > SCHEMA_VERSION)
        throw new AssayError({
          code: 'SCHEMA_TOO_NEW',
          message: `the stream has schema version ${session.schema_version}, this SDK reads ${SCHEMA_VERSION}`,
        })
      return session
    } catch (error) {
      if (error instanceof AssayError && error.status === 400) return null
      throw error
    }
  }

  #retrying<Result>(attempt: (options: CallOptions) => Promise<Result>): Promise<Result> {
    return retrying(() => attempt({ signal: this.#signal }), this.#backoff, this.#signal)
  }
}

function presented(held: FollowedToken, nowMs: number): FollowedToken {
  if (held.price === null) return held
  const price = stateAt(held.price, nowMs)
  return price === held.price ? held : { ...held, price }
}

const givenUp = (reason: string | null, code: number | null): AssayError =>
  new AssayError({
    code: 'STREAM_CLOSED',
    message: code === null ? `following ended: ${reason}` : `the stream was closed: ${reason}`,
  })
