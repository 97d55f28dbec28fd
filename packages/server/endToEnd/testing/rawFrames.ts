/** A WebSocket client of bytes: any frame, well-formed or not, and the close code that comes back. */
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { until } from './until.ts'

export type FrameParts = {
  readonly fin?: boolean
  readonly rsv?: number
  readonly opcode?: number
  readonly masked?: boolean
  readonly payload?: Buffer | string
  /** In place of the payload's own length. */
  readonly length?: number
}

export function frame(parts: FrameParts): Buffer {
  const { fin = true, rsv = 0, opcode = 1, masked = true } = parts
  const payload = Buffer.from(parts.payload ?? '')
  const length = parts.length ?? payload.length
  const head = [(fin ? 0x80 : 0) | (rsv << 4) | opcode]
  const mask = masked ? 0x80 : 0
  if (length < 126) head.push(mask | length)
  else if (length < 65_536) head.push(mask | 126, length >> 8, length & 255)
  else
    head.push(
      mask | 127,
      ...Buffer.from(BigInt.asUintN(64, BigInt(length)).toString(16).padStart(16, '0'), 'hex'),
    )
  if (!masked) return Buffer.concat([Buffer.from(head), payload])
  const key = randomBytes(4)
  const body = Buffer.from(payload)
  for (let at = 0; at < body.length; at++) body[at] = (body[at] as number) ^ (key[at % 4] as number)
  return Buffer.concat([Buffer.from(head), key, body])
}

export class RawClient {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  isOver = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', part => {
      this.#received = Buffer.concat([this.#received, part])
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.isOver = true
    })
  }

  /** Connected and upgraded. */
  static async open(url: string, authorization: string): Promise<RawClient> {
    const { hostname, port } = new URL(url)
    const client = new RawClient(connect(Number(port), hostname))
    const key = randomBytes(16).toString('base64')
    client.write(
      `GET /v1/stream HTTP/1.1\r\nHost: ${hostname}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\nAuthorization: ${authorization}\r\n\r\n`,
    )
    const end = await until('the upgrade', () => {
      const at = client.#received.indexOf('\r\n\r\n')
      if (client.isOver) throw new Error(`refused: ${client.#received.toString()}`)
      return at >= 0 ? at + 4 : null
    })
    if (!client.#received.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101')))
      throw new Error(client.#received.toString())
    client.#received = client.#received.subarray(end)
    return client
  }

  write(bytes: Buffer | string): void {
    this.#socket.write(bytes)
  }

  end(): void {
    this.#socket.destroy()
  }

  /** The code of the close frame the server sent; null when the connection ended without one. */
  async closeCode(): Promise<number | null> {
    return until('a close', () => {
      const code = this.#closeCode()
      return code !== null ? { code } : this.isOver ? { code: null } : null
    }).then(found => found.code)
  }

  #closeCode(): number | null {
    for (let at = 0; at + 2 <= this.#received.length; ) {
      const opcode = (this.#received[at] as number) & 15
      let length = (this.#received[at + 1] as number) & 127
      let header = 2
      if (length === 126) {
        if (at + 4 > this.#received.length) return null
        length = this.#received.readUInt16BE(at + 2)
        header = 4
      } else if (length === 127) {
        if (at + 10 > this.#received.length) return null
        length = Number(this.#received.readBigUInt64BE(at + 2))
        header = 10
      }
      if (opcode === 8 && at + header + 2 <= this.#received.length)
        return length >= 2 ? this.#received.readUInt16BE(at + header) : 1005
      at += header + length
    }
    return null
  }
}
