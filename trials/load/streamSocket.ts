/** A socket on `/v1/stream` that reports the received records in order, and answers pings. */
import { connect, type Socket } from 'node:net'
import { frame } from '../../packages/server/endToEnd/testing/rawFrames.ts'
import { type Frame, FrameReader } from './frames.ts'

export type StreamTarget = {
  readonly url: string
  readonly key: string
  readonly chainIds: readonly number[]
}
export type Ears = {
  /** At most this many bytes of each record are passed to `onRecord`. */
  readonly most: number
  readonly onRecord: (sequence: number, envelope: Buffer) => void
  /** The server sent something other than a record, or closed. */
  readonly onFault: (fault: string) => void
}

/** The fault of a reader that lagged behind: the service reports its position, and it may reconnect. */
export const TOO_SLOW = 'closed with 1013'

/** Every envelope begins with its sequence. */
const SEQUENCE = Buffer.from('{"stream_sequence":')
/** Bytes that contain the sequence. */
export const HEAD_BYTES = SEQUENCE.length + 17
const [TEXT, CLOSE, PING, PONG] = [1, 8, 9, 10]
const [DIGIT_0, DIGIT_9] = [48, 57]

/** There is no room now, or the request was not read in time. */
const COME_BACK = ['503', '408']

/** Shared by all: its content is read before the next socket fills it. */
const BUFFER = Buffer.alloc(64 * 1024)

/** Resolves when it is subscribed; with `turnedAway` when the server asks it to return later. */
export function openStream(target: StreamTarget, ears: Ears): Promise<Socket | 'turnedAway'> {
  return new Promise((resolve, reject) => {
    let head: Buffer | null = Buffer.alloc(0)
    const reader = new FrameReader(Math.max(ears.most, HEAD_BYTES), each => hear(each, socket, ears))
    const read = (chunk: Buffer) => {
      if (head === null) return reader.take(chunk)
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const status = head.toString('latin1', 9, 12)
      const rest = head.subarray(end + 4)
      head = null
      if (status === '101') {
        socket.write(subscribe(target.chainIds))
        resolve(socket)
        reader.take(rest)
      } else {
        socket.destroy()
        if (COME_BACK.includes(status)) resolve('turnedAway')
        else reject(new Error(`a stream was refused with ${status}`))
      }
    }
    const { port, hostname } = new URL(target.url)
    const socket = connect({
      port: Number(port),
      host: hostname,
      onread: {
        buffer: BUFFER,
        callback(length) {
          read(BUFFER.subarray(0, length))
          return true
        },
      },
    })
    socket.on('error', reject)
    socket.on('close', () => {
      ears.onFault('a stream ended')
      reject(new Error('the connection ended before the upgrade'))
    })
    socket.write(upgrade(target.key))
  })
}

function hear({ opcode, bytes }: Frame, socket: Socket, { onRecord, onFault }: Ears): void {
  if (opcode === PING) socket.write(frame({ opcode: PONG, payload: bytes }))
  else if (opcode === CLOSE) onFault(`closed with ${bytes.length >= 2 ? bytes.readUInt16BE(0) : 'no code'}`)
  else if (opcode === TEXT) {
    const sequence = sequenceIn(bytes)
    if (sequence === null) onFault(`no record: ${bytes.toString('utf8', 0, 100)}`)
    else onRecord(sequence, bytes)
  }
}

/** Null when it does not begin like a record. */
export function sequenceIn(bytes: Buffer): number | null {
  if (bytes.compare(SEQUENCE, 0, SEQUENCE.length, 0, SEQUENCE.length) !== 0) return null
  let sequence = 0
  for (let at = SEQUENCE.length; at < bytes.length; at++) {
    const digit = bytes[at] as number
    if (digit < DIGIT_0 || digit > DIGIT_9) break
    sequence = sequence * 10 + digit - DIGIT_0
  }
  return sequence
}

const upgrade = (key: string): string =>
  `GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\nAuthorization: Bearer ${key}\r\n\r\n`

const subscribe = (chainIds: readonly number[]): Buffer =>
  frame({
    payload: JSON.stringify({
      filter: { chain_ids: [...chainIds].sort((a, b) => a - b), pool_ids: [], token_ids: [] },
      resume_cursor: null,
    }),
  })
