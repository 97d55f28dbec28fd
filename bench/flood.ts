/**
 * How much longer a consumer waits for its answers while another one, far beyond its quota, sends requests without
 * pause on eight sockets. Up to eight refusals are ahead of each answer, and a refusal costs less than an answer.
 */
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { Worker } from 'node:worker_threads'
import type { Flood } from '../packages/server/endToEnd/testing/flooder.ts'
import type { Benchmark, Contender } from './benchmark.ts'
import type { Ready, ServerData } from './httpServer.ts'

const QUOTES = 200
const SOCKETS = 8

/** Null until it serves. */
let server: Worker | null = null
let ready: Ready
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

export const benchmarks: readonly Benchmark[] = [
  {
    name: 'HTTP token quote beside another consumer’s flood, against without it',
    unit: 'quote',
    goal: { ratio: SOCKETS, sense: 'at most' },
    ours: contender('beside a flood', async ask => {
      const refused = new Int32Array(new SharedArrayBuffer(4))
      const workerData: Flood = { url: ready.url, key: ready.limited ?? '', sockets: SOCKETS, refused }
      const flooder = new Worker(new URL('../packages/server/endToEnd/testing/flooder.ts', import.meta.url), {
        workerData,
      })
      await once(flooder, 'message')
      const tookNs = await ask()
      flooder.postMessage('stop')
      await once(flooder, 'exit')
      return tookNs
    }),
    peer: contender('alone', ask => ask()),
    async prepare() {
      const workerData: ServerData = { side: 'ours', kind: 'cached', body: '', headers: {}, lines: {} }
      const starting = new Worker(new URL('httpServer.ts', import.meta.url), { workerData })
      ;[ready] = (await once(starting, 'message')) as [Ready]
      server = starting
      for (let warm = 0; warm < 10; warm++) await asked()
    },
    async close() {
      agent.destroy()
      server?.postMessage('close')
      if (server !== null) await once(server, 'exit')
    },
    notes: () => ['by the clock: it is the waiting that is compared'],
  },
]

function contender(name: string, measured: (ask: typeof asked) => Promise<number>): Contender {
  let tookNs = 0
  return {
    name,
    operations: QUOTES,
    calls: 1,
    measuredNs: () => tookNs,
    async run() {
      tookNs = await measured(asked)
    },
  }
}

/** Nanoseconds until all quotes were answered, one after the other. */
async function asked(): Promise<number> {
  const startedMs = performance.now()
  for (let n = 0; n < QUOTES; n++) await quote()
  return (performance.now() - startedMs) * 1e6
}

function quote(): Promise<void> {
  return new Promise((resolve, reject) => {
    get(ready.url, { agent, headers: ready.headers }, response => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
      response.resume().once('end', resolve)
    }).once('error', reject)
  })
}
