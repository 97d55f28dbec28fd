/**
 * One of any number of API nodes on a shared database. It keeps no state that another node would need: sessions, keys,
 * quotas and stream counts are in the store, its hub tails the log, and questions only a chain's writer can answer go
 * over the store RPC.
 */
import { SharedLimit } from '../access/sharedLimit.ts'
import { openApi } from '../wiring/api.ts'
import type { Chains } from '../wiring/chains.ts'
import { Metrics } from '../http/plumbing/metrics.ts'
import { Settings } from '../http/settings.ts'
import { assertShareable, followSettings, nodeName } from './node.ts'
import { systemClock } from '../ops/clock.ts'
import { createLog } from '../ops/log.ts'
import { reachChains } from '../wiring/remoteChains.ts'
import type { Service, ServiceOptions } from '../wiring/serviceOptions.ts'
import { logLoss } from '../store/loss.ts'
import { openNodeStore, shareStore } from '../store/openStore.ts'
import { watchStore } from '../store/watchStore.ts'
import { openCluster } from '../store/postgres/clusterStore.ts'
import { CommitListener } from '../store/postgres/listener.ts'
import { RPC_CHANNEL } from '../store/postgres/storeRpc.ts'
import { Hub } from '../stream/hub.ts'
import { NodeLag } from '../stream/nodeLag.ts'
import { SharedRoster } from '../stream/sharedRoster.ts'

/** Equal to the wait of a client with a valid cursor: a node that is further behind should get no new clients. */
const LATE_MS = 5000

export async function startApiNode({
  config,
  clock = systemClock,
  logLevel = 'info',
  log = createLog(logLevel),
  consoleFolder,
}: ServiceOptions): Promise<Service> {
  const address = config.store.address.reveal()
  assertShareable(address, 'api')
  const node = nodeName()
  const metrics = new Metrics()
  const release = await shareStore(address, loss => {
    logLoss(log, loss)
    metrics.lost(loss)
  })
  const { tail, ...opened } = await openNodeStore(address, config.store.replica?.reveal() ?? null)
  const store = metrics.ofStore(opened)
  const cluster = openCluster(address)
  const settings = await Settings.open(store, config, clock)
  const hub = await Hub.open(tail, clock)
  const watch = watchStore(address, () => hub.wake(), log)
  const chains = await reachChains({ config, cluster, store, node, clock })
  const listener = new CommitListener({
    url: address,
    channel: RPC_CHANNEL,
    onNews: asker => {
      if (asker === node) chains.wake()
    },
    onQueue: () => undefined,
  })
  const limit = new SharedLimit(cluster, clock)
  const lag = new NodeLag(hub, store, clock)
  const isReady = () => readiness(lag, chains.isReady().reasons)
  const roster = await SharedRoster.open(cluster, node, clock)
  const following = followSettings(settings, () => undefined)
  const api = await openApi({
    config,
    store,
    hub,
    settings,
    metrics,
    limit,
    roster,
    chains: { ...chains, isReady },
    clock,
    log,
    consoleFolder: consoleFolder ?? null,
    world: null,
    node,
  })

  return {
    url: api.url,
    compatUrl: api.compatUrl,
    access: api.access,
    isReady: () => isReady().ready,
    seen: () => hub.head,
    async close() {
      following.close()
      lag.close()
      await api.close()
      await chains.close()
      await listener.close()
      await roster.close()
      await limit.close()
      hub.close()
      await watch.close()
      await cluster.close()
      await store.close()
      await release()
    },
  }
}

/**
 * Stored data can be served with or without a writer, so only a node that cannot see the end of the log is not ready.
 */
function readiness(lag: NodeLag, reasons: readonly string[]): ReturnType<Chains['isReady']> {
  if (lag.silentMs > LATE_MS) return { ready: false, reasons: ['the database does not answer', ...reasons] }
  if (lag.behindMs > LATE_MS)
    return { ready: false, reasons: [`this node is ${lag.behindMs} ms behind the log`, ...reasons] }
  return { ready: true, reasons }
}
