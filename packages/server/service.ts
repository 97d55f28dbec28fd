/**
 * The service, wired on one screen: store, access, chains, hub, HTTP and WebSocket. `close` undoes it in reverse:
 * the door first, then the chains, then the store.
 */
import type { AddressInfo } from 'node:net'
import { DEFAULT_POLICY, mergePolicy } from '@assay/engine'
import { Access } from './access/access.ts'
import { FailureThrottle } from './access/failureThrottle.ts'
import { RateLimit } from './access/rateLimit.ts'
import { scopesIn } from './config.ts'
import { buildApp } from './http/app.ts'
import { type Clock, systemClock } from './ops/clock.ts'
import type { Config } from './ops/config.ts'
import { openControl } from './ops/control.ts'
import { createLog, type Log, type LogLevel } from './ops/log.ts'
import { claimStore, openStore, watchStore } from './store/openStore.ts'
import { Hub } from './stream/hub.ts'
import { ChainKeeper } from './worker/keeper.ts'
import { toThread } from './worker/messages.ts'
import { StreamGate } from './ws/gate.ts'

export type Service = {
  readonly url: string
  readonly access: Access
  /** Whether every chain runs and has health to show. */
  isReady(): boolean
  close(): Promise<void>
}

export type ServiceOptions = {
  readonly config: Config
  readonly clock?: Clock
  readonly log?: Log
  readonly logLevel?: LogLevel
}

/** Retention is looked after this often, in steps small enough that no commit waits for one. */
const PRUNE_MS = 600_000
const PRUNE_BATCH = 500

export async function startService({
  config,
  clock = systemClock,
  logLevel = 'info',
  log = createLog(logLevel),
}: ServiceOptions): Promise<Service> {
  const policy = Object.keys(config.policy).length === 0 ? DEFAULT_POLICY : mergePolicy(config.policy)
  const address = config.store.address.reveal()
  const release = await claimStore(address)
  const store = await openStore(address)
  const hub = await Hub.open(store)
  const watch = watchStore(address, () => hub.wake(), log)
  const access = new Access(store, clock)
  const limit = new RateLimit(clock)
  const failures = new FailureThrottle(clock)
  const [pageSecret, cursorSecret] = [await store.readSecret('page'), await store.readSecret('cursor')]

  const keepers = new Map(
    config.chains.map(chain => [
      chain.chainId,
      new ChainKeeper({
        data: {
          chain: toThread(chain),
          policy,
          coverage: config.coverage.filter(each => each.chainId === chain.chainId),
          storeAddress: address,
          logLevel,
        },
        log,
        onCommitted: () => hub.wake(),
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
  const app = buildApp({
    config,
    store,
    access,
    limit,
    failures,
    hub,
    clock,
    log,
    chains,
    pageSecret,
    cursorSecret,
    isReady,
  })
  const { publicOrigin } = config.listen
  const gate = new StreamGate(app.server, {
    access,
    limit,
    failures,
    hub,
    store,
    clock,
    cursorSecret,
    chainIds: new Set(chains.keys()),
    publicOrigin,
  })
  const control = await openControl(config.store.path, request => answerControl(access, request))
  const pruning = setInterval(() => {
    store
      .prune({
        nowMs: clock.nowMs(),
        ...config.retention,
        batch: PRUNE_BATCH,
        replayed: () => gate.replayed(),
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
    async close() {
      clearInterval(pruning)
      await control.close()
      gate.close()
      await app.close()
      await Promise.all([...keepers.values()].map(keeper => keeper.close()))
      hub.close()
      await watch.close()
      await store.close()
      await release()
    },
  }
}

/** What the command line may ask of a running service. */
async function answerControl(access: Access, request: Readonly<Record<string, unknown>>): Promise<object> {
  if (request['command'] !== 'keys.issue')
    throw new Error(`the service does not know the command ${JSON.stringify(request['command'])}`)
  const { name, consumer, scopes } = request as { name: string; consumer: string; scopes: readonly string[] }
  return access.issue(name, consumer, scopesIn(scopes), null)
}
