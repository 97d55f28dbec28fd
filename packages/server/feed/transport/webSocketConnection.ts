/**
 * JSON-RPC over one WebSocket, with pushed heads. Any breach of the protocol (a late, oversized or unreadable answer)
 * ends the socket, because later messages could not be matched to calls reliably.
 *
 * A message arrives whole, so a large answer is buffered once; it is parsed in parts, with other work in between.
 */
import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { mostBytesOf, notJson, parseAnswer, STREAM_FROM, toAnswer } from '../answers/answerReader.ts'
import { AnswerStream, AnswerTooLarge, NotAnAnswer } from '../answers/answerStream.ts'
import {
  type Connection,
  type ConnectionOptions,
  encodeCall,
  resultOf,
  timedOut,
  tooLarge,
} from './connection.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { noteArrival } from './arrival.ts'
import { ByteMeter } from './answerTimeLimit.ts'

/** Large messages are parsed in parts of this size: about a millisecond of work each. */
const PART = 256 * 1024
/** Interval between checks of a call past its deadline while the socket is still receiving an answer. */
const LOOK_MS = 1000
/** A larger message takes long enough to make its call look late. */
const LARGE_BYTES = 64 * 1024

type Pending = {
  readonly method: string
  readonly signal: AbortSignal
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

export async function openWebSocket(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
  const { address, limits } = options
  signal.throwIfAborted()
  const socket = new WebSocket(address.dial(), {
    handshakeTimeout: limits.deadlineMs,
    maxPayload: limits.answerBytes,
    perMessageDeflate: false,
    followRedirects: false,
  })
  const connection = new SocketConnection(socket, options)
  try {
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error)
      signal.addEventListener('abort', onAbort, { once: true })
      socket.once('open', () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      })
      connection.onLost = error => {
        signal.removeEventListener('abort', onAbort)
        reject(error)
      }
    })
  } catch (error) {
    connection.close()
    throw error
  }
  connection.onLost = null
  return connection
}

class SocketConnection implements Connection {
  readonly #socket: WebSocket
  readonly #options: ConnectionOptions
  readonly #pending = new Map<number, Pending>()
  readonly #listeners = new Map<string, (head: unknown) => void>()
  readonly #meter: ByteMeter
  /** Bytes since the last whole message. */
  #partBytes = 0
  /** Number of large messages being parsed. */
  #reading = 0
  #lastId = 0
  #isOver = false
  onLost: ((error: FeedError) => void) | null = null
  /** Calls that are made together already leave together. */
  readonly batch = null

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.#meter = new ByteMeter(options.limits)
    socket.on('upgrade', (response: IncomingMessage) => {
      response.socket.on('data', chunk => this.#arrive(chunk.length))
    })
    socket.on('message', data => this.#receive(data as Buffer))
    socket.on('error', error => this.#fail(this.#failureOf(error)))
    socket.on('close', () => this.#fail(this.#gone()))
  }

  async call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    if (this.#isOver) throw this.#gone()
    const id = ++this.#lastId
    const startedMs = performance.now()
    let timer: NodeJS.Timeout | undefined
    let onAbort: (() => void) | undefined
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.set(id, { method, signal, resolve, reject })
        const look = (): void => {
          const expiry = this.#expiry(startedMs)
          if (expiry === null) timer = setTimeout(look, LOOK_MS)
          else this.#fail(timedOut(this.#options, method, expiry))
        }
        timer = setTimeout(look, this.#options.limits.deadlineMs)
        onAbort = () => reject(signal.reason as Error)
        signal.addEventListener('abort', onAbort, { once: true })
        this.#socket.send(encodeCall(id, method, params), error => {
          if (error instanceof Error) this.#fail(this.#gone())
        })
      })
    } finally {
      this.#pending.delete(id)
      clearTimeout(timer)
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Whether a call that began at `startedMs` has waited too long. While a large answer arrives, the others wait behind
   * it.
   */
  #expiry(startedMs: number): 'start' | 'length' | null {
    const nowMs = performance.now()
    if (nowMs - startedMs > this.#options.limits.longestMs) return 'length'
    return this.#reading > 0 || this.#meter.isFlowing(nowMs) ? null : 'start'
  }

  readonly subscribe = async (onHead: (head: unknown) => void, signal: AbortSignal): Promise<void> => {
    const id = await this.call('eth_subscribe', ['newHeads'], signal)
    if (typeof id !== 'string')
      throw new FeedError('ANSWER_MALFORMED', this.#options.name, 'a subscription has no id')
    this.#listeners.set(id, onHead)
  }

  /** Only the last bytes show which call an answer belongs to: while a large one arrives, no call is late. */
  #arrive(bytes: number): void {
    this.#meter.received(bytes, performance.now())
    this.#partBytes += bytes
    if (this.#partBytes > LARGE_BYTES) for (const { signal } of this.#pending.values()) noteArrival(signal)
  }

  close(): void {
    this.onLost = null
    this.#fail(this.#gone())
  }

  #receive(bytes: Buffer): void {
    this.#partBytes = 0
    if (bytes.length > STREAM_FROM) {
      void this.#receiveLarge(bytes)
      return
    }
    this.#guarded(() => this.#handle(parseAnswer(bytes, this.#options.name), bytes.length))
  }

  async #receiveLarge(bytes: Buffer): Promise<void> {
    const stream = new AnswerStream(this.#options.limits.answerBytes)
    this.#reading++
    try {
      for (let at = 0; at < bytes.length && !this.#isOver; at += PART) {
        stream.push(bytes.subarray(at, at + PART))
        await setImmediate()
      }
      if (this.#isOver) return
      const answer = toAnswer(stream.end(), this.#options.name)
      this.#guarded(() => this.#handle(answer, bytes.length))
    } catch (error) {
      if (error instanceof NotAnAnswer) this.#fail(notJson(this.#options.name))
      else if (error instanceof AnswerTooLarge) this.#fail(this.#tooLarge('a call', bytes.length))
      else if (isFeedError(error)) this.#fail(error)
      else throw error
    } finally {
      this.#reading--
    }
  }

  #handle(message: ReturnType<typeof toAnswer>, size: number): void {
    if (message['method'] === 'eth_subscription') return this.#push(message['params'])
    const pending = this.#pendingOf(message.id)
    if (pending === undefined) return
    this.#options.onAnswer?.(pending.method, size)
    const most = mostBytesOf(pending.method, this.#options.limits)
    if (size > most) throw this.#tooLarge(pending.method, most)
    try {
      pending.resolve(resultOf(message, this.#options, pending.method))
    } catch (error) {
      pending.reject(error as Error)
    }
  }

  #guarded(step: () => void): void {
    try {
      step()
    } catch (error) {
      if (!isFeedError(error)) throw error
      this.#fail(error)
    }
  }

  #tooLarge(method: string, bytes: number): FeedError {
    return tooLarge(this.#options, method, bytes)
  }

  /** Undefined for a call that its caller abandoned; an id we never sent is the endpoint's fault. */
  #pendingOf(id: unknown): Pending | undefined {
    if (typeof id === 'number' && id >= 1 && id <= this.#lastId) return this.#pending.get(id)
    throw new FeedError('ANSWER_MALFORMED', this.#options.name, 'answered a call that was never made')
  }

  #push(params: unknown): void {
    const { subscription, result } = (params ?? {}) as {
      readonly subscription?: string
      readonly result?: unknown
    }
    if (subscription !== undefined) this.#listeners.get(subscription)?.(result)
  }

  #fail(error: FeedError): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
    this.#socket.terminate()
    this.onLost?.(error)
  }

  /** Only codes and statuses, because the library's messages contain the host. */
  #failureOf(error: Error & { readonly code?: string }): FeedError {
    const { name } = this.#options
    if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
      return this.#tooLarge('a call', this.#options.limits.answerBytes)
    if (this.#socket.readyState === WebSocket.OPEN) return this.#gone()
    const status = /response: (\d{3})$/.exec(error.message)?.[1]
    const why = error.code ?? (status === undefined ? 'the handshake failed' : `HTTP ${status}`)
    return new FeedError('ENDPOINT_UNREACHABLE', name, `the WebSocket could not be opened: ${why}`)
  }

  #gone(): FeedError {
    return new FeedError('ENDPOINT_UNREACHABLE', this.#options.name, 'the WebSocket is closed')
  }
}
