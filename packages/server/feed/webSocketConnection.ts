/**
 * JSON-RPC over one WebSocket, with pushed heads. Anything that breaks the protocol (a late, oversized or
 * unreadable answer) ends the socket: what follows on it could not be trusted to belong to a call.
 */
import { WebSocket } from 'ws'
import {
  type Connection,
  type ConnectionOptions,
  encodeCall,
  parseAnswer,
  resultOf,
  timedOut,
  tooLarge,
} from './connection.ts'
import { startDeadline } from './deadline.ts'
import { FeedError, isFeedError } from './feedError.ts'

type Pending = {
  readonly method: string
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

export async function openWebSocket(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
  const { address, limits } = options
  signal.throwIfAborted()
  const socket = new WebSocket(address.dial(), {
    handshakeTimeout: limits.deadlineMs,
    maxPayload: limits.bodyBytes,
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
  #lastId = 0
  #isOver = false
  onLost: ((error: FeedError) => void) | null = null

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('message', data => this.#receive(data as Buffer))
    socket.on('error', error => this.#fail(this.#failureOf(error)))
    socket.on('close', () => this.#fail(this.#gone()))
  }

  async call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    if (this.#isOver) throw this.#gone()
    const id = ++this.#lastId
    const deadline = startDeadline(signal, this.#options.limits.deadlineMs)
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.set(id, { method, resolve, reject })
        deadline.signal.addEventListener('abort', () => {
          if (deadline.isExpired()) this.#fail(timedOut(this.#options, method))
          else reject(signal.reason as Error)
        })
        this.#socket.send(encodeCall(id, method, params), error => {
          if (error instanceof Error) this.#fail(this.#gone())
        })
      })
    } finally {
      this.#pending.delete(id)
      deadline.release()
    }
  }

  readonly subscribe = async (onHead: (head: unknown) => void, signal: AbortSignal): Promise<void> => {
    const id = await this.call('eth_subscribe', ['newHeads'], signal)
    if (typeof id !== 'string')
      throw new FeedError('ANSWER_MALFORMED', this.#options.name, 'a subscription has no id')
    this.#listeners.set(id, onHead)
  }

  close(): void {
    this.onLost = null
    this.#fail(this.#gone())
  }

  #receive(bytes: Buffer): void {
    try {
      const message = parseAnswer(bytes, this.#options.name)
      if (message['method'] === 'eth_subscription') return this.#push(message['params'])
      const pending = this.#pendingOf(message.id)
      if (pending === undefined) return
      try {
        pending.resolve(resultOf(message, this.#options, pending.method))
      } catch (error) {
        pending.reject(error as Error)
      }
    } catch (error) {
      if (!isFeedError(error)) throw error
      this.#fail(error)
    }
  }

  /** Undefined for a call its caller gave up; an id we never sent is the endpoint's fault. */
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

  /** Codes and statuses alone: the library's messages name the host. */
  #failureOf(error: Error & { readonly code?: string }): FeedError {
    const { name } = this.#options
    if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return tooLarge(this.#options)
    if (this.#socket.readyState === WebSocket.OPEN) return this.#gone()
    const status = /response: (\d{3})$/.exec(error.message)?.[1]
    const why = error.code ?? (status === undefined ? 'the handshake failed' : `HTTP ${status}`)
    return new FeedError('ENDPOINT_UNREACHABLE', name, `the WebSocket could not be opened: ${why}`)
  }

  #gone(): FeedError {
    return new FeedError('ENDPOINT_UNREACHABLE', this.#options.name, 'the WebSocket is closed')
  }
}
