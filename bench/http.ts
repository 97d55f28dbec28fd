/**
 * The HTTP API against a bare `node:http` that sends the same bytes. Both serve from a separate thread and the client
 * is another process, so the measurement is the processor time of the server. Both receive the same request.
 *
 * Ours is the whole app on a real SQLite file, including credential, scope, quota and headers.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Benchmark, Contender } from './benchmark.ts'
import type { Question } from './httpAsker.ts'
import type { Ready, ServerData, Used } from './httpServer.ts'

const BATCH = 4000
/** A fast answer is measured in many short turns: other load on the machine affects both sides alike. */
const MANY = 41
/** Compiled code differs from one server to the next by more than the measured difference, so several take turns. */
const PAIRS = 4
/** More than are answered in one turn of the server's loop, so it never waits for the client. */
const SOCKETS = 128
/** Rounds before the first that counts: a service runs for weeks, and not on interpreted code. */
const WARM_UP = 10

type Side = 'ours' | 'peer'
type Row = {
  readonly name: string
  readonly unit: string
  readonly kind: string
  readonly ratio: number
  readonly requests: number
  readonly rounds?: number
  /**
   * The peer sends our header lines too: the remaining difference is our own work, without the headers that the
   * contract requires.
   */
  readonly isAlikeToTheLine?: boolean
}

const ROWS: readonly Row[] = [
  {
    name: 'HTTP token quote, cached',
    unit: 'quote',
    kind: 'cached',
    ratio: 0.85,
    requests: BATCH,
    rounds: MANY,
  },
  {
    name: 'HTTP token quote, cached, with the same header lines',
    unit: 'quote',
    kind: 'cached',
    ratio: 0.85,
    requests: BATCH,
    rounds: MANY,
    isAlikeToTheLine: true,
  },
  {
    name: 'HTTP token quote, uncached',
    unit: 'quote',
    kind: 'uncached',
    ratio: 0.7,
    requests: BATCH,
    rounds: MANY,
  },
  { name: 'HTTP batch of 100 tokens', unit: 'batch', kind: 'batch', ratio: 0.3, requests: 20 },
  { name: 'HTTP page of 1,000 pools', unit: 'page', kind: 'page', ratio: 0.3, requests: 4 },
]

/** The header lines of a bare server, besides the length. */
const PLAIN = { 'content-type': 'application/json; charset=utf-8' } as const
/** Written by node, or dependent on the length of the answer. */
const OWN_LINES: ReadonlySet<string> = new Set(['connection', 'content-length', 'date', 'keep-alive'])

export const benchmarks: readonly Benchmark[] = ROWS.map(benchmarkOf)

function benchmarkOf({
  name,
  unit,
  kind,
  ratio,
  requests,
  rounds,
  isAlikeToTheLine = false,
}: Row): Benchmark {
  const pairs: Readonly<Record<Side, Server>>[] = []
  const contender = (side: Side, label: string): Contender => {
    let tookNs = 0
    let turn = 0
    return {
      name: label,
      operations: requests,
      calls: 1,
      measuredNs: () => tookNs,
      async run() {
        const pair = pairs[turn++ % PAIRS] as Record<Side, Server>
        tookNs = await pair[side].measure(requests)
      },
    }
  }
  return {
    name,
    unit,
    goal: { ratio, sense: 'at least' },
    ...(rounds === undefined ? {} : { rounds }),
    ours: contender('ours', 'the API'),
    peer: contender(
      'peer',
      kind === 'cached' ? 'node:http with the same buffer' : 'node:http + JSON.stringify',
    ),
    async prepare() {
      while (pairs.length < PAIRS) {
        const ours = await Server.start({ side: 'ours', kind, body: '', headers: {}, lines: {} })
        const { text, lines } = await ours.fetch()
        const asked = { body: text, headers: ours.headers, lines: isAlikeToTheLine ? lines : PLAIN }
        const peer = await Server.start({ side: 'peer', kind, ...asked })
        pairs.push({ ours, peer })
        for (const server of [ours, peer]) await server.measure(requests * WARM_UP)
      }
    },
    async check() {
      for (const { ours, peer } of pairs)
        if ((await ours.fetch()).text !== (await peer.fetch()).text)
          throw new Error('the two servers do not answer the same')
    },
    async close() {
      for (const { ours, peer } of pairs) for (const server of [ours, peer]) await server.close()
    },
    notes: () => ['by processor time of the serving thread'],
  }
}

class Server {
  readonly #worker: Worker
  readonly #ready: Ready
  readonly #asker: ChildProcess

  private constructor(worker: Worker, ready: Ready) {
    this.#worker = worker
    this.#ready = ready
    const { hostname, port, pathname, search } = new URL(ready.url)
    const body = ready.body ?? ''
    const headers = {
      ...ready.headers,
      host: hostname,
      ...(ready.body === null ? {} : { 'content-length': Buffer.byteLength(body) }),
    }
    const question: Question = {
      port: Number(port),
      sockets: SOCKETS,
      request: [
        `${ready.body === null ? 'GET' : 'POST'} ${pathname}${search} HTTP/1.1`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        `\r\n${body}`,
      ].join('\r\n'),
    }
    this.#asker = fork(fileURLToPath(new URL('httpAsker.ts', import.meta.url)), [JSON.stringify(question)])
  }

  static async start(data: ServerData): Promise<Server> {
    const worker = new Worker(new URL('httpServer.ts', import.meta.url), { workerData: data })
    const ready = await new Promise<Ready>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    return new Server(worker, ready)
  }

  get headers(): Ready['headers'] {
    return this.#ready.headers
  }

  /** An answer, and the header lines that a server does not write by itself. */
  async fetch(): Promise<{ readonly text: string; readonly lines: Readonly<Record<string, string>> }> {
    const { url, headers, body } = this.#ready
    const response = await fetch(url, { headers, method: body === null ? 'GET' : 'POST', body })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status} ${text}`)
    const lines = [...response.headers].filter(([name]) => !OWN_LINES.has(name))
    return { text, lines: Object.fromEntries(lines) }
  }

  /** Nanoseconds of processor time that these requests cost the serving thread. */
  async measure(requests: number): Promise<number> {
    const before = await this.#used()
    await new Promise<void>((resolve, reject) => {
      const gone = (code: number | null) => reject(new Error(`who asks ended with ${code}`))
      this.#asker.once('exit', gone)
      this.#asker.once('message', () => {
        this.#asker.off('exit', gone)
        resolve()
      })
      this.#asker.send(requests)
    })
    return ((await this.#used()) - before) * 1000
  }

  async close(): Promise<void> {
    this.#asker.kill()
    await once(this.#asker, 'exit')
    this.#worker.postMessage('close')
    await new Promise(resolve => this.#worker.once('exit', resolve))
  }

  /** Microseconds of work of the serving thread. */
  async #used(): Promise<number> {
    this.#worker.postMessage('used')
    return new Promise<number>(resolve => this.#worker.once('message', (used: Used) => resolve(used)))
  }
}
