/**
 * The API of a node over a real store, without a chain: HTTP and stream as a service has them, and a log that holds what a
 * test commits.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Access, Scope } from '../../access/access.ts'
import { RateLimit } from '../../access/rateLimit.ts'
import { openApi } from '../../wiring/api.ts'
import { Metrics } from '../../http/plumbing/metrics.ts'
import { Settings } from '../../http/settings.ts'
import { type Clock, systemClock } from '../../ops/clock.ts'
import { bareConfig } from '../../config/testing/bareConfig.ts'
import { QUIET } from '../../ops/testing/quiet.ts'
import type { MaintenanceStore } from '../../store/maintenance.ts'
import type { RecordDraft, Store, TokenFacts } from '../../store/port.ts'
import { claimDatabase } from '../../store/sqlite/claim.ts'
import { openSqliteStore } from '../../store/sqlite/sqliteStore.ts'
import { commitOf } from '../../store/testing/drafts.ts'
import { Hub } from '../../stream/hub.ts'
import { Roster } from '../../stream/roster.ts'
import type { Resolve } from '../../webhooks/target.ts'
import { freePort } from './childService.ts'

export const CHAINS = [1, 2] as const

export type TestApiOptions = {
  readonly clock?: Clock
  readonly publicOrigin?: string
  readonly corsOrigins?: readonly string[]
  readonly consoleFolder?: string
  /** Networks that webhooks may call; left out, this machine. */
  readonly allowPrivate?: readonly string[]
  /** How names of receivers are resolved. */
  readonly resolve?: Resolve
  /** Where its database is and stays; left out, one of its own that goes with it. */
  readonly folder?: string
}

/** Far above what a test asks. */
const ROOMY = { units: 1e9, windowMs: 1000, burst: 1e9 }

export async function openTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { clock = systemClock, publicOrigin = null, corsOrigins = [], consoleFolder = null } = options
  const { allowPrivate = ['127.0.0.1'], resolve } = options
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'assay-api-'))
  const path = join(folder, 'api.db')
  const release = claimDatabase(path)
  const metrics = new Metrics()
  const store = metrics.ofStore(await openSqliteStore({ path }))
  const hub = await Hub.open(store, clock)
  const roster = new Roster(clock)
  const more = {
    listen: { host: '127.0.0.1', port: await freePort(), publicOrigin, trustedProxies: [] },
    admin: { allow: ['127.0.0.1/32'] },
    access: { corsOrigins },
    compat: { coingecko: true, defillama: true, udf: true, minScore: 1, listen: null },
    webhooks: { allowPrivate },
  }
  const config = bareConfig(more, path)
  const chainConfig = (chainId: number) => ({
    chainId,
    name: `Chain ${chainId}`,
    stables: [],
    routingAssets: [],
    deployments: [],
  })
  const api = await openApi({
    config,
    store,
    hub,
    settings: await Settings.open(store, config, clock),
    metrics,
    limit: new RateLimit(clock, ROOMY),
    roster,
    chains: {
      chains: new Map(
        CHAINS.map(chainId => [chainId, { config: chainConfig(chainId) as never, service: () => null }]),
      ),
      backfills: { start: () => undefined, list: async () => [] },
      isReady: () => ({ ready: true, reasons: [] }),
      adoptPolicy: async () => undefined,
      close: async () => undefined,
    },
    clock,
    log: QUIET,
    consoleFolder,
    world: null,
    ...(resolve === undefined ? {} : { resolve }),
  })
  return new TestApi(`http://127.0.0.1:${config.listen.port}`, api.access, store, hub, roster, async () => {
    await api.close()
    hub.close()
    await store.close()
    release()
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
  })
}

export class TestApi {
  readonly url: string
  readonly access: Access
  readonly store: Store & MaintenanceStore
  readonly close: () => Promise<void>
  readonly #hub: Hub
  readonly #roster: Roster
  readonly #steps = new Map<number, number>()
  #consumers = 0

  constructor(
    url: string,
    access: Access,
    store: Store & MaintenanceStore,
    hub: Hub,
    roster: Roster,
    close: () => Promise<void>,
  ) {
    this.url = url
    this.access = access
    this.store = store
    this.#hub = hub
    this.#roster = roster
    this.close = close
  }

  /** Open streams, over both doors. */
  get streams(): number {
    return this.#roster.size
  }

  /** A key of a consumer of its own. */
  async key(scopes: readonly Scope[] = ['read', 'stream']): Promise<string> {
    const consumer = `consumer-${++this.#consumers}`
    return (await this.access.issue(consumer, consumer, scopes, null)).key
  }

  /** One step of a chain with these records; the sequence of the last. */
  async commit(
    chainId: number,
    records: readonly RecordDraft[],
    tokens: readonly TokenFacts[] = [],
  ): Promise<number> {
    const step = (this.#steps.get(chainId) ?? 0) + 1
    this.#steps.set(chainId, step)
    const outcome = await this.store.commit(commitOf(chainId, step, { records, tokens, atMs: Date.now() }))
    if (outcome.outcome !== 'committed') throw new Error(`step ${step}: ${JSON.stringify(outcome)}`)
    this.#hub.wake()
    return outcome.last
  }
}
