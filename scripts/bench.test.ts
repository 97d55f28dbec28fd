/**
 * Every benchmark can be started. Nothing is measured here: a bench that no longer loads, or whose server fails to start,
 * would otherwise be noticed only at the next measurement.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { MODULES } from '../bench/catalogue.ts'
import { HeadLag, headLagLines } from '../bench/headLag.ts'
import type { Ready, ServerData } from '../bench/httpServer.ts'
import { Server } from '../bench/streamHosts.ts'

describe('a module of the catalogue', () => {
  it.each(MODULES)('$file loads and has the rows that are listed', async ({ load, rows }) => {
    const { benchmarks } = await load()
    expect(benchmarks.map(({ name }) => name)).toEqual(rows)
  })
})

describe('the HTTP server', () => {
  // One that is got and one that is posted; the others differ from them by their path.
  it.each(['cached', 'batch'])('of the API answers a %s request, and the bare one does too', async kind => {
    const ours = await open({ side: 'ours', kind, body: '', headers: {}, lines: {} })
    const { headers } = ours.ready
    const body = await ours.fetch()
    const bare = await open({ side: 'peer', kind, body, headers, lines: {} })
    expect(await bare.fetch()).toBe(body)
    for (const server of [ours, bare]) await server.close()
  })

  async function open(workerData: ServerData) {
    const worker = new Worker(new URL('../bench/httpServer.ts', import.meta.url), { workerData })
    // Rejects with what the thread fails with.
    const [ready] = (await once(worker, 'message')) as [Ready]
    return {
      ready,
      async fetch(): Promise<string> {
        const { url, headers, body } = ready
        const response = await fetch(url, { headers, method: body === null ? 'GET' : 'POST', body })
        expect(response.status).toBe(200)
        return response.text()
      },
      async close(): Promise<void> {
        worker.postMessage('close')
        await once(worker, 'exit')
      },
    }
  }
})

describe('the stream server', () => {
  it.each(['ours', 'bare'] as const)('%s prepares a record and sends it', async side => {
    const server = await Server.start({ side })
    expect(await server.ask({ ask: 'prepare', records: 1 })).toBeGreaterThan(0)
    await server.ask({ ask: 'send' })
    await server.close()
  })
})

describe('head lag', () => {
  const [TX, OTHER] = ['0x1', '0x2']

  it('is the time from the node to the feed, whichever is first, by the newest swap of each slot', () => {
    const lag = new HeadLag([1, 8453])
    lag.sent(1, TX, 100)
    lag.received(1, TX, 130)
    // A second delivery of either changes nothing.
    lag.sent(1, TX, 120)
    lag.received(1, TX, 500)
    lag.received(8453, OTHER, 200)
    lag.sent(8453, OTHER, 195)
    lag.sample()
    expect(lag.result(20_000)).toEqual({ samplesMs: [30, 5], slots: 2, swaps: 2, present: 2 })
    lag.sent(1, OTHER, 16_000)
    lag.received(1, OTHER, 16_010)
    lag.sample()
    expect(lag.result(40_000)).toEqual({ samplesMs: [30, 5, 10], slots: 4, swaps: 3, present: 3 })
  })

  it('has no sample of a slot without a match, and misses swaps that came late or never', () => {
    const lag = new HeadLag([1])
    lag.sent(1, TX, 0)
    lag.received(1, TX, 8001)
    lag.sent(1, OTHER, 10)
    // Not of a reference pool, and one that had no time to arrive.
    lag.received(1, '0x3', 20)
    lag.sent(1, '0x4', 19_000)
    lag.sample()
    expect(lag.result(20_000)).toEqual({ samplesMs: [], slots: 1, swaps: 2, present: 0 })
    expect(headLagLines(lag.result(20_000))).toContain('swaps that arrived     0 of 2, 0.00 %')
  })
})
