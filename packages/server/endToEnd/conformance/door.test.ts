/** H1, H7 and H18 of the fault list, and one consumer's flood beside another: what a crowd at the door does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { HTTP } from '../../http/app.ts'
import { ask } from '../testing/answer.ts'
import { freePort } from '../testing/childService.ts'
import type { Flood } from '../testing/flooder.ts'
import { CHAIN_ID, planWith } from '../testing/plan.ts'
import { chain, serveChain, service } from '../testing/servedChain.ts'
import { startTestService, writeConfig } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

const COMMAND = 'packages/cli/assay.ts'
const ANSWERS = 200
/** Of the server's loop, from one answer of a consumer to its next: of this many, one who waits his turn needs a few. */
const MOST_ROUNDS = 10

const sockets: Socket[] = []
serveChain(planWith(), { tokens: ['LARK', 'MOTH'] })
afterEach(async () => {
  const open = sockets.splice(0)
  for (const socket of open) socket.destroy()
  await Promise.all(open.filter(socket => !socket.closed).map(socket => once(socket, 'close')))
})

type Held = { readonly socket: Socket; readonly closed: Promise<unknown>; text: string }

/** A connection from one of the addresses of this machine, and what came over it. */
function hold(url: string, localAddress = '127.0.0.1', first = ''): Held {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, localAddress })
  sockets.push(socket)
  socket.on('error', () => undefined)
  const held: Held = {
    socket,
    text: '',
    closed: once(socket, 'close'),
  }
  socket.on('data', part => {
    held.text += String(part)
  })
  if (first !== '') socket.write(first)
  return held
}

const connected = (held: readonly Held[]) =>
  until('every socket connected or refused', () =>
    held.every(({ socket }) => !socket.connecting || socket.destroyed),
  )
const crowd = (count: number, url: string, localAddress: string) =>
  Array.from({ length: count }, () => hold(url, localAddress))

const UNLIMITED = JSON.stringify({
  units: 1e6,
  windowMs: 1000,
  burst: 1e6,
  streamConnections: 1,
  enrolmentsPerDay: 1,
})

async function unlimited(consumer: string): Promise<string> {
  const key = await service.key(['read'], consumer)
  await service.store.writeLimits(consumer, UNLIMITED)
  return key
}

const GET = 'GET /v1/chains HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n'

describe('H1: headers dripped, idle sockets', () => {
  it('headers have five seconds, and a connection without them is found within half a second', () => {
    expect(HTTP).toMatchObject({ headersTimeout: 5000, connectionsCheckingInterval: 500 })
  })

  it('a connection that has not finished its headers is closed with 408, on its first request and on a later one', async () => {
    const later = hold(service.url, '127.0.0.1', GET)
    await until('the first answer', () => later.text.includes('401'))
    const first = hold(service.url)
    const drips = [first, later].map(({ socket }) => {
      const text = 'GET /v1/chains HTTP/1.1\r\nHost: x\r\nX-A: '.padEnd(400, 'a')
      let at = 0
      return setInterval(() => socket.writable && socket.write(text[at++] ?? 'a'), 100)
    })
    const idle = hold(service.url)
    for (const { closed } of [idle, first, later]) await closed
    for (const drip of drips) clearInterval(drip)
    for (const { text } of [idle, first, later]) expect(text).toContain('HTTP/1.1 408 ')
  })

  it('an address has a thousand idle sockets, and another gets in beside them', async () => {
    const silent = crowd(1000, service.url, '127.0.0.2')
    await connected(silent)
    const more = crowd(20, service.url, '127.0.0.2')
    // The first have to give their places to these, unasked.
    for (const each of silent.slice(0, 20)) {
      await each.closed
      expect(each.text).toBe('')
    }
    const answer = await ask(`${service.url}/v1/chains`, { key: await service.key() })
    expect(answer.status).toBe(200)
    // Gone by themselves, they leave their places.
    const rest = [...silent.slice(20), ...more]
    await Promise.all(rest.map(({ closed }) => closed))
    for (const { text } of rest) expect(text).toContain('HTTP/1.1 408 ')
    const next = hold(service.url, '127.0.0.2', GET)
    await until('an answer', () => next.text.includes('401'))
  })
})

describe('H18: connections', () => {
  it('the 2,001st gets 503 with Retry-After, and is admitted when another leaves', async () => {
    // Of its own, where nobody else has a connection.
    const quiet = await startTestService(chain, { name: 'full', tokens: [] })
    try {
      const places: Held[] = []
      const key = await quiet.key(['read'], 'many')
      await quiet.store.writeLimits('many', UNLIMITED)
      const first = GET.replace('\r\n\r\n', `\r\nAuthorization: Bearer ${key}\r\n\r\n`)
      // Each has shown a key, so that it may stay; not all at once, so that no queue of the system overflows.
      while (places.length < 2000) {
        const address = `127.0.0.${3 + Math.floor(places.length / 1000)}`
        places.push(...Array.from({ length: 200 }, () => hold(quiet.url, address, first)))
        await until('everyone answered', () => places.every(({ text }) => text.includes('200 OK')))
      }
      const full = hold(quiet.url, '127.0.0.5', GET)
      await full.closed
      expect(full.text).toMatch(/^HTTP\/1\.1 503 /)
      expect(full.text).toMatch(/retry-after: 1\r\n/i)
      expect(full.text).toContain('2000 connections are open; try again in a second')
      const probe = hold(quiet.url, '127.0.0.5', GET.replace('/v1/chains', '/healthz'))
      await probe.closed
      expect(probe.text).toMatch(/^HTTP\/1\.1 200 /)
      expect(places.some(({ socket: { closed } }) => closed)).toBe(false)
      const { socket, closed } = places[0] as Held
      socket.destroy()
      await closed
      await until('a place', async () => {
        const again = hold(quiet.url, '127.0.0.5', GET)
        await until('an answer', () => again.text.includes('\r\n\r\n'))
        return again.text.startsWith('HTTP/1.1 401 ')
      })
    } finally {
      await quiet.close()
    }
  })

  it('with 256 files for everything: accepting continues after them, and the feed keeps its sockets', async () => {
    const port = await freePort()
    const file = writeConfig(chain, {
      name: 'few-files',
      tokens: ['MOTH'],
      port,
      // One that is asked over a new connection each time, and one that stays.
      endpoints: [chain.world.wsUrl, chain.world.url],
    })
    const command = `ulimit -n 256; exec "${process.execPath}" ${COMMAND} serve --config "${file}"`
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', part => {
        said += String(part)
      })
    try {
      const url = `http://127.0.0.1:${port}`
      await until('serving', () => /Assay serves at/.test(said))
      const processed = async () => {
        const text = await (await fetch(`${url}/metrics`)).text()
        return Number(/^assay_chain_processed_block\{chain_id="1"\} (\d+)$/m.exec(text)?.[1] ?? -1)
      }
      await chain.untilMining('a first block', async () => (await processed()) >= 0)
      const before = await processed()
      const held = crowd(600, url, '127.0.0.6')
      await connected(held)
      const head = await chain.mine(3)
      // The crowd is turned away in its time; meanwhile blocks went on.
      const after = await until('an answer that has seen the blocks', async () => {
        const number = await processed().catch(() => -1)
        return number >= head.number && number
      })
      expect(after).toBeGreaterThan(before)
      expect(child.exitCode).toBeNull()
      expect(said).not.toMatch(/endpoint failed|a chain stopped/)
    } finally {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  })
})

describe('a service that is stopping', () => {
  it('answers pending requests on an open connection, and then closes it', async () => {
    const stopping = await startTestService(chain, { name: 'stopping', tokens: [] })
    const headers = `Host: x\r\nAuthorization: Bearer ${await stopping.key()}`
    const batch = `POST /v1/quote/tokens HTTP/1.1\r\n${headers}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`
    const busy = hold(stopping.url, '127.0.0.1', batch)
    const idle = hold(stopping.url, '127.0.0.1', `GET /healthz HTTP/1.1\r\n${headers}\r\n\r\n`)
    await until('the other one answered', () => idle.text.includes('200 OK'))
    const closed = stopping.close()
    await idle.closed
    busy.socket.write(`}GET /v1/chains HTTP/1.1\r\n${headers}\r\n\r\n`)
    await busy.closed
    await closed
    const answers = busy.text.split(/(?=HTTP\/1\.1 \d)/)
    expect(answers.map(text => text.slice(0, 12))).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200'])
    expect(answers[1]).toMatch(/connection: close\r\n/i)
  })
})

describe('H7: a snapshot read during commits', () => {
  it('has every pool as it was at its snapshot_sequence, whatever is committed meanwhile', async () => {
    const pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const key = await unlimited('reader')
    const pages: { pools: PoolRow[]; snapshot_sequence: number }[] = []
    let isTrading = true
    const reading = (async () => {
      while (isTrading) {
        const { body } = await ask(`${service.url}/v1/pools?limit=1000`, { key })
        pages.push(body as (typeof pages)[number])
      }
    })()
    for (let n = 0; n < 12; n++) await service.untilTip(await chain.run(chain.sellV2(pair, 'MOTH', 500 + n)))
    isTrading = false
    await reading
    const sequences = new Set(pages.map(page => page.snapshot_sequence))
    expect(sequences.size).toBeGreaterThan(5)
    const log = await service.records()
    for (const { pools, snapshot_sequence } of pages)
      for (const { pool_id, state } of pools) {
        const last = log.findLast(
          record =>
            record.stream_sequence <= snapshot_sequence &&
            record.type === 'PRICE_UPSERT' &&
            record.payload.scope === 'pool' &&
            record.payload.pool_id === pool_id,
        )
        expect(state?.block_hash, `pool ${pool_id} at ${snapshot_sequence}`).toBe(
          (last?.payload as { block_hash?: string } | undefined)?.block_hash,
        )
      }
  })
})

type PoolRow = { readonly pool_id: string; readonly state: { readonly block_hash: string } | null }

describe('issue: one consumer beside another', () => {
  it('one consumer’s flood leaves another its responses, each behind no more than a few refusals', async () => {
    const [calm, loud] = [await unlimited('calm'), await service.key(['read'], 'loud')]
    const path = `${service.url}/v1/quote/token/${CHAIN_ID}/${chain.token('MOTH')}`
    const refused = new Int32Array(new SharedArrayBuffer(4))
    const data: Flood = { url: path, key: loud, sockets: 8, refused }
    const flooder = new Worker(new URL('../testing/flooder.ts', import.meta.url), { workerData: data })
    await once(flooder, 'message')
    const before = Atomics.load(refused, 0)
    for (let n = 0; n < ANSWERS; n++) expect((await ask(path, { key: calm })).status).toBe(200)
    const beside = (Atomics.load(refused, 0) - before) / ANSWERS
    flooder.postMessage('stop')
    await once(flooder, 'exit')
    // The eight sockets of the flood have a turn each in every round of the server, and an answer takes a few rounds.
    expect(beside).toBeLessThan(8 * MOST_ROUNDS)
  })
})
