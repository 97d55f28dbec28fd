/**
 * The service, wired on one screen: store, access, chains, hub, HTTP and WebSocket. `close` undoes it in reverse:
 * the door first, then the chains, then the store.
 */
import type { AddressInfo } from 'node:net'
import { Access } from './access/access.ts'
import { ClientAddresses } from './access/clientAddress.ts'
import { FailureThrottle } from './access/failureThrottle.ts'
import { RateLimit } from './access/rateLimit.ts'
import { isKeyCommand, runKeyCommand } from './keyCommands.ts'
import { buildApp } from './http/app.ts'
import { Metrics } from './http/metrics.ts'
import { QuoteCache } from './http/quoteCache.ts'
import { Settings } from './http/settings.ts'
import { SingleFlight } from './http/singleFlight.ts'
import { type Clock, systemClock } from './ops/clock.ts'
import type { Config } from './ops/config.ts'
import { openControl } from './ops/control.ts'
import { createLog, type Log, type LogLevel } from './ops/log.ts'
import { claimStore, openStore, watchStore } from './store/openStore.ts'
import { Hub } from './stream/hub.ts'
import { Roster } from './stream/roster.ts'
import { BackfillKeeper } from './worker/backfillKeeper.ts'
import { ChainKeeper } from './worker/keeper.ts'
import { toThread } from './worker/messages.ts'
import { StreamGate } from './ws/gate.ts'

export type Service = {
  readonly url: string
  readonly access: Access
  /** Whether every chain runs and has health to show. */
  isReady(): boolean
  /** The last sequence the API has seen: from here on it answers with what that commit said. */
  seen(): number
  close(): Promise<void>
}

export type ServiceOptions = {
  readonly config: Config
  readonly clock?: Clock
  readonly log?: Log
  readonly logLevel?: LogLevel
  /** The bundle served at `/`; left out, none. */
  readonly consoleFolder?: string
}

/** Retention is looked after this often, in steps small enough that no commit waits for one. */
const PRUNE_MS = 600_000
const PRUNE_BATCH = 500
/** Answers under way are given this long at the end. */
const DRAIN_MS = 3000
/** For loading a pool that a back-fill found. */
const FOUND_POOL_MS = 10_000

export async function startService({
  config,
  clock = systemClock,
  logLevel = 'info',
  log = createLog(logLevel),
  consoleFolder,
}: ServiceOptions): Promise<Service> {
  const address = config.store.address.reveal()
  const release = await claimStore(address)
  const metrics = new Metrics()
  const store = metrics.ofStore(await openStore(address))
  const settings = await Settings.open(store, config, clock)
  const hub = await Hub.open(store)
  const watch = watchStore(address, () => hub.wake(), log)
  metrics.follow(hub)
  const quotes = new QuoteCache(store, hub)
  const access = new Access(store, clock)
  const limit = new RateLimit(clock)
  const failures = new FailureThrottle(clock)
  const roster = new Roster(clock)
  const addresses = new ClientAddresses({
    trusted: config.listen.trustedProxies,
    allowed: config.admin.allow,
  })
  const [pageSecret, cursorSecret] = [await store.readSecret('page'), await store.readSecret('cursor')]

  const keepers = new Map(
    config.chains.map(chain => [
      chain.chainId,
      new ChainKeeper({
        data: {
          chain: toThread(chain),
          policy: settings.policy.policy,
          coverage: config.coverage.filter(each => each.chainId === chain.chainId),
          storeAddress: address,
          logLevel,
        },
        log,
        onCommitted: (_, tookMs) => {
          metrics.committed(chain.chainId, tookMs)
          hub.wake()
        },
      }),
    ]),
  )
  const chains = new Map(
    config.chains.map(chain => [
      chain.chainId,
      { config: chain, service: () => keepers.get(chain.chainId)?.service() ?? null },
    ]),
  )
  const isReady = () => {
    const down = [...chains.values()].filter(chain => chain.service() === null)
    return {
      ready: down.length === 0,
      reasons: down.map(chain => `chain ${chain.config.chainId} is starting`),
    }
  }
  const backfills = new BackfillKeeper({
    chains: config.chains,
    storeAddress: address,
    store,
    log,
    onFound: (chainId, pools) => track(keepers.get(chainId), pools, log),
  })
  const app = buildApp({
    config,
    store,
    access,
    limit,
    failures,
    addresses,
    hub,
    quotes,
    flights: new SingleFlight(),
    settings,
    metrics,
    adoptPolicy: async policy => {
      await Promise.all([...keepers.values()].map(keeper => keeper.setPolicy(policy)))
    },
    backfills,
    roster,
    clock,
    log,
    chains,
    pageSecret,
    cursorSecret,
    consoleFolder: consoleFolder ?? null,
    isReady,
  })
  const { publicOrigin } = config.listen
  const gate = new StreamGate(app.server, {
    access,
    limit,
    failures,
    addresses,
    hub,
    store,
    clock,
    cursorSecret,
    chainIds: new Set(chains.keys()),
    roster,
    publicOrigin,
  })
  await backfills.resume()
  const control = await openControl(config.store.path, request => answerControl(access, backfills, request))
  const pruning = setInterval(() => {
    store
      .prune({
        nowMs: clock.nowMs(),
        ...settings.retention,
        batch: PRUNE_BATCH,
        replayed: () => roster.replayed(),
      })
      .catch((failure: unknown) => log.warn('old records could not be pruned', { error: String(failure) }))
  }, PRUNE_MS)
  pruning.unref()
  await app.listen({ host: config.listen.host, port: config.listen.port })
  const { port } = app.server.address() as AddressInfo

  return {
    url: publicOrigin ?? `http://${config.listen.host}:${port}`,
    access,
    isReady: () => isReady().ready,
    seen: () => hub.head,
    async close() {
      clearInterval(pruning)
      await control.close()
      gate.close()
      // Whoever connected and asked nothing would otherwise be waited for.
      const drained = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
      await app.close()
      clearTimeout(drained)
      await backfills.close()
      await Promise.all([...keepers.values()].map(keeper => keeper.close()))
      quotes.close()
      hub.close()
      await watch.close()
      await store.close()
      await release()
    },
  }
}

/** What the command line may ask of a running service. */
async function answerControl(
  access: Access,
  backfills: BackfillKeeper,
  request: Readonly<Record<string, unknown>>,
): Promise<object> {
  const { command } = request
  if (isKeyCommand(command)) return runKeyCommand(access, command, request)
  const { chain_id: chainId, bounds } = request as { chain_id: number; bounds?: object }
  switch (command) {
    case 'backfill.start':
      return backfills.start(chainId, bounds ?? {})
    case 'backfill.status':
      return backfills.status(chainId)
    default:
      throw new Error(`the service does not know the command ${JSON.stringify(command)}`)
  }
}

/** Pools a back-fill found are loaded one after another; what is down now finds them at its next start. */
function track(keeper: ChainKeeper | undefined, pools: readonly string[], log: Log): void {
  const load = async () => {
    for (const pool of pools) await keeper?.service()?.poolQuote(pool, FOUND_POOL_MS)
  }
  load().catch((failure: unknown) =>
    log.warn('a pool that was found could not be loaded', { error: String(failure) }),
  )
}
