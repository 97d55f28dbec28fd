/** The API of a node, wired on one screen: access, hub, HTTP and WebSocket over a given store and given chains. */
import type { AddressInfo } from 'node:net'
import { Access } from '../access/access.ts'
import { ClientAddresses } from '../access/clientAddress.ts'
import { FailureThrottle } from '../access/failureThrottle.ts'
import type { Limiter } from '../access/rateLimit.ts'
import type { Chains } from './chains.ts'
import type { WorldControl } from '../http/worldControl.ts'
import { buildApp } from '../http/app.ts'
import { RootDoor } from '../http/compat/rootDoor.ts'
import { Feeds } from '../http/views/feeds.ts'
import { Interest } from '../http/views/interest.ts'
import type { Metrics } from '../http/plumbing/metrics.ts'
import { QuoteCache } from '../http/views/quoteCache.ts'
import type { Settings } from '../http/settings.ts'
import { SingleFlight } from '../http/plumbing/singleFlight.ts'
import type { Clock } from '../ops/clock.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../ops/log.ts'
import type { Store } from '../store/port.ts'
import type { Hub } from '../stream/hub.ts'
import type { Roster } from '../stream/roster.ts'
import { addressRule } from '../webhooks/publicAddress.ts'
import { Sender } from '../webhooks/sender.ts'
import { type Resolve, resolveByName } from '../webhooks/target.ts'
import { StreamGate } from '../ws/gate.ts'

export type ApiOptions = {
  readonly config: Config
  readonly store: Store
  readonly hub: Hub
  readonly settings: Settings
  readonly metrics: Metrics
  readonly limit: Limiter
  readonly roster: Roster
  readonly chains: Chains
  readonly clock: Clock
  readonly log: Log
  readonly consoleFolder: string | null
  readonly world: WorldControl | null
  /** The name of this process among those that share the store; left out when it is the only one. */
  readonly node?: string
  /** Resolves host names of webhook receivers; left out, the operating system does. */
  readonly resolve?: Resolve
}

export type Api = {
  readonly url: string
  /** URL of the compatibility server; null without one. */
  readonly compatUrl: string | null
  readonly access: Access
  close(): Promise<void>
}

/** Time given to requests in flight at shutdown. */
const DRAIN_MS = 3000
/** Pending connections: beyond this limit the system drops a burst and clients retry after a second. */
const BACKLOG = 4096

export async function openApi(options: ApiOptions): Promise<Api> {
  const { config, store, hub, clock, metrics, chains } = options
  metrics.follow(hub)
  const feeds = await Feeds.open(store, hub, clock, chains.chains.keys())
  const quotes = new QuoteCache(store, hub, feeds)
  const interest = new Interest({ store, clock, log: options.log, streamed: () => hub.streamed() })
  quotes.onAsked = (token, atMs) => interest.note(token, atMs)
  const access = new Access(store, clock)
  const failures = new FailureThrottle(clock)
  const addresses = new ClientAddresses({
    trusted: config.listen.trustedProxies,
    allowed: config.admin.allow,
  })
  const [pageSecret, cursorSecret] = [await store.readSecret('page'), await store.readSecret('cursor')]
  const sending = {
    isAllowed: addressRule(config.webhooks?.allowPrivate ?? []),
    resolve: options.resolve ?? resolveByName,
    clock,
  }
  const sender = new Sender({
    store,
    hub,
    sending,
    clock,
    log: options.log,
    owner: options.node ?? 'alone',
    isAlone: options.node === undefined,
  })
  const app = buildApp({
    ...options,
    access,
    failures,
    addresses,
    quotes,
    feeds,
    flights: new SingleFlight(),
    chains: chains.chains,
    backfills: chains.backfills,
    webhooks: { sending, changed: () => sender.changed() },
    adoptPolicy: policy => chains.adoptPolicy(policy),
    isReady: () => chains.isReady(),
    pageSecret,
    cursorSecret,
  })
  const { publicOrigin } = config.listen
  const gate = new StreamGate(app.server, {
    ...options,
    access,
    failures,
    addresses,
    cursorSecret,
    chainIds: new Set(chains.chains.keys()),
    publicOrigin,
    door: app.connections,
  })
  await app.listen({ host: config.listen.host, port: config.listen.port, backlog: BACKLOG })
  const { port } = app.server.address() as AddressInfo
  const door = config.compat.listen === null ? null : new RootDoor(app.server)
  const compatUrl =
    config.compat.listen === null || door === null
      ? null
      : await door.listen(config.compat.listen.host, config.compat.listen.port, BACKLOG)
  return {
    url: publicOrigin ?? `http://${config.listen.host}:${port}`,
    compatUrl,
    access,
    async close() {
      gate.close()
      door?.close()
      // A client that connected without a request would otherwise delay the shutdown.
      const drained = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
      await app.close()
      clearTimeout(drained)
      await sender.close()
      quotes.close()
      feeds.close()
      await interest.close()
    },
  }
}
