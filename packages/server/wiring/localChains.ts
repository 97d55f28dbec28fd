/** The chains of this process: one supervised thread each, with back-fills beside them. */
import type { Policy } from '@assay/engine'
import type { Chains } from './chains.ts'
import type { ChainConfig, Config } from '../config/config.ts'
import type { Log } from '../ops/log.ts'
import type { BackfillStore } from '../store/backfill.ts'
import type { Lease } from '../store/cluster.ts'
import { BackfillSupervisor } from '../worker/backfill/backfillSupervisor.ts'
import type { Work } from '../worker/chainService.ts'
import { ChainSupervisor, type SupervisorOptions } from '../worker/supervisor.ts'
import { toThread } from '../worker/messages.ts'

export type LocalOptions = {
  readonly config: Config
  readonly store: BackfillStore
  readonly policy: Policy
  readonly log: Log
  readonly onCommitted: (chainId: number, work: Work) => void
}

/** Time limit for loading a pool that a back-fill found. */
const FOUND_POOL_MS = 10_000

export function startChains(options: LocalOptions): Chains & { readonly backfills: BackfillSupervisor } {
  const { config } = options
  const supervisors = new Map(
    config.chains.map(chain => [chain.chainId, superviseChain(options, chain, null, {})] as const),
  )
  const backfills = superviseBackfills(options, config.chains, chainId => supervisors.get(chainId))
  const chains = new Map(
    config.chains.map(chain => [
      chain.chainId,
      { config: chain, service: () => supervisors.get(chain.chainId)?.service() ?? null },
    ]),
  )
  return {
    chains,
    backfills,
    isReady() {
      const down = [...chains.values()].filter(chain => chain.service() === null)
      return {
        ready: down.length === 0,
        reasons: down.map(chain => `chain ${chain.config.chainId} is starting`),
      }
    },
    async adoptPolicy(policy) {
      await Promise.all([...supervisors.values()].map(supervisor => supervisor.setPolicy(policy)))
    },
    async close() {
      await backfills.close()
      await Promise.all([...supervisors.values()].map(supervisor => supervisor.close()))
    },
  }
}

/** `lease` is the lease this process holds for the chain, when several processes share the store. */
export function superviseChain(
  { config, policy, log, onCommitted }: LocalOptions,
  chain: ChainConfig,
  lease: Lease | null,
  more: Pick<SupervisorOptions, 'onFailed'>,
): ChainSupervisor {
  return new ChainSupervisor({
    data: {
      chain: toThread(chain),
      policy,
      coverage: config.coverage,
      storeAddress: config.store.address.reveal(),
      lease,
    },
    log,
    onCommitted: (_, work) => onCommitted(chain.chainId, work),
    ...more,
  })
}

export function superviseBackfills(
  { config, store, log }: Pick<LocalOptions, 'config' | 'store' | 'log'>,
  chains: readonly ChainConfig[],
  supervisorOf: (chainId: number) => ChainSupervisor | undefined,
): BackfillSupervisor {
  return new BackfillSupervisor({
    chains,
    storeAddress: config.store.address.reveal(),
    store,
    log,
    onFound: (chainId, pools) => track(supervisorOf(chainId), pools, log),
  })
}

/** Loads the pools a back-fill found one after another; a chain that is down finds them at its next start. */
function track(supervisor: ChainSupervisor | undefined, pools: readonly string[], log: Log): void {
  const load = async () => {
    for (const pool of pools) await supervisor?.service()?.poolQuote(pool, FOUND_POOL_MS)
  }
  load().catch((failure: unknown) =>
    log.warn('a pool that was found could not be loaded', { error: String(failure) }),
  )
}
