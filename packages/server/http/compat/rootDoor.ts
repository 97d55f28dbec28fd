/**
 * A second listener whose root serves the answers in other services' formats, for programs that accept no path in a
 * base address. Its connections belong to the main server and share its limits. Their paths get a prefix, so nothing
 * else can be reached through it.
 */
import type { IncomingMessage, Server } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import type { Socket } from 'node:net'
import { PREFIX } from './vendor.ts'

/** First path segments of DefiLlama; all other paths are CoinGecko's. */
const LLAMA = new Set(['prices', 'batchHistorical', 'chart', 'percentage', 'block'])
/** The prefix of paths at CoinGecko's own address. */
const VERSION = '/api/v3'

export class RootDoor {
  readonly #sockets = new WeakSet<Socket>()
  readonly #server: Server
  readonly #door = createServer(socket => {
    this.#sockets.add(socket)
    this.#server.emit('connection', socket)
  })

  /** Call before the server answers any request. */
  constructor(server: Server) {
    this.#server = server
    const lead = (request: IncomingMessage) => {
      if (this.#sockets.has(request.socket)) request.url = belowPrefix(request.url ?? '/')
    }
    server.prependListener('request', lead)
    server.prependListener('upgrade', lead)
  }

  /** Returns the address it listens on. */
  async listen(host: string, port: number, backlog: number): Promise<string> {
    // The main listener enforces the limit on connections itself; here it is set for this listener too.
    this.#door.maxConnections = this.#server.maxConnections
    await new Promise<void>((resolve, reject) => {
      this.#door.once('error', reject)
      this.#door.listen({ host, port, backlog }, resolve)
    })
    return `http://${host}:${(this.#door.address() as AddressInfo).port}`
  }

  /** Accepts no more connections; open ones end with those of the main listener. */
  close(): void {
    this.#door.close()
  }
}

export function belowPrefix(url: string): string {
  const path = url.startsWith('/') ? url : '/'
  if (LLAMA.has(path.split(/[/?]/, 2)[1] ?? '')) return `${PREFIX.defillama}${path}`
  return `${PREFIX.coingecko}${path.startsWith(`${VERSION}/`) ? path.slice(VERSION.length) : path}`
}
