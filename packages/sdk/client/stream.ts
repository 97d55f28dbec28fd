/**
 * One connection of the stream: an async iterator over envelopes that ends with an outcome.
 *
 * Iteration never throws because the connection ended. `outcome` states how it ended, and `follow` acts on it. With
 * an API key the handshake carries it in a header, which Node's WebSocket can send and a browser cannot: in a
 * browser, exchange the key once (`createSession`) and stream with the session cookie.
 */
import { type ResetReason, shouldReconnect } from '../wire/error.ts'
import type { Id } from '../wire/identifier.ts'
import type { Known } from '../wire/schema.ts'
import type { Envelope, StreamMessage, SubscribeFrame } from '../wire/stream.ts'
import { Inbox } from './inbox.ts'

/** About 20 MB of records. A reader further behind is disconnected and can resume. */
const MAX_QUEUED = 10_000

type SocketEvent = { readonly data?: unknown; readonly code?: number; readonly reason?: string }

/** The parts of a WebSocket in use. Every platform has its own event types; `any` fits them all. */
export type Socket = {
  send(text: string): void
  close(code?: number): void
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: any) => void): void
}
/** Node's WebSocket and `ws` accept headers as the second argument; a browser's gets none. */
export type SocketConstructor = new (url: string, init?: any) => Socket

export type StreamRequest = {
  /** Ids may have any case and order. Empty or absent lists are no constraint. */
  readonly filter: {
    readonly chain_ids: readonly number[]
    readonly pool_ids?: readonly string[]
    readonly token_ids?: readonly string[]
    readonly types?: SubscribeFrame['filter']['types']
  }
  /** Null or absent starts live. A cursor needs a filter of exactly its chain and nothing narrower. */
  readonly resumeCursor?: string | null
  readonly signal?: AbortSignal
  /** Closes a connection that is silent for this long; FEED_HEALTH arrives every 15 s per chain. */
  readonly silenceMs?: number
}

export type StreamOutcome =
  /** The cursor cannot be resumed: take a snapshot. */
  | {
      readonly kind: 'RESET_REQUIRED'
      readonly reason: Known<ResetReason>
      readonly serverTimeMs: number | null
    }
  /** Closed by the service or the network. `lastSequence` is the last delivered sequence according to a 1013. */
  | {
      readonly kind: 'CLOSED'
      readonly code: number
      readonly reason: string
      readonly lastSequence: number | null
      /** How long a 1012 asks clients to stay away, so that they do not all return at once. */
      readonly retryAfterMs: number | null
      readonly reconnect: boolean
    }
  /** Closed by this side. */
  | { readonly kind: 'GIVEN_UP'; readonly why: 'SILENCE' | 'OVERFLOW' | 'MALFORMED' }
  /** `close()`, the signal, or the reader leaving its loop. */
  | { readonly kind: 'ENDED' }

export class Stream implements AsyncIterable<Envelope> {
  /** Resolves when the connection is over; never rejects. */
  readonly outcome: Promise<StreamOutcome>
  readonly #inbox = new Inbox<Envelope>(MAX_QUEUED)
  readonly #socket: Socket
  readonly #silenceMs: number | null
  readonly #signal: AbortSignal | null
  readonly #settle: (outcome: StreamOutcome) => void
  #isOver = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(socket: Socket, request: StreamRequest) {
    const { promise, resolve } = Promise.withResolvers<StreamOutcome>()
    this.outcome = promise
    this.#settle = resolve
    this.#socket = socket
    this.#silenceMs = request.silenceMs ?? null
    this.#signal = request.signal ?? null
    const frame = JSON.stringify(frameOf(request))
    socket.addEventListener('open', () => {
      if (!this.#isOver) socket.send(frame)
    })
    socket.addEventListener('message', (event: SocketEvent) => this.#receive(event.data))
    // The event carries no information and a close follows, but the `ws` package throws an error event without a
    // listener.
    socket.addEventListener('error', () => {})
    socket.addEventListener('close', (event: SocketEvent) => this.#over(closed(event)))
    this.#signal?.addEventListener('abort', this.close)
    if (this.#signal?.aborted === true) this.close()
    this.#watch()
  }

  /** Ends the connection and the iteration; queued records are dropped. */
  readonly close = (): void => {
    this.#over({ kind: 'ENDED' })
    this.#inbox.clear()
  };

  [Symbol.asyncIterator](): AsyncIterator<Envelope, undefined> {
    return {
      next: () => this.#inbox.next(),
      return: () => {
        this.close()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  #receive(data: unknown): void {
    if (this.#isOver) return
    this.#watch()
    const message = messageOf(data)
    if (message === null) this.#over({ kind: 'GIVEN_UP', why: 'MALFORMED' })
    else if (message.type === 'RESET_REQUIRED') {
      const { reason, server_time_unix_ms } = message.payload
      this.#over({ kind: 'RESET_REQUIRED', reason, serverTimeMs: server_time_unix_ms })
    } else if (!this.#inbox.push(message)) this.#over({ kind: 'GIVEN_UP', why: 'OVERFLOW' })
  }

  /** Only the first outcome counts: the close event that follows our own close adds nothing. */
  #over(outcome: StreamOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener('abort', this.close)
    if (outcome.kind !== 'CLOSED') this.#socket.close(1000)
    this.#inbox.end()
    this.#settle(outcome)
  }

  #watch(): void {
    if (this.#silenceMs === null || this.#isOver) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#over({ kind: 'GIVEN_UP', why: 'SILENCE' }), this.#silenceMs)
  }
}

/** The frame in the form the service requires: lower case, ascending, unique. */
function frameOf({ filter, resumeCursor }: StreamRequest): SubscribeFrame {
  return {
    filter: {
      chain_ids: [...new Set(filter.chain_ids)].sort((a, b) => a - b),
      pool_ids: idsOf(filter.pool_ids),
      token_ids: idsOf(filter.token_ids),
      ...(filter.types === undefined ? {} : { types: [...new Set(filter.types)].sort() }),
    },
    resume_cursor: resumeCursor ?? null,
  }
}

const idsOf = (ids: readonly string[] = []): Id[] =>
  [...new Set(ids.map(id => id.toLowerCase() as Id))].sort()

/** Null for data that is not a message of the stream. An unknown type passes, because it has a sequence. */
function messageOf(data: unknown): StreamMessage | null {
  if (typeof data !== 'string') return null
  let message: { type?: unknown; payload?: unknown; stream_sequence?: unknown } | null
  try {
    message = JSON.parse(data) as typeof message
  } catch {
    return null
  }
  const isWhole =
    typeof message === 'object' &&
    message !== null &&
    typeof message.type === 'string' &&
    typeof message.payload === 'object' &&
    message.payload !== null &&
    (message.type === 'RESET_REQUIRED' || Number.isSafeInteger(message.stream_sequence))
  return isWhole ? (message as StreamMessage) : null
}

function closed({ code = 1006, reason = '' }: SocketEvent): StreamOutcome {
  const last = /^last_sequence=([0-9]{1,16})$/.exec(reason)?.[1]
  const later = /\bretry_after_ms=([0-9]{1,6})$/.exec(reason)?.[1]
  return {
    kind: 'CLOSED',
    code,
    reason,
    lastSequence: last === undefined ? null : Number(last),
    retryAfterMs: later === undefined ? null : Number(later),
    reconnect: shouldReconnect(code),
  }
}
