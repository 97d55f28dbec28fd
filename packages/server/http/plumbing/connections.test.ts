import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { ClientAddresses } from '../../access/clientAddress.ts'
import { Connections } from './connections.ts'

const IDLE_MS = 60_000
const ASK = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

let server: Server
const sockets: Socket[] = []
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  server = createServer((_, response) => response.end('here'))
  server.on('upgrade', (_, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  new Connections(server, new ClientAddresses({ trusted: [], allowed: [] }), { idleMs: IDLE_MS })
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.closeAllConnections()
  server.close()
  vi.useRealTimers()
})

/** The connections are looked at now. */
const look = () => vi.advanceTimersByTime(IDLE_MS)

test('no response sets a timer of its own: node is not asked to keep connections alive, and does not advertise it', async () => {
  expect(server.keepAliveTimeout).toBe(0)
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  socket.write(ASK)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).not.toMatch(/^keep-alive:/im)
})

async function open(first: string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  // Cut off, which is what is waited for.
  socket.on('error', () => undefined)
  socket.write(first)
  await once(socket, 'data')
  return socket
}

test('an unused connection is closed after one or two checks, one in use is not', async () => {
  const [idle, used] = await Promise.all([open(ASK), open(ASK)])
  const gone = once(idle, 'close')
  // The first look only notes what has gone over each.
  look()
  for (let looks = 0; looks < 4; looks++) {
    const answered = once(used, 'data')
    used.write(ASK)
    await answered
    if (looks === 0) expect(idle.closed).toBe(false)
    look()
    await gone
  }
  expect(used.closed).toBe(false)
  const over = once(used, 'close')
  look()
  await over
})

test('a stream is left open', async () => {
  const stream = await open('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n')
  for (let looks = 0; looks < 4; looks++) look()
  // Whatever a look ended would be over by the time another connection is answered.
  await open(ASK)
  expect(stream.closed).toBe(false)
})

/** Answers one turn after the request, as every handler that reads something does; counts the requests it was given. */
async function laterServer(): Promise<{ readonly port: number; readonly asked: () => number }> {
  let asked = 0
  const later = createServer((request, response) => {
    if (!connections.heard(request.socket, response)) return
    asked++
    setImmediate(() => response.end('here'))
  })
  const connections = new Connections(later, new ClientAddresses({ trusted: [], allowed: [] }))
  await once(later.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    later.closeAllConnections()
    later.close()
  })
  return { port: (later.address() as AddressInfo).port, asked: () => asked }
}

const answersIn = (text: string): number => text.match(/HTTP\/1\.1 200/g)?.length ?? 0

test('a connection that pipelines 32 requests gets all responses, repeatedly', async () => {
  const { port, asked } = await laterServer()
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let text = ''
  socket.on('data', chunk => (text += chunk.toString()))
  for (let round = 1; round <= 2; round++) {
    socket.write(ASK.repeat(32))
    await expect.poll(() => answersIn(text)).toBe(32 * round)
  }
  expect(text).not.toMatch(/^connection: close/im)
  expect(asked()).toBe(64)
})

test('one that pipelines more is answered up to the limit, and closed; the rest is never begun', async () => {
  const { port, asked } = await laterServer()
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let text = ''
  socket.on('data', chunk => (text += chunk.toString()))
  socket.write(ASK.repeat(200))
  await once(socket, 'close')
  expect(answersIn(text)).toBe(33)
  expect(text.match(/^connection: close/gim)).toHaveLength(1)
  expect(asked()).toBe(33)
})
