/** The serving thread of `http.ts`: our API on a separate SQLite file, or a bare server with a given answer. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { Written } from '@assay/engine'
import { Access } from '../packages/server/access/access.ts'
import { ClientAddresses } from '../packages/server/access/clientAddress.ts'
import { FailureThrottle } from '../packages/server/access/failureThrottle.ts'
import { DEFAULT_LIMITS } from '../packages/server/access/limits.ts'
import { RateLimit } from '../packages/server/access/rateLimit.ts'
import { buildApp } from '../packages/server/http/app.ts'
import type { HttpContext } from '../packages/server/http/plumbing/context.ts'
import { Metrics } from '../packages/server/http/plumbing/metrics.ts'
import { QuoteCache } from '../packages/server/http/views/quoteCache.ts'
import { Settings } from '../packages/server/http/settings.ts'
import { WITHOUT_CHAINS } from '../packages/server/http/testing/withoutChains.ts'
import { SingleFlight } from '../packages/server/http/plumbing/singleFlight.ts'
import { systemClock } from '../packages/server/ops/clock.ts'
import { bareConfig } from '../packages/server/config/testing/bareConfig.ts'
import type { RecordDraft } from '../packages/server/store/port.ts'
import { claimDatabase } from '../packages/server/store/sqlite/claim.ts'
import { openSqliteStore } from '../packages/server/store/sqlite/sqliteStore.ts'
import {
  address,
  commitOf,
  idOf,
  poolFacts,
  poolUpsert,
  tokenFacts,
} from '../packages/server/store/testing/drafts.ts'
import { Roster } from '../packages/server/stream/roster.ts'
import { Hub } from '../packages/server/stream/hub.ts'

export type Ready = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** For ours: the credential of a consumer whose quota is soon used up. */
  readonly limited?: string
}
/** Microseconds of processor time of this thread. */
export type Used = number

export type ServerData = {
  readonly side: 'ours' | 'peer'
  readonly kind: string
  /** The answer of the peer, and its request. */
  readonly body: string
  readonly headers: Ready['headers']
  /** The header lines of the peer's answer. */
  readonly lines: Readonly<Record<string, string>>
}

const CHAIN = 1
const TOKENS = 100
const POOLS = 1000
/** No chain runs here, and none is silent. */
const HEALTHY: HttpContext['feeds'] = {
  gone: () => null,
  returns: () => 0,
  feed: chain_id => ({ chain_id, status: 'HEALTHY', reasons: [] }),
  health: () => {
    throw new Error('nobody asks for health here')
  },
}
const { side, kind, body, headers, lines } = workerData as ServerData
const port = parentPort
if (port === null) throw new Error('this file is the entry of a worker thread')

const tokenAt = (n: number) => address(0x1000 + n)
const wanted = JSON.stringify({
  tokens: Array.from({ length: TOKENS }, (_, n) => ({ chain_id: CHAIN, token_address: tokenAt(n) })),
})
const served = side === 'ours' ? await startApi() : await startBare()
port.postMessage(served.ready satisfies Ready)
port.on('message', (said: 'used' | 'close') => {
  if (said === 'close') {
    void served.close().finally(() => port.close())
    return
  }
  const { user, system } = process.threadCpuUsage()
  port.postMessage((user + system) satisfies Used)
})

async function startBare() {
  const buffer = Buffer.from(body)
  const value: unknown = kind === 'cached' ? null : JSON.parse(body)
  const head: Record<string, string | number> = { ...lines, 'content-length': 0 }
  const answer = (response: ServerResponse) => {
    const text = value === null ? buffer : JSON.stringify(value)
    head['content-length'] = Buffer.byteLength(text)
    response.writeHead(200, head)
    response.end(text)
  }
  const server = createServer((request, response) => {
    if (request.method === 'GET') return answer(response)
    request.resume().on('end', () => answer(response))
  })
  // As long as ours keeps them: a client that alternates with others is silent for seconds.
  server.keepAliveTimeout = 72_000
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port: at } = server.address() as AddressInfo
  return {
    ready: { url: `http://127.0.0.1:${at}/`, headers, body: kind === 'batch' ? wanted : null },
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function startApi() {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const path = join(folder, 'assay.db')
  const release = claimDatabase(path)
  const metrics = new Metrics()
  const store = metrics.ofStore(await openSqliteStore({ path }))
  const pools = Array.from({ length: POOLS }, (_, n) =>
    poolFacts(0x9000 + n, tokenAt(n % TOKENS), tokenAt((n + 1) % TOKENS)),
  )
  await store.commit(
    commitOf(CHAIN, 1, {
      pools,
      tokens: Array.from({ length: TOKENS }, (_, n) => tokenFacts(tokenAt(n))),
      records: [
        ...Array.from({ length: TOKENS }, (_, n) => priced(n)),
        ...pools.map((pool, n) => poolUpsert({ chainId: CHAIN, recordId: `p${n}` }, pool, n)),
      ],
    }),
  )
  const hub = await Hub.open(store, systemClock)
  const access = new Access(store, systemClock)
  const { key } = await access.issue('bench', 'bench', ['read'], null)
  const { key: limited } = await access.issue('limited', 'limited', ['read'], null)
  await store.writeLimits('limited', JSON.stringify(DEFAULT_LIMITS))
  const config = bareConfig({ retention: { hours: 72, records: 1 } }, path)
  const app = buildApp({
    ...WITHOUT_CHAINS,
    config,
    store,
    access,
    limit: new RateLimit(systemClock, { units: 1e9, windowMs: 1000, burst: 1e9 }),
    failures: new FailureThrottle(systemClock),
    addresses: new ClientAddresses({ trusted: [], allowed: [] }),
    hub,
    quotes: new QuoteCache(store, hub, HEALTHY, kind === 'uncached' ? 0 : undefined),
    feeds: HEALTHY,
    flights: new SingleFlight(),
    settings: await Settings.open(store, config, systemClock),
    metrics,
    roster: new Roster(systemClock),
    chains: new Map([[CHAIN, { config: { chainId: CHAIN, name: 'bench' } as never, service: () => null }]]),
    cursorSecret: new Uint8Array(32),
    consoleFolder: null,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port: at } = app.server.address() as AddressInfo
  const paths: Readonly<Record<string, string>> = {
    batch: '/v1/quote/tokens',
    page: `/v1/pools?chain_id=${CHAIN}&limit=1000`,
  }
  return {
    ready: {
      url: `http://127.0.0.1:${at}${paths[kind] ?? `/v1/quote/token/${CHAIN}/${tokenAt(0)}`}`,
      headers: {
        authorization: `Bearer ${key}`,
        ...(kind === 'batch' ? { 'content-type': 'application/json' } : {}),
      },
      body: kind === 'batch' ? wanted : null,
      limited,
    },
    async close() {
      hub.close()
      app.server.closeAllConnections()
      await app.close()
      await store.close()
      release()
      rmSync(folder, { recursive: true })
    },
  }
}

/** A quote of real size: the one shown in the document, with a time in the future. */
function priced(n: number): RecordDraft {
  const file = new URL('../packages/server/http/openapi/examples.json', import.meta.url)
  const { quoteToken } = JSON.parse(readFileSync(file, 'utf8')) as {
    quoteToken: Record<string, Record<string, unknown>>
  }
  const example = quoteToken['200'] ?? {}
  const { stream_sequence: _, ...asOf } = (example['as_of'] ?? {}) as Record<string, unknown>
  const quote: Record<string, unknown> & { as_of: object } = {
    ...example,
    token: tokenAt(n),
    as_of: asOf,
    expires_at_ms: Date.now() + 86_400_000,
  }
  const {
    chain_id: _c,
    token: _t,
    source: _s,
    last_trade_ms: _l,
    change: _h,
    routes: _r,
    routing_assets: _a,
    ...state
  } = quote
  return {
    type: 'PRICE_UPSERT',
    routing: { chain_id: CHAIN, pool_ids: [], token_ids: [idOf(tokenAt(n))] },
    payload: { scope: 'token', chain_id: CHAIN, token_id: idOf(tokenAt(n)), record_id: `t${n}`, ...state },
    quote: new Written(quote),
  }
}
