/**
 * A service with thousands of live tokens and no chain behind it: real store, HTTP API and stream, and commits of as
 * many new prices a second as a test wants.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Access } from '../../server/access/access.ts'
import { ClientAddresses } from '../../server/access/clientAddress.ts'
import { FailureThrottle } from '../../server/access/failureThrottle.ts'
import { RateLimit } from '../../server/access/rateLimit.ts'
import { buildApp } from '../../server/http/app.ts'
import { Feeds } from '../../server/http/views/feeds.ts'
import { Metrics } from '../../server/http/plumbing/metrics.ts'
import { QuoteCache } from '../../server/http/views/quoteCache.ts'
import { Settings } from '../../server/http/settings.ts'
import { WITHOUT_CHAINS } from '../../server/http/testing/withoutChains.ts'
import { SingleFlight } from '../../server/http/plumbing/singleFlight.ts'
import { systemClock } from '../../server/ops/clock.ts'
import { bareConfig } from '../../server/config/testing/bareConfig.ts'
import type { RecordDraft } from '../../server/store/port.ts'
import { claimDatabase } from '../../server/store/sqlite/claim.ts'
import { openSqliteStore } from '../../server/store/sqlite/sqliteStore.ts'
import { address, commitOf, health, tokenFacts, tokenUpsert } from '../../server/store/testing/drafts.ts'
import { Hub } from '../../server/stream/hub.ts'
import { Roster } from '../../server/stream/roster.ts'
import { StreamGate } from '../../server/ws/gate.ts'
import { QUIET } from '../../server/ops/testing/quiet.ts'

const CHAIN = 1
/** As often as a chain reports. */
const HEALTH_MS = 15_000
const quota = { units: 1e9, windowMs: 1000, burst: 1e9 }

export type ManyTokens = {
  readonly url: string
  readonly key: string
  /** New prices for these tokens, as one step. */
  move(tokens: readonly number[]): Promise<void>
  /** The `data-token` of a token's row. */
  rowOf(token: number): string
  close(): Promise<void>
}

export async function serveManyTokens(count: number, consoleFolder: string): Promise<ManyTokens> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-many-'))
  const path = join(folder, 'many.db')
  const release = claimDatabase(path)
  const metrics = new Metrics()
  const store = metrics.ofStore(await openSqliteStore({ path }))
  const tokenAt = (n: number) => address(0x1000 + n)
  let step = 0
  const move = async (tokens: readonly number[]) => {
    step += 1
    await store.commit(
      commitOf(CHAIN, step, {
        atMs: Date.now(),
        records: [wellNow(), ...tokens.map(n => priced(tokenAt(n), n, step))],
        tokens: step === 1 ? tokens.map(n => tokenFacts(tokenAt(n), `T${n}`)) : [],
      }),
    )
    hub?.wake()
  }
  let hub: Hub | null = null
  await move(Array.from({ length: count }, (_, n) => n))
  hub = await Hub.open(store, systemClock)
  const feeds = await Feeds.open(store, hub, systemClock, [CHAIN])
  const reporting = setInterval(() => void move([]), HEALTH_MS)
  const access = new Access(store, systemClock)
  const { key } = await access.issue('many', 'many', ['read', 'stream'], null)
  const config = bareConfig({ retention: { hours: 72, records: 1 } }, path)
  const chain = { chainId: CHAIN, name: 'Many', stables: [], routingAssets: [], deployments: [] }
  const shared = {
    access,
    limit: new RateLimit(systemClock, quota),
    failures: new FailureThrottle(systemClock),
    addresses: new ClientAddresses({ trusted: [], allowed: [] }),
    hub,
    store,
    clock: systemClock,
    cursorSecret: await store.readSecret('cursor'),
    roster: new Roster(systemClock),
  }
  const app = buildApp({
    ...WITHOUT_CHAINS,
    ...shared,
    config,
    quotes: new QuoteCache(store, hub, feeds),
    feeds,
    flights: new SingleFlight(),
    settings: await Settings.open(store, config, systemClock),
    metrics,
    chains: new Map([[CHAIN, { config: chain as never, service: () => null }]]),
    consoleFolder,
  })
  const gate = new StreamGate(app.server, {
    ...shared,
    chainIds: new Set([CHAIN]),
    publicOrigin: null,
    door: app.connections,
    log: QUIET,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    key,
    move,
    rowOf: n => `${CHAIN}/${tokenAt(n)}`,
    async close() {
      clearInterval(reporting)
      gate.close()
      app.server.closeAllConnections()
      await app.close()
      hub?.close()
      await store.close()
      release()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** As a chain reports it every 15 seconds. */
function wellNow(): RecordDraft {
  const draft = health(CHAIN, 'HEALTHY')
  const unknown = { head: null, processed: null, finalized: null, lag_blocks: null, lag_ms: null }
  return { ...draft, payload: { ...draft.payload, ...unknown, updated_at_ms: Date.now() } }
}

/** A price that differs with token and step, and does not end while the test runs. */
function priced(token: string, n: number, step: number): RecordDraft {
  const draft = tokenUpsert({ chainId: CHAIN, recordId: `${step}-${n}` }, token, '1')
  const units = 100_000 + ((n * 7919 + step * 104_729) % 100_000)
  const value = { numerator: `${units}`, denominator: '100000', display: `${units / 100_000}` }
  return {
    ...draft,
    payload: { ...draft.payload, price_usd: value, evaluated_at_ms: Date.now(), expires_at_ms: null },
  }
}
