/** H19 of the fault list: silent connections by the thousand, and the places they do not get to keep. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest'
import { ask } from '../testing/answer.ts'
import { openTestApi, type TestApi } from '../testing/testApi.ts'
import { until } from '../testing/until.ts'

const PROBE = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
/** So many connect at once, so that no queue of the system overflows. */
const AT_ONCE = 250

let api: TestApi
let key: string
const sockets = new Set<Socket>()
beforeAll(async () => {
  api = await openTestApi()
  key = await api.key()
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await until('all sockets gone', () => sockets.size === 0)
})
afterAll(() => api?.close())

function open(localAddress: string, first: string): Promise<unknown> {
  const socket = connect({ port: Number(new URL(api.url).port), host: '127.0.0.1', localAddress })
  sockets.add(socket)
  socket.on('error', () => undefined)
  socket.once('close', () => sockets.delete(socket))
  // Unread data, such as the 408 on a slow machine, would keep the socket open after its end.
  socket.resume()
  if (first !== '') socket.write(first)
  const spoken = first === '' ? once(socket, 'connect') : once(socket, 'data')
  return Promise.race([spoken, once(socket, 'close')]).catch(() => undefined)
}

/** Connections from these addresses in turn; each has sent this, and sends nothing more. */
async function crowd(count: number, addressAt: (n: number) => string, first: string): Promise<void> {
  for (let n = 0; n < count; n += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => open(addressAt(n + at), first)))
}

/** Over connections of their own, from an address of its own: a key is served, a monitor is answered. */
async function expectServed(): Promise<void> {
  for (let n = 0; n < 20; n++) {
    const headers = { connection: 'close' }
    expect((await ask(`${api.url}/v1/chains`, { key, headers })).status).toBe(200)
    expect((await ask(`${api.url}/healthz`, { headers })).status).toBe(200)
    expect((await ask(`${api.url}/readyz`, { headers })).status).toBe(200)
  }
}

describe('H19: silent connections', () => {
  it('2,100 from one address that each requested /healthz once leave a key and a probe their places', async () => {
    await crowd(2100, () => '127.0.0.2', PROBE)
    await expectServed()
  })

  it('even when key and probe come from that very address', async () => {
    await crowd(2100, () => '127.0.0.1', PROBE)
    await expectServed()
  })

  it('10,000 from 250 addresses, half of them without sending a byte', async () => {
    const address = (n: number) => `127.0.${1 + Math.floor((n % 250) / 125)}.${1 + (n % 125)}`
    const arriving = crowd(5000, address, '').then(() => crowd(5000, address, PROBE))
    await expectServed()
    await arriving
    await expectServed()
    // The service closed the others; this process learns of it socket by socket.
    await until('at most 2,000 sockets left', () => sockets.size <= 2000)
  })

  it('a connection that showed a key keeps its place among them', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    const request = `GET /v1/chains HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`
    for (let round = 0; round < 2; round++) {
      const answered = once(socket, 'data') as Promise<[Buffer]>
      socket.write(request)
      expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 200 /)
      if (round === 0) await crowd(3000, () => '127.0.0.1', PROBE)
    }
  })
})
