/**
 * The socket behind a WebSocket, as a subscriber writes to it: whole frames bypass `ws`, which would copy and queue
 * each of them; closing goes through it.
 */
import type { Duplex } from 'node:stream'
import type { ResetReason } from '@assay/sdk/wire'
import type { WebSocket } from 'ws'
import type { Clock } from '../ops/clock.ts'
import { resetMessage } from '../stream/streamStart.ts'
import type { Sink } from '../stream/subscriber.ts'
import { undrained } from '../stream/undrained.ts'

const NOTHING = Buffer.alloc(0)

export class SocketSink implements Sink {
  readonly #ws: WebSocket
  readonly #socket: Duplex
  readonly #clock: Clock

  constructor(ws: WebSocket, socket: Duplex, clock: Clock) {
    this.#ws = ws
    this.#socket = socket
    this.#clock = clock
  }

  /** Most writes reach the kernel before they return and need no callback; for the others the callback is used. */
  write(bytes: Buffer, done: () => void): boolean {
    this.#socket.write(bytes)
    if (this.#socket.writableLength === 0) return true
    this.#socket.write(NOTHING, done)
    return false
  }

  buffered(): number {
    return this.#socket.writableLength
  }

  undrained(): number {
    return undrained(this.#socket)
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason)
  }

  reset(reason: ResetReason): void {
    this.#ws.send(resetMessage(reason, this.#clock.nowMs()))
    this.#ws.close(1000, reason)
  }

  destroy(): void {
    this.#ws.terminate()
  }
}
