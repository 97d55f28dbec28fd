/**
 * The second door: an address at whose root the answers in other services' shapes stand, for programs that take no path
 * in a base address. Its connections are those of the first door, under the same limits; only their paths are put
 * below a prefix, so nothing else can be reached through it.
 */
import type { IncomingMessage, Server } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import type { Socket } from 'node:net'
import { PREFIX } from './vendor.ts'

/** First parts of paths that are DefiLlama's; all others are CoinGecko's. */
const LLAMA = new Set(['prices', 'batchHistorical', 'chart', 'percentage', 'block'])
/** What CoinGecko's own address has before its paths. */
const VERSION = '/api/v3'

export class RootDoor {
  readonly #sockets = new WeakSet<Socket>()
  readonly #server: Server
  readonly #door = createServer(socket => {
    this.#sockets.add(socket)
    this.#server.emit('connection', socket)
  })

  /** Before the server answers anything. */
  constructor(server: Server) {
    this.#server = server
    const lead = (request: IncomingMessage) => {
      if (this.#sockets.has(request.socket)) request.url = belowPrefix(request.url ?? '/')
    }
    server.prependListener('request', lead)
    server.prependListener('upgrade', lead)
  }

  /** Where it listens. */
  async listen(host: string, port: number, backlog: number): Promise<string> {
    // The first door refuses connections past its number by itself; here the same number holds for both.
    this.#door.maxConnections = this.#server.maxConnections
    await new Promise<void>((resolve, reject) => {
      this.#door.once('error', reject)
      this.#door.listen({ host, port, backlog }, resolve)
    })
    return `http://${host}:${(this.#door.address() as AddressInfo).port}`
  }

  /** No more connections; those that are open end with the first door's. */
  close(): void {
    this.#door.close()
  }
}

export function belowPrefix(url: string): string {
  const path = url.startsWith('/') ? url : '/'
  if (LLAMA.has(path.split(/[/?]/, 2)[1] ?? '')) return `${PREFIX.defillama}${path}`
  return `${PREFIX.coingecko}${path.startsWith(`${VERSION}/`) ? path.slice(VERSION.length) : path}`
}
