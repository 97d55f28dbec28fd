/** The target as an attack sees it: where it is, its keys, and how long an honest client beside the attack waits. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Memory, Order, Told } from './target.ts'

const TARGET = fileURLToPath(new URL('target.ts', import.meta.url))

export class Victim {
  readonly url: string
  readonly port: number
  /** At the beginning of its log. */
  readonly cursor: string
  readonly key: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, told: { url: string; cursor: string; key: string }) {
    this.#child = child
    this.url = told.url
    this.port = Number(new URL(told.url).port)
    this.cursor = told.cursor
    this.key = told.key
  }

  static async start(): Promise<Victim> {
    const child = fork(TARGET, { execArgv: ['--expose-gc'] })
    const [told] = (await once(child, 'message')) as [{ url: string; cursor: string; key: string }]
    return new Victim(child, told)
  }

  async #order(order: Order): Promise<Told> {
    this.#child.send(order)
    const [told] = (await once(this.#child, 'message')) as [Told]
    return told
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

  /** A connection from one of the addresses of this machine; what came over it, and whether it is over. */
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

  /** The longest of some honest requests over connections of their own, in milliseconds; null when one was refused. */
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

/** Of an answer its head is enough. */
const KEPT = 4096

export type Held = { readonly socket: Socket; text: string; isOver: boolean }

export const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Until it holds, or so long; the milliseconds it took, null when it never did. */
export async function within(limitMs: number, holds: () => boolean): Promise<number | null> {
  const startMs = performance.now()
  while (!holds()) {
    if (performance.now() - startMs > limitMs) return null
    await wait(20)
  }
  return performance.now() - startMs
}
