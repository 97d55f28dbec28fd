/** A receiver as a customer writes one: it checks the signature with the reference library, and remembers what came. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'

export type Received = {
  readonly id: string
  readonly body: string
  readonly headers: Record<string, string>
}

/** What it does with a message; the answer is its to give. */
export type Manner = (answer: ServerResponse, socket: Socket) => void

const well: Manner = answer => void answer.writeHead(204).end()

export const MANNERS = {
  well,
  failing: answer => void answer.writeHead(500).end('no'),
  /** The message has arrived, but the sender does not learn it. */
  cut: (answer, socket) => {
    answer.writeHead(200, { 'content-length': 1000 })
    answer.write('{"o', () => socket.destroy())
  },
  dropped: (_, socket) => void socket.destroy(),
  redirected: answer => void answer.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
  endless: answer => {
    answer.writeHead(200)
    const pour = () => {
      while (!answer.destroyed && answer.write('x'.repeat(16_384)));
      if (!answer.destroyed) answer.once('drain', pour)
    }
    pour()
  },
  slow: answer => void setTimeout(() => answer.writeHead(200).end(), 300),
} as const satisfies Readonly<Record<string, Manner>>

export class Receiver {
  readonly #server: Server
  /** All that came with a good signature, repetitions too. */
  readonly received: Received[] = []
  /** What came with a bad one. */
  readonly forged: string[] = []
  secret: string | null = null
  manner: () => Manner = () => well

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(port = 0): Promise<Receiver> {
    const server = createServer()
    const receiver = new Receiver(server)
    server.on('request', (request, answer) => void receiver.#take(request, answer))
    await receiver.listen(port)
    return receiver
  }

  /** Again, after `refuse`. */
  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', resolve)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook?a=1`
  }

  /** Ids in the order in which each came first. */
  get ids(): string[] {
    return [...new Set(this.received.map(({ id }) => id))]
  }

  bodies(): Record<string, unknown>[] {
    return this.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
  }

  /** Nobody listens: connections are refused. */
  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  async #take(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    try {
      for await (const part of request) parts.push(part as Buffer)
    } catch {
      // The sender died in the middle of it.
      return
    }
    const body = Buffer.concat(parts).toString()
    const headers = request.headers as Record<string, string>
    try {
      if (this.secret !== null) new Webhook(this.secret).verify(body, headers)
      this.received.push({ id: headers['webhook-id'] ?? '', body, headers })
    } catch (failure) {
      this.forged.push(String(failure))
    }
    this.manner()(answer, request.socket)
  }
}
