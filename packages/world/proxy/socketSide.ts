/**
 * The proxy over WebSocket: one socket to the node per client socket. Calls and batches are answered, and messages
 * pushed by the node are passed on. A proxy can also push messages of its own to subscribers.
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { type Ask, type Delivery, type Outcome, pause } from './exchange.ts'
import { answerText, deliveryOf } from './message.ts'
import type { RpcAnswer, RpcCall } from './rule.ts'

type Message = RpcAnswer & { readonly id?: unknown; readonly method?: string; readonly params?: unknown }
type Pushed = { readonly subscription: string; readonly result: unknown }
type Handle = (calls: readonly RpcCall[], ask: Ask) => Promise<readonly Outcome[]>

export class SocketSide {
  readonly #near: WebSocket
  readonly #far: WebSocket
  readonly #handle: Handle
  readonly #signal: AbortSignal
  readonly #pending = new Map<number, (answer: RpcAnswer) => void>()
  /** Kind by id. */
  readonly #subscriptions = new Map<string, string>()
  #lastId = 0
  /** Pushed messages leave in order of arrival, however long each is held. */
  #pushing: Promise<void> = Promise.resolve()

  private constructor(near: WebSocket, far: WebSocket, handle: Handle, signal: AbortSignal) {
    this.#near = near
    this.#far = far
    this.#handle = handle
    this.#signal = signal
    far.on('message', data => this.#fromNode(JSON.parse((data as Buffer).toString()) as Message))
    near.on('message', data => {
      this.#answer((data as Buffer).toString()).catch(() => near.terminate())
    })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => other.terminate())
      socket.on('close', () => other.terminate())
    }
  }

  static async open(
    near: WebSocket,
    nodeUrl: string,
    handle: Handle,
    signal: AbortSignal,
  ): Promise<SocketSide> {
    const early: unknown[] = []
    const keep = (data: unknown): void => void early.push(data)
    near.on('message', keep)
    const far = new WebSocket(nodeUrl, { perMessageDeflate: false, maxPayload: 1 << 30 })
    try {
      await once(far, 'open')
    } catch (error) {
      near.terminate()
      throw error
    }
    near.off('message', keep)
    const side = new SocketSide(near, far, handle, signal)
    for (const data of early) near.emit('message', data)
    return side
  }

  /** Sends a notification to each subscription of this kind; returns their number. */
  push(kind: string, result: unknown): number {
    const ids = [...this.#subscriptions].filter(([, of]) => of === kind).map(([id]) => id)
    for (const subscription of ids) this.#send(notification({ subscription, result }))
    return ids.length
  }

  terminate(): void {
    this.#near.terminate()
    this.#far.terminate()
  }

  readonly #ask: Ask = ({ method, params }) =>
    new Promise(resolve => {
      const id = ++this.#lastId
      this.#pending.set(id, resolve)
      this.#far.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })

  async #answer(text: string): Promise<void> {
    const message = JSON.parse(text) as RpcCall | readonly RpcCall[]
    const calls = Array.isArray(message) ? (message as readonly RpcCall[]) : [message as RpcCall]
    const outcomes = await this.#handle(calls, this.#ask)
    const delivery = deliveryOf(outcomes)
    if (delivery === 'handled') return
    for (const [at, { method, params }] of calls.entries()) {
      const result = outcomes[at]?.answer?.result
      if (method === 'eth_subscribe' && typeof result === 'string')
        this.#subscriptions.set(result, String(params[0]))
    }
    await this.#deliver(answerText(calls, outcomes, Array.isArray(message)), delivery)
  }

  #fromNode(message: Message): void {
    if (message.method === 'eth_subscription') {
      const passed = this.#passOn(message.params as Pushed, this.#pushing)
      this.#pushing = passed.catch(() => this.#near.terminate())
      return
    }
    const { id, result, error } = message
    const resolve = this.#pending.get(id as number)
    this.#pending.delete(id as number)
    resolve?.(error === undefined ? { result } : { error })
  }

  async #passOn({ subscription, result }: Pushed, before: Promise<void>): Promise<void> {
    const kind = this.#subscriptions.get(subscription) ?? 'unknown'
    const call = { id: null, method: 'eth_subscription', params: [kind] }
    const [outcome] = await this.#handle([call], () => Promise.resolve({ result }))
    await before
    // A refused push is lost: there is no response to carry the error.
    if (outcome?.delivery === null && outcome.answer?.error === undefined)
      this.#send(notification({ subscription, result: outcome.answer?.result }))
  }

  async #deliver(text: string, delivery: Delivery | null): Promise<void> {
    switch (delivery?.kind) {
      case undefined:
        return this.#send(text)
      case 'drop':
        return this.#near.terminate()
      case 'status':
        return this.#near.close(1011, `${delivery.status}`)
      case 'truncate':
        return this.#send(text.slice(0, Math.floor(text.length * delivery.share)))
      case 'hang':
        return
      case 'drip':
        for (let at = 0; at < text.length && !this.#signal.aborted; at += delivery.bytes) {
          const isLast = at + delivery.bytes >= text.length
          this.#near.send(text.slice(at, at + delivery.bytes), { fin: isLast })
          await pause(delivery.everyMs, this.#signal)
        }
        return
      case 'body':
        return this.#send(delivery.body.repeat(delivery.repeat ?? 1))
    }
  }

  #send(text: string): void {
    if (this.#near.readyState === WebSocket.OPEN) this.#near.send(text)
  }
}

const notification = (params: Pushed): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
