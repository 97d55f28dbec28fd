/**
 * The service in one process, wired on one screen: store, chains, hub, API. `close` undoes it in reverse: the API
 * first, then the chains, then the store. Scaled out, the same parts run in roles: `apiNode.ts`, `chainNode.ts`.
 */
import type { Access } from './access/access.ts'
import { RateLimit } from './access/rateLimit.ts'
import { openApi } from './wiring/api.ts'
import { Metrics } from './http/plumbing/metrics.ts'
import { Settings } from './http/settings.ts'
import { isKeyCommand, runKeyCommand } from './commands/keyCommands.ts'
import { startChains } from './wiring/localChains.ts'
import { systemClock } from './ops/clock.ts'
import { openControl } from './ops/control.ts'
import { createLog } from './ops/log.ts'
import { keepCandles } from './wiring/candles.ts'
import { keepPruning } from './wiring/retention.ts'
import { logLoss } from './store/loss.ts'
import { claimStore, openStore } from './store/openStore.ts'
import { watchStore } from './store/watchStore.ts'
import { Hub } from './stream/hub.ts'
import { Roster } from './stream/roster.ts'
import type { Service, ServiceOptions } from './wiring/serviceOptions.ts'
import type { BackfillSupervisor } from './worker/backfill/backfillSupervisor.ts'

export { startApiNode } from './roles/apiNode.ts'
export type { WorldControl } from './http/worldControl.ts'
export { type ChainNode, startChainNode } from './roles/chainNode.ts'
export type { Service, ServiceOptions } from './wiring/serviceOptions.ts'

export async function startService({
  config,
  clock = systemClock,
  logLevel = 'info',
  log = createLog(logLevel),
  consoleFolder,
  world,
}: ServiceOptions): Promise<Service> {
  const address = config.store.address.reveal()
  const metrics = new Metrics()
  const release = await claimStore(address, loss => {
    logLoss(log, loss)
    metrics.lost(loss)
  })
  const store = metrics.ofStore(await openStore(address))
  const settings = await Settings.open(store, config, clock)
  const hub = await Hub.open(store, clock)
  const watch = watchStore(address, () => hub.wake(), log)
  const chains = startChains({
    config,
    store,
    policy: settings.policy.policy,
    log,
    onCommitted: (chainId, work) => {
      metrics.committed(chainId, work)
      hub.wake()
    },
  })
  await chains.backfills.resume()
  const roster = new Roster(clock)
  const limit = new RateLimit(clock)
  const api = await openApi({
    config,
    store,
    hub,
    settings,
    metrics,
    limit,
    roster,
    chains,
    clock,
    log,
    consoleFolder: consoleFolder ?? null,
    world: world ?? null,
  })
  const control = await openControl(config.store.path, request =>
    answerControl(api.access, chains.backfills, request),
  )
  const pruning = keepPruning({ store, settings, clock, log, replayed: () => roster.replayed() })
  const candles = keepCandles({ store, clock, log })

  return {
    url: api.url,
    compatUrl: api.compatUrl,
    access: api.access,
    isReady: () => chains.isReady().ready,
    seen: () => hub.head,
    async close() {
      pruning.close()
      await candles.close()
      await control.close()
      await api.close()
      await chains.close()
      hub.close()
      await watch.close()
      await store.close()
      await release()
    },
  }
}

/** Answers requests of the command line to a running service. */
async function answerControl(
  access: Access,
  backfills: BackfillSupervisor,
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
