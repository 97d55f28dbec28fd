/**
 * The readers of `stream.ts`, in a separate process: any number of sockets whose bytes are counted and dropped.
 * Reports a machine on which a process may open fewer files than there are readers.
 */
import { connect, type Socket } from 'node:net'
import { frame } from '../packages/server/endToEnd/testing/rawFrames.ts'

/** Messages to this process, each answered by `done`. */
export type Order =
  /** Empty `authorization`: no handshake, the bytes arrive as they are. */
  | {
      readonly tell: 'open'
      readonly port: number
      readonly sockets: number
      readonly authorization: string
      readonly cursor: string | null
      /** They subscribe to every chain, and never read. */
      readonly isDeaf?: boolean
    }
  /** Answered when all of this many bytes have arrived. */
  | { readonly tell: 'expect'; readonly port: number; readonly bytes: number }
  | { readonly tell: 'leave'; readonly port: number; readonly isDeaf?: boolean }

const CHAIN = 1
/** Its records are for the clients that never read. */
const OTHER_CHAIN = 2
/** Concurrent handshakes: fewer than a server lets wait. */
const AT_ONCE = 200
const BUFFER = Buffer.alloc(256 * 1024)

type Group = { readonly sockets: Socket[]; received: number; expected: number; done: (() => void) | null }
const groups = new Map<string, Group>()

process.on('message', (order: Order) => {
  void obey(order).then(() => process.send?.('done'))
})

async function obey(order: Order): Promise<void> {
  const name = 'isDeaf' in order ? `${order.port}, deaf` : `${order.port}`
  const group = groups.get(name) ?? { sockets: [], received: 0, expected: 0, done: null }
  groups.set(name, group)
  if (order.tell === 'open') {
    for (let opened = 0; opened < order.sockets; opened += AT_ONCE)
      await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, order.sockets - opened) }, () => open(group, order)),
      )
  } else if (order.tell === 'expect') {
    group.expected += order.bytes
    await new Promise<void>(resolve => {
      group.done = resolve
      look(group)
    })
  } else {
    groups.delete(name)
    for (const socket of group.sockets) socket.destroy()
  }
}

function look(group: Group): void {
  if (group.received < group.expected) return
  group.done?.()
  group.done = null
}

/** Resolves when it is connected, and upgraded if necessary. */
function open(group: Group, order: Order & { tell: 'open' }): Promise<void> {
  const { port, authorization, isDeaf = false } = order
  return new Promise((resolve, reject) => {
    let head = authorization === '' ? null : Buffer.alloc(0)
    const socket = connect({
      port,
      host: '127.0.0.1',
      onread: {
        // Shared by all: its content is counted before it is filled again.
        buffer: BUFFER,
        callback(length) {
          if (head === null) group.received += length
          else {
            head = Buffer.concat([head, BUFFER.subarray(0, length)])
            const end = head.indexOf('\r\n\r\n')
            if (end < 0) return true
            if (!head.toString('latin1', 0, 12).endsWith('101')) reject(new Error(head.toString('latin1')))
            group.received += head.length - end - 4
            head = null
            resolve()
          }
          look(group)
          // Unread data stays in the kernel, until that is full.
          return !isDeaf || head !== null
        },
      },
    })
    group.sockets.push(socket)
    socket.on('error', reject)
    socket.on('connect', () => {
      if (head === null) resolve()
      else socket.write(Buffer.concat([Buffer.from(upgrade(authorization)), subscribe(order)]))
    })
  })
}

const upgrade = (authorization: string): string =>
  `GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\nAuthorization: ${authorization}\r\n\r\n`

const subscribe = ({ cursor, isDeaf = false }: Order & { tell: 'open' }): Buffer =>
  frame({
    payload: JSON.stringify({
      filter: { chain_ids: isDeaf ? [CHAIN, OTHER_CHAIN] : [CHAIN], pool_ids: [], token_ids: [] },
      resume_cursor: cursor,
    }),
  })
