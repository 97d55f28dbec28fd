/**
 * A process that writes chains, or stands by for those that do. Each chain has an election of its own; when the process
 * loses a lease it stops the chain and stands by again.
 */
import { superviseBackfills, superviseChain } from '../wiring/localChains.ts'
import { Settings } from '../http/settings.ts'
import { assertShareable, followSettings, nodeName } from './node.ts'
import { systemClock } from '../ops/clock.ts'
import type { ChainConfig } from '../config/config.ts'
import { createLog } from '../ops/log.ts'
import { keepCandles } from '../wiring/candles.ts'
import { keepPruning } from '../wiring/retention.ts'
import type { ServiceOptions } from '../wiring/serviceOptions.ts'
import type { Lease } from '../store/cluster.ts'
import { logLoss } from '../store/loss.ts'
import { openStore, shareStore } from '../store/openStore.ts'
import { openCluster } from '../store/postgres/clusterStore.ts'
import { CommitListener } from '../store/postgres/listener.ts'
import { RPC_CHANNEL } from '../store/postgres/storeRpc.ts'
import type { BackfillBounds, BackfillSupervisor } from '../worker/backfill/backfillSupervisor.ts'
import { WriterElection } from '../cluster/election.ts'
import { ChainDown, type ChainService } from '../worker/chainService.ts'
import type { ChainSupervisor } from '../worker/supervisor.ts'
import { StoreRpcServer } from '../cluster/storeRpc.ts'

export type ChainNode = {
  /** Chains that this process writes right now. */
  writes(): readonly number[]
  close(): Promise<void>
}

export type ChainNodeOptions = Omit<ServiceOptions, 'consoleFolder'> & {
  /** Left out, all chains of the configuration. */
  readonly chainIds?: readonly number[]
}

/** How often the replay positions of all nodes are read. */
const REPLAYED_MS = 1000

/** A chain while this process writes it. */
type Turn = { readonly supervisor: ChainSupervisor; readonly backfills: BackfillSupervisor }

export async function startChainNode({
  config,
  chainIds = config.chains.map(({ chainId }) => chainId),
  clock = systemClock,
  logLevel = 'info',
  log = createLog(logLevel),
}: ChainNodeOptions): Promise<ChainNode> {
  const address = config.store.address.reveal()
  assertShareable(address, 'chain')
  const unknown = chainIds.filter(id => !config.chains.some(({ chainId }) => chainId === id))
  if (unknown.length > 0)
    throw new Error(
      `chain ${unknown.join(', ')} is not in the configuration; it has ${config.chains.map(({ chainId }) => chainId).join(', ')}`,
    )
  const release = await shareStore(address, loss => logLoss(log, loss))
  const store = await openStore(address)
  const cluster = openCluster(address)
  const settings = await Settings.open(store, config, clock)
  const turns = new Map<number, Turn>()

  const begin = (lease: Lease): void => {
    const chain = config.chains.find(({ chainId }) => chainId === lease.chainId) as ChainConfig
    const options = {
      config,
      store,
      policy: settings.policy.policy,
      log,
      onCommitted: () => undefined,
    }
    const supervisor = superviseChain(options, chain, lease, {
      onFailed: () => void election.resign(lease),
    })
    const backfills = superviseBackfills(options, [chain], () => supervisor)
    turns.set(lease.chainId, { supervisor, backfills })
    backfills.resume().catch((failure: unknown) =>
      log.warn('a back-fill could not be resumed', {
        chain_id: lease.chainId,
        error: String(failure),
      }),
    )
  }
  const end = async ({ chainId }: Lease): Promise<void> => {
    const turn = turns.get(chainId)
    turns.delete(chainId)
    await turn?.backfills.close()
    await turn?.supervisor.close()
  }
  const election = new WriterElection({
    leases: cluster,
    chainIds,
    owner: nodeName(),
    clock,
    log,
    onWon: begin,
    onLost: end,
  })
  const adoptPolicy = async (): Promise<void> => {
    await Promise.all(
      [...turns.values()].map(({ supervisor }) => supervisor.setPolicy(settings.policy.policy)),
    )
  }
  const rpc = new StoreRpcServer({
    store: cluster,
    leases: () => election.leases,
    async answer(chainId, method, args) {
      if (method !== 'setPolicy') return answer(turns.get(chainId), chainId, method, args)
      // Use the stored policy, not the one in the request: another version may merge it with other defaults.
      await settings.refresh()
      return adoptPolicy()
    },
  })
  const listener = new CommitListener({
    url: address,
    channel: RPC_CHANNEL,
    onNews: () => rpc.wake(),
    onQueue: () => undefined,
  })
  const following = followSettings(settings, () => {
    adoptPolicy().catch((failure: unknown) =>
      log.warn('a policy was not applied', { error: String(failure) }),
    )
  })
  let replayed: number | null = null
  const looking = setInterval(() => {
    cluster.readReplayed().then(
      least => {
        replayed = least
      },
      () => undefined,
    )
  }, REPLAYED_MS)
  looking.unref()
  const pruning = keepPruning({
    store,
    settings,
    clock,
    log,
    replayed: () => replayed,
    isWanted: () => turns.size > 0,
  })
  const candles = keepCandles({ store, clock, log, isWanted: () => turns.size > 0 })

  return {
    writes: () => [...turns.keys()],
    async close() {
      pruning.close()
      await candles.close()
      clearInterval(looking)
      following.close()
      await election.close()
      await rpc.close()
      await listener.close()
      await cluster.close()
      await store.close()
      await release()
    },
  }
}

/** Answers calls of API nodes to a chain's writer. */
async function answer(
  turn: Turn | undefined,
  chainId: number,
  method: string,
  args: readonly unknown[],
): Promise<unknown> {
  if (turn === undefined) throw new ChainDown(`this process no longer writes chain ${chainId}`)
  if (method === 'backfill.start') return turn.backfills.start(chainId, args[0] as BackfillBounds)
  if (method === 'backfill.view') return turn.backfills.view(chainId)
  const service = turn.supervisor.service()
  if (service === null) throw new ChainDown(`chain ${chainId} is starting`)
  const call = METHODS.find(each => each === method)
  // The caller runs a newer version. Writers are upgraded last and will know the method then.
  if (call === undefined) throw new ChainDown(`the writer of chain ${chainId} does not know ${method}`)
  return (service[call] as (...given: readonly unknown[]) => Promise<unknown>).apply(service, [...args])
}

/** Listed by name, so that a remote call can reach nothing else; it may come from another version. */
const METHODS = [
  'progress',
  'enrol',
  'unenrol',
  'confirmDecimals',
  'tokenQuote',
  'poolQuote',
  'exit',
  'setPaused',
  'tryPolicy',
] as const satisfies readonly (keyof ChainService)[]
