/** A real HTTP and WebSocket server on a loopback port with responses scripted by the test. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

export type Asked = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Answer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a string as it is; absent for an empty body. */
  readonly body?: unknown
}

export type Connection = {
  readonly headers: IncomingHttpHeaders
  readonly url: string
  /** The first frame the client sent. */
  readonly frame: unknown
  readonly socket: WebSocket
  /** How the client ended it. */
  readonly closed: Promise<{ readonly code: number }>
}

/** `answer` null never answers. */
export async function localService(answer: (asked: Asked) => Answer | null) {
  const asked: Asked[] = []
  const waiting: ((connection: Connection) => void)[] = []
  const arrived: Connection[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => (body += String(chunk)))
    request.on('end', () => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
      asked.push(one)
      const said = answer(one)
      if (said === null) return
      response.writeHead(said.status, said.headers)
      response.end(typeof said.body === 'object' ? JSON.stringify(said.body) : said.body)
    })
  })
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    if (request.url?.startsWith('/refused/') === true) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n')
      return
    }
    sockets.handleUpgrade(request, socket, head, ws => {
      const closed = new Promise<{ code: number }>(resolve => ws.once('close', code => resolve({ code })))
      ws.once('message', (data: Buffer) => {
        const frame: unknown = JSON.parse(data.toString())
        const one = { headers: request.headers, url: request.url ?? '', frame, socket: ws, closed }
        const reader = waiting.shift()
        if (reader === undefined) arrived.push(one)
        else reader(one)
      })
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    /** The next client that has subscribed. */
    connection: (): Promise<Connection> => {
      const one = arrived.shift()
      return one === undefined ? new Promise(resolve => waiting.push(resolve)) : Promise.resolve(one)
    },
    close: async (): Promise<void> => {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
export type LocalService = Awaited<ReturnType<typeof localService>>
