/**
 * The target as an attack sees it: its address, its keys, and the waiting time of an honest client during the attack.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Memory, Order, Message } from './target.ts'

const TARGET = fileURLToPath(new URL('target.ts', import.meta.url))

export class Victim {
  readonly url: string
  readonly port: number
  /** At the start of its log. */
  readonly cursor: string
  readonly key: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, message: { url: string; cursor: string; key: string }) {
    this.#child = child
    this.url = message.url
    this.port = Number(new URL(message.url).port)
    this.cursor = message.cursor
    this.key = message.key
  }

  static async start(): Promise<Victim> {
    const child = fork(TARGET, { execArgv: ['--expose-gc'] })
    const [message] = (await once(child, 'message')) as [{ url: string; cursor: string; key: string }]
    return new Victim(child, message)
  }

  async #order(order: Order): Promise<Message> {
    this.#child.send(order)
    const [message] = (await once(this.#child, 'message')) as [Message]
    return message
  }

  async newKey(): Promise<string> {
    return ((await this.#order('key')) as { key: string }).key
  }

  async revoke(key: string): Promise<void> {
    await this.#order({ revoke: key.split('_')[1] ?? '' })
  }

  async streams(): Promise<number> {
    return ((await this.#order('streams')) as { streams: number }).streams
  }

  async memory(): Promise<Memory> {
    return (await this.#order('memory')) as Memory
  }

  /**
   * A connection from one of the addresses of this machine, with the data received over it, and whether it has ended.
   */
  hold(first: string, localAddress = '127.0.0.1'): Held {
    const socket = connect({ port: this.port, host: '127.0.0.1', localAddress })
    const held: Held = { socket, text: '', isOver: false }
    socket.on('error', () => undefined)
    socket.on('data', part => {
      if (held.text.length < KEPT) held.text += String(part)
    })
    socket.on('close', () => {
      held.isOver = true
    })
    if (first !== '') socket.write(first)
    return held
  }

  /** The slowest of several honest requests over separate connections, in milliseconds; null when one was refused. */
  async honestMs(requests = 10): Promise<number | null> {
    let longest = 0
    for (let n = 0; n < requests; n++) {
      const startMs = performance.now()
      const headers = { authorization: `Bearer ${this.key}`, connection: 'close' }
      const status = await fetch(`${this.url}/v1/chains`, { headers }).then(
        async answer => {
          await answer.text()
          return answer.status
        },
        () => 0,
      )
      if (status !== 200) return null
      longest = Math.max(longest, performance.now() - startMs)
    }
    return longest
  }

  async stop(): Promise<void> {
    this.#child.kill()
    await once(this.#child, 'exit')
  }
}

/** Only the head of an answer is needed. */
const KEPT = 4096

export type Held = { readonly socket: Socket; text: string; isOver: boolean }

export const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Waits until it holds, up to the limit; returns the elapsed milliseconds, or null when it never held. */
export async function within(limitMs: number, holds: () => boolean): Promise<number | null> {
  const startMs = performance.now()
  while (!holds()) {
    if (performance.now() - startMs > limitMs) return null
    await wait(20)
  }
  return performance.now() - startMs
}
