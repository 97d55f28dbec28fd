/**
 * The serving thread of `stream.ts`: our stream on a separate SQLite file, or a bare `node:net` server that receives
 * the bytes to write. It reports the processor time of a round; committing is not included, because another thread of
 * the service does it.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { SCHEMA_VERSION } from '@assay/sdk/wire'
import { Access } from '../packages/server/access/access.ts'
import { ClientAddresses } from '../packages/server/access/clientAddress.ts'
import { FailureThrottle } from '../packages/server/access/failureThrottle.ts'
import type { Limits } from '../packages/server/access/limits.ts'
import { RateLimit } from '../packages/server/access/rateLimit.ts'
import { systemClock } from '../packages/server/ops/clock.ts'
import { claimDatabase } from '../packages/server/store/sqlite/claim.ts'
import { openSqliteStore } from '../packages/server/store/sqlite/sqliteStore.ts'
import { address, commitOf, health, tokenUpsert } from '../packages/server/store/testing/drafts.ts'
import { framed, WEB_SOCKET } from '../packages/server/stream/frames.ts'
import { sealCursor } from '../packages/server/stream/cursor.ts'
import { Hub } from '../packages/server/stream/hub.ts'
import { Roster } from '../packages/server/stream/roster.ts'
import { StreamGate } from '../packages/server/ws/gate.ts'
import { QUIET } from '../packages/server/ops/testing/quiet.ts'

/** Requests to a server, one at a time; each is answered. */
export type Asked =
  /** Makes this many records durable, or prepares their bytes. */
  | { readonly ask: 'prepare'; readonly records: number }
  /** More data on the other chain than kernels buffer for a client that does not read; ours only. */
  | { readonly ask: 'stuff' }
  /** Sends the prepared records to all clients. */
  | { readonly ask: 'send' }
  /** Processor time since `send`, in microseconds. */
  | { readonly ask: 'used' }
  /** Starts the clock without sending. */
  | { readonly ask: 'mark' }
  /** Reads the whole log in pages; ours only. */
  | { readonly ask: 'read' }
  | { readonly ask: 'close' }

export type Ready = {
  readonly port: number
  /** For ours: the credential of a reader, and a cursor before the first record. */
  readonly authorization: string
  readonly cursor: string
}

export type ServerData = { readonly side: 'ours' | 'bare' }

type Served = {
  readonly ready: Ready
  /** The bytes each reader will receive. */
  prepare(records: number): Promise<number>
  send(): void
  read(): Promise<number>
  close(): Promise<void>
}

const CHAIN = 1
const OTHER_CHAIN = 2
/** Ten records of nearly a megabyte. */
const STUFFING = { records: 10, bytes: 900_000 } as const
const PAGE = 1000
const ROOMY: Limits = {
  units: 1e9,
  windowMs: 1000,
  burst: 1e9,
  streamConnections: 1e6,
  enrolmentsPerDay: 1,
}

const port = parentPort
if (port === null) throw new Error('this file is the entry of a worker thread')
const log = await openLog()
const served = (workerData as ServerData).side === 'ours' ? await serveStream() : await serveBare()
let before = 0
port.postMessage(served.ready)
port.on('message', (asked: Asked) => {
  void answer(asked).then(said => port.postMessage(said))
})

async function answer(asked: Asked): Promise<number> {
  switch (asked.ask) {
    case 'prepare':
      return served.prepare(asked.records)
    case 'send':
      before = used()
      served.send()
      return 0
    case 'stuff':
      await log.stuff()
      served.send()
      return 0
    case 'mark':
      before = used()
      return 0
    case 'used':
      return used() - before
    case 'read':
      before = used()
      return served.read()
    case 'close':
      await served.close()
      await log.close()
      port?.close()
      return 0
  }
}

function used(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** Both sides commit the data they send, so that neither has warmer caches for its sockets than the other. */
async function openLog() {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const path = join(folder, 'assay.db')
  const release = claimDatabase(path)
  const store = await openSqliteStore({ path })
  let [step, stuffed] = [0, 0]
  return {
    store,
    async stuff(): Promise<void> {
      const draft = health(OTHER_CHAIN, 'HEALTHY')
      const payload = { ...draft.payload, pad: 'x'.repeat(STUFFING.bytes) }
      for (let n = 0; n < STUFFING.records; n++)
        await store.commit(
          commitOf(OTHER_CHAIN, ++stuffed, { records: [{ ...draft, payload }], atMs: Date.now() }),
        )
    },
    /** Frames of this many new records. */
    async commit(count: number): Promise<Buffer[]> {
      step += 1
      const records = Array.from({ length: count }, (_, at) =>
        tokenUpsert({ chainId: CHAIN, recordId: `${CHAIN}-${step}-${at}` }, address(at + 1), '1.25'),
      )
      const { head } = await store.readBounds()
      await store.commit(commitOf(CHAIN, step, { records, atMs: Date.now() }))
      return (await store.readLog(head, count, CHAIN)).map(record => framed([record], WEB_SOCKET))
    },
    async close() {
      await store.close()
      release()
      rmSync(folder, { recursive: true })
    },
  }
}

const bytesIn = (frames: readonly Buffer[]): number => frames.reduce((sum, { length }) => sum + length, 0)

async function serveBare(): Promise<Served> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    socket.setNoDelay(true)
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  let prepared: readonly Buffer[] = []
  return {
    ready: { port: (server.address() as AddressInfo).port, authorization: '', cursor: '' },
    async prepare(records) {
      prepared = await log.commit(records)
      return bytesIn(prepared)
    },
    send() {
      for (const frame of prepared) for (const socket of sockets) socket.write(frame)
    },
    read: () => Promise.reject(new Error('a bare server reads no log')),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function serveStream(): Promise<Served> {
  const { store } = log
  const hub = await Hub.open(store, systemClock)
  const access = new Access(store, systemClock)
  const { key } = await access.issue('bench', 'bench', ['stream'], null)
  await store.writeLimits('bench', JSON.stringify(ROOMY))
  const server = createHttpServer()
  const cursorSecret = await store.readSecret('cursor')
  const gate = new StreamGate(server, {
    access,
    addresses: new ClientAddresses({ trusted: [], allowed: [] }),
    limit: new RateLimit(systemClock),
    failures: new FailureThrottle(systemClock),
    hub,
    store,
    clock: systemClock,
    cursorSecret,
    chainIds: new Set([CHAIN, OTHER_CHAIN]),
    roster: new Roster(systemClock, { most: 1e6, burst: 1e6 }),
    publicOrigin: null,
    door: { admit: () => true },
    log: QUIET,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cursor = sealCursor(cursorSecret, {
    epoch: 0,
    chainId: CHAIN,
    sequence: 0,
    schemaVersion: SCHEMA_VERSION,
    issuedAtMs: Date.now(),
  })
  return {
    ready: { port: (server.address() as AddressInfo).port, authorization: `Bearer ${key}`, cursor },
    prepare: async records => bytesIn(await log.commit(records)),
    send: () => hub.wake(),
    async read() {
      let seen = 0
      for (let after = 0; ; ) {
        const page = await store.readLog(after, PAGE, CHAIN)
        if (page.length === 0) return seen
        seen += page.length
        after = page.at(-1)?.sequence ?? after
      }
    },
    async close() {
      gate.close()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      hub.close()
    },
  }
}
