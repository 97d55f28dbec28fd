/** A WebSocket by hand: its handshake with any headers, its frames as they are, and how it was refused or closed. */
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { until } from './until.ts'

export type Refused = {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}
export type Closed = { readonly code: number; readonly reason: string }

export class RawSocket {
  readonly frames: string[] = []
  readonly socket: WebSocket
  closed: Closed | null = null
  pings = 0

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', data => this.frames.push((data as Buffer).toString()))
    socket.on('ping', () => this.pings++)
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) }
    })
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame))
  }

  untilClosed(): Promise<Closed> {
    return until('the socket closed', () => this.closed)
  }

  async end(): Promise<void> {
    if (this.closed !== null) return
    this.socket.terminate()
    await this.untilClosed()
  }
}

type HandshakeOptions = { readonly headers?: Readonly<Record<string, string>>; readonly autoPong?: boolean }

/** The open socket, or the answer that refused it. `url` is that of the service. */
export async function handshake(
  url: string,
  { headers = {}, autoPong = true }: HandshakeOptions = {},
  path = '/v1/stream',
): Promise<RawSocket | Refused> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, { headers, autoPong })
  const raw = new RawSocket(socket)
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(raw))
    socket.once('error', reject)
    socket.once('unexpected-response', (request, response: IncomingMessage) => {
      response.setEncoding('utf8')
      void response
        .toArray()
        .then(parts =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: parts.join('') }),
        )
        .finally(() => request.destroy())
    })
  })
}

export async function opened(url: string, options: HandshakeOptions): Promise<RawSocket> {
  const result = await handshake(url, options)
  if (result instanceof RawSocket) return result
  throw new Error(`refused with ${result.status}`)
}

export async function refused(url: string, options: HandshakeOptions, path?: string): Promise<Refused> {
  const result = await handshake(url, options, path)
  if (!(result instanceof RawSocket)) return result
  await result.end()
  throw new Error('the handshake was accepted')
}
