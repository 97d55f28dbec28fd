/**
 * A service in memory for tests of following: a log, snapshots of it, cursors, and connections that a test
 * cuts where it likes. It speaks through `fetch` and `WebSocket` alone, as the real one does.
 */
import type { Feed } from '../wire/health.ts'
import type { PoolPage } from '../wire/pool.ts'
import type { Envelope, SubscribeFrame } from '../wire/stream.ts'
import type { Socket } from '../client/stream.ts'
import * as sample from './sample.ts'

type Listener = Parameters<Socket['addEventListener']>[1]
type HttpAnswer = { readonly status: number; readonly body?: unknown; readonly retryAfterS?: number }

/** One client's connection, seen from the service. */
export class ScriptedSocket implements Socket {
  frame: SubscribeFrame | null = null
  isClosed = false
  readonly #listeners = new Map<string, Listener[]>()
  readonly #subscribed: (socket: ScriptedSocket) => void

  constructor(subscribed: (socket: ScriptedSocket) => void) {
    this.#subscribed = subscribed
    queueMicrotask(() => this.#emit('open', {}))
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  send(text: string): void {
    this.frame = JSON.parse(text) as SubscribeFrame
    this.#subscribed(this)
  }

  /** By the client. */
  close(): void {
    this.isClosed = true
  }

  say(message: unknown): void {
    this.#emit('message', { data: JSON.stringify(message) })
  }

  reset(reason: string): void {
    this.say({ type: 'RESET_REQUIRED', payload: { reason, server_time_unix_ms: sample.NOW_MS } })
  }

  /** By the service, or by the network. */
  drop(code: number, reason = ''): void {
    this.isClosed = true
    this.#emit('close', { code, reason })
  }

  #emit(type: string, event: Parameters<Listener>[0]): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event)
  }
}

export class ScriptedService {
  /** Everything asked over HTTP, as `METHOD path?query`. */
  readonly asked: string[] = []
  /** Read page by page; a test replaces them for the next snapshot. */
  pages: readonly PoolPage[] = [sample.page(0, [])]
  headSequence = 0
  /** Extra fields next to a session; by default none, like an older service. */
  feed: Feed | undefined = undefined
  /** Taken before anything else is answered. */
  readonly failures: HttpAnswer[] = []
  /** Called with each client that has subscribed, and the sequence of its cursor. */
  onSubscribe: (socket: ScriptedSocket, after: number) => void = () => {}

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    init?.signal?.throwIfAborted()
    const url = new URL(input instanceof Request ? input.url : input)
    this.asked.push(`${init?.method} ${url.pathname}${url.search}`)
    const { status, body, retryAfterS } = this.failures.shift() ?? this.#answer(url)
    const headers = retryAfterS === undefined ? {} : { 'retry-after': `${retryAfterS}` }
    return new Response(body === undefined ? null : JSON.stringify(body), { status, headers })
  }

  /** The constructor a client is given. */
  get WebSocket() {
    const subscribed = (socket: ScriptedSocket) =>
      this.onSubscribe(socket, Number(socket.frame?.resume_cursor?.replace('after-', '')))
    return class extends ScriptedSocket {
      constructor() {
        super(subscribed)
      }
    }
  }

  #answer(url: URL): HttpAnswer {
    if (url.pathname === '/v1/session') {
      const after = url.searchParams.get('snapshot_sequence')
      return { status: 200, body: sample.session(`after-${after}`, this.headSequence, this.feed) }
    }
    const at = Number(url.searchParams.get('cursor') ?? 0)
    const next = at + 1 < this.pages.length ? `${at + 1}` : null
    return { status: 200, body: { ...this.pages[at], next_cursor: next } }
  }
}

/** Replays a log to every subscriber, and stays open. */
export const replaying =
  (log: readonly Envelope[]) =>
  (socket: ScriptedSocket, after: number): void => {
    for (const record of log) if (record.stream_sequence > after) socket.say(record)
  }
