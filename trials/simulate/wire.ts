/**
 * One connection between a subscriber and a client: bytes with a latency, a socket that stalls and fills up, and cuts
 * that lose everything in transit. The server's end is a subscriber's sink, the client's a WebSocket.
 */
import type { Random } from '../../packages/engine/testing/randomMarket.ts'
import type { ResetReason } from '../../packages/sdk/wire/error.ts'
import type { Socket } from '../../packages/sdk/client/stream.ts'
import { resetMessage } from '../../packages/server/stream/streamStart.ts'
import type { Sink } from '../../packages/server/stream/subscriber.ts'
import type { VirtualTime } from './virtualTime.ts'

/** The server's handler for a connection. */
export type Door = { onFrame(text: string): void; onGone(): void }

type Sent = { readonly texts: readonly string[] } | { readonly code: number; readonly reason: string }
type Event = { readonly data?: string; readonly code?: number; readonly reason?: string }

const ABNORMAL = 1006

export class Wire implements Sink, Socket {
  readonly #time: VirtualTime
  readonly #random: Random
  readonly #onText: (text: string) => void
  readonly #latencyMs: number
  readonly #listeners = new Map<string, ((event: Event) => void)[]>()
  readonly #queue: { readonly bytes: number; readonly sent: Sent; readonly done: () => void }[] = []
  /** In transit to the client, oldest first. */
  readonly #underWay: Sent[] = []
  #door: Door | null = null
  #buffered = 0
  #stalledUntilMs = 0
  #isOver = false
  #closedWith: number | null = null

  constructor(time: VirtualTime, random: Random, onText: (text: string) => void) {
    this.#time = time
    this.#random = random
    this.#onText = onText
    this.#latencyMs = 1 + random.below(120)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** The close code sent by either end, whether or not it was received. */
  get closedWith(): number | null {
    return this.#closedWith
  }

  /** Reaches the server, which may accept or refuse it. */
  open(accept: (wire: Wire) => Door | null): void {
    this.#later(() => {
      this.#door = accept(this)
      if (this.#door === null) this.#end(ABNORMAL, 'refused')
      else this.#later(() => this.#dispatch('open', {}))
    })
  }

  // The client's end.

  addEventListener(type: string, listener: (event: Event) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  send(text: string): void {
    this.#later(() => this.#door?.onFrame(text))
  }

  // The server's end; both may close.

  write(bytes: Buffer, done: () => void): boolean {
    this.#time.touch()
    const sent = { texts: textsIn(bytes) }
    if (!this.#isStalled()) {
      this.#deliver(sent)
      return true
    }
    this.#buffered += bytes.length
    this.#queue.push({ bytes: bytes.length, sent, done })
    return false
  }

  buffered(): number {
    return this.#buffered
  }

  undrained(): number {
    return this.#buffered
  }

  close(code = 1000, reason = ''): void {
    this.#closedWith ??= code
    const sent = { code, reason }
    if (this.#isStalled()) this.#queue.push({ bytes: 0, sent, done: () => undefined })
    else this.#deliver(sent)
  }

  reset(reason: ResetReason): void {
    this.#deliver({ texts: [resetMessage(reason, this.#time.nowMs)] })
    this.close(1000, reason)
  }

  destroy(): void {
    this.cut()
  }

  // Faults of the connection.

  stall(forMs: number): void {
    this.#stalledUntilMs = this.#time.nowMs + forMs
    this.#time.after(forMs, () => this.#drain())
  }

  /** Everything in transit is lost, except the part that had just arrived. */
  cut(): void {
    if (this.#isOver) return
    const [next] = this.#underWay
    if (next !== undefined && 'texts' in next)
      for (const text of next.texts.slice(0, this.#random.below(next.texts.length + 1))) this.#hear(text)
    this.#end(ABNORMAL, '')
  }

  #isStalled(): boolean {
    return this.#time.nowMs < this.#stalledUntilMs || this.#queue.length > 0
  }

  #drain(): void {
    if (this.#time.nowMs < this.#stalledUntilMs) return
    for (let first = this.#queue.shift(); first !== undefined && !this.#isOver; first = this.#queue.shift()) {
      this.#buffered -= first.bytes
      this.#deliver(first.sent)
      first.done()
    }
  }

  #deliver(sent: Sent): void {
    this.#underWay.push(sent)
    this.#later(() => {
      this.#underWay.shift()
      if ('texts' in sent) for (const text of sent.texts) this.#hear(text)
      else this.#end(sent.code, sent.reason)
    })
  }

  #hear(text: string): void {
    this.#onText(text)
    this.#dispatch('message', { data: text })
  }

  #end(code: number, reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#queue.length = 0
    this.#buffered = 0
    this.#dispatch('close', { code, reason })
    // The server notices it at its next check, not before.
    this.#time.after(this.#latencyMs, () => this.#door?.onGone())
  }

  #later(run: () => void): void {
    this.#time.after(this.#latencyMs, () => {
      if (!this.#isOver) run()
    })
  }

  #dispatch(type: string, event: Event): void {
    this.#time.touch()
    for (const listener of this.#listeners.get(type) ?? []) listener(event)
  }
}

/** The texts of consecutive unmasked frames (RFC 6455 §5.2). */
function textsIn(bytes: Buffer): string[] {
  const texts: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const short = (bytes[at + 1] as number) & 127
    const head = short < 126 ? 2 : short === 126 ? 4 : 10
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
    texts.push(bytes.toString('utf8', at + head, at + head + length))
    at += head + length
  }
  return texts
}
