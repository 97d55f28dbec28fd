/**
 * The HTTP API against a bare `node:http` that sends the same bytes. Both serve from a thread of their own, so that
 * what is measured is the processor time of the server and not of who asks.
 *
 * Ours is the whole app on a real SQLite file: credential, scope, quota and headers included.
 */
import { Agent, request as ask } from 'node:http'
import { Worker } from 'node:worker_threads'
import type { Benchmark, Contender } from './benchmark.ts'
import type { Ready, Used } from './httpServer.ts'

const BATCH = 200
const SOCKETS = 8

type Side = 'ours' | 'peer'
type Row = {
  readonly name: string
  readonly unit: string
  readonly kind: string
  readonly ratio: number
  readonly requests: number
}

const ROWS: readonly Row[] = [
  { name: 'HTTP token quote, cached', unit: 'quote', kind: 'cached', ratio: 0.85, requests: BATCH },
  { name: 'HTTP token quote, uncached', unit: 'quote', kind: 'uncached', ratio: 0.7, requests: BATCH },
  { name: 'HTTP batch of 100 tokens', unit: 'batch', kind: 'batch', ratio: 0.3, requests: 20 },
  { name: 'HTTP page of 1,000 pools', unit: 'page', kind: 'page', ratio: 0.3, requests: 4 },
]

export const benchmarks: readonly Benchmark[] = ROWS.map(benchmarkOf)

function benchmarkOf({ name, unit, kind, ratio, requests }: Row): Benchmark {
  const servers = new Map<Side, Server>()
  const contender = (side: Side, label: string): Contender => {
    let tookNs = 0
    return {
      name: label,
      operations: requests,
      calls: 3,
      measuredNs: () => tookNs,
      async run() {
        tookNs = await (servers.get(side) as Server).measure(requests)
      },
    }
  }
  return {
    name,
    unit,
    goal: { ratio, sense: 'at least' },
    ours: contender('ours', 'the API'),
    peer: contender(
      'peer',
      kind === 'cached' ? 'node:http with the same buffer' : 'node:http + JSON.stringify',
    ),
    async prepare() {
      const ours = await Server.start({ side: 'ours', kind, body: '' })
      servers.set('ours', ours)
      servers.set('peer', await Server.start({ side: 'peer', kind, body: await ours.fetch() }))
      for (const server of servers.values()) await server.measure(requests * 5)
    },
    async check() {
      const [a, b] = [await servers.get('ours')?.fetch(), await servers.get('peer')?.fetch()]
      if (a === undefined || a !== b) throw new Error('the two servers do not answer the same')
    },
    async close() {
      for (const server of servers.values()) await server.close()
    },
    notes: () => ['by processor time of the serving thread'],
  }
}

class Server {
  readonly #worker: Worker
  readonly #ready: Ready
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })

  private constructor(worker: Worker, ready: Ready) {
    this.#worker = worker
    this.#ready = ready
  }

  static async start(data: object): Promise<Server> {
    const worker = new Worker(new URL('httpServer.ts', import.meta.url), { workerData: data })
    const ready = await new Promise<Ready>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    return new Server(worker, ready)
  }

  fetch(): Promise<string> {
    const { url, headers, body } = this.#ready
    return new Promise((resolve, reject) => {
      const request = ask(
        url,
        { agent: this.#agent, headers, method: body === null ? 'GET' : 'POST' },
        response => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (part: string) => {
            text += part
          })
          response.on('end', () =>
            response.statusCode === 200 ? resolve(text) : reject(new Error(`${response.statusCode} ${text}`)),
          )
        },
      )
      request.on('error', reject)
      request.end(body ?? undefined)
    })
  }

  /** Nanoseconds of processor time that so many requests cost the serving thread. */
  async measure(requests: number): Promise<number> {
    const before = await this.#used()
    let left = requests
    const asker = async () => {
      while (left-- > 0) await this.fetch()
    }
    await Promise.all(Array.from({ length: SOCKETS }, asker))
    return ((await this.#used()) - before) * 1000
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    this.#worker.postMessage('close')
    await new Promise(resolve => this.#worker.once('exit', resolve))
  }

  /** Microseconds the serving thread has worked. */
  async #used(): Promise<number> {
    this.#worker.postMessage('used')
    return new Promise<number>(resolve => this.#worker.once('message', (used: Used) => resolve(used)))
  }
}
