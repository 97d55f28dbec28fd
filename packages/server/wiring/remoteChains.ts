/** Chains written by other processes: called through the store, and known to be alive by their leases. */
import type { Chains } from './chains.ts'
import type { Clock } from '../ops/clock.ts'
import type { Config } from '../config/config.ts'
import type { BackfillStore } from '../store/backfill.ts'
import type { RpcStore, LeaseStore } from '../store/cluster.ts'
import { viewOf } from '../worker/backfill/backfillSupervisor.ts'
import { type BackfillView, ChainDown } from '../worker/chainService.ts'
import { StoreRpcClient, StoreRpcChain } from '../cluster/storeRpc.ts'
import { LeaseWatch } from '../cluster/leaseWatch.ts'

export type RemoteOptions = {
  readonly config: Pick<Config, 'chains'>
  readonly cluster: LeaseStore & RpcStore
  readonly store: BackfillStore
  /** The name of this process in remote calls. */
  readonly node: string
  readonly clock: Clock
}

export async function reachChains({
  config,
  cluster,
  store,
  node,
  clock,
}: RemoteOptions): Promise<Chains & { wake(): void }> {
  const leases = await LeaseWatch.open(cluster, clock)
  const rpc = new StoreRpcClient(cluster, node)
  const chains = new Map(
    config.chains.map(chain => {
      const posted = new StoreRpcChain(chain.chainId, rpc)
      return [chain.chainId, { config: chain, service: () => (leases.isHeld(chain.chainId) ? posted : null) }]
    }),
  )
  const viewAt = async (chainId: number): Promise<BackfillView | null> =>
    leases.isHeld(chainId)
      ? ((await rpc.ask(chainId, 'backfill.view', [])) as BackfillView | null)
      : viewOf(chainId, await store.readBackfill(chainId), undefined)
  return {
    chains,
    wake: () => rpc.wake(),
    backfills: {
      async start(chainId, bounds) {
        if (!leases.isHeld(chainId)) throw new ChainDown(`no process writes chain ${chainId} right now`)
        await rpc.ask(chainId, 'backfill.start', [bounds])
      },
      async list() {
        return (await Promise.all([...chains.keys()].map(viewAt))).filter(view => view !== null)
      },
    },
    isReady() {
      const silent = [...chains.keys()].filter(chainId => !leases.isHeld(chainId))
      return { ready: true, reasons: silent.map(chainId => `no process writes chain ${chainId}`) }
    },
    async adoptPolicy(policy) {
      // A chain that is down now reads the policy from the store later.
      await Promise.all([...chains.values()].map(async chain => chain.service()?.setPolicy(policy)))
    },
    async close() {
      leases.close()
      rpc.close()
    },
  }
}
