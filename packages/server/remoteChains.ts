/** Chains that other processes write: asked by letter, and known to live by the beats of their seats. */
import type { Chains } from './chains.ts'
import type { Clock } from './ops/clock.ts'
import type { Config } from './ops/config.ts'
import type { BackfillStore } from './store/backfill.ts'
import type { MailStore, SeatStore } from './store/cluster.ts'
import { viewOf } from './worker/backfillKeeper.ts'
import { type BackfillView, ChainDown } from './worker/chainService.ts'
import { Correspondence, PostedChain } from './worker/mail.ts'
import { SeatWatch } from './worker/seatWatch.ts'

export type RemoteOptions = {
  readonly config: Pick<Config, 'chains'>
  readonly cluster: SeatStore & MailStore
  readonly store: BackfillStore
  /** What this process is called in letters. */
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
  const seats = await SeatWatch.open(cluster, clock)
  const letters = new Correspondence(cluster, node)
  const chains = new Map(
    config.chains.map(chain => {
      const posted = new PostedChain(chain.chainId, letters)
      return [chain.chainId, { config: chain, service: () => (seats.isHeld(chain.chainId) ? posted : null) }]
    }),
  )
  const viewAt = async (chainId: number): Promise<BackfillView | null> =>
    seats.isHeld(chainId)
      ? ((await letters.ask(chainId, 'backfill.view', [])) as BackfillView | null)
      : viewOf(chainId, await store.readBackfill(chainId), undefined)
  return {
    chains,
    wake: () => letters.wake(),
    backfills: {
      async start(chainId, bounds) {
        if (!seats.isHeld(chainId)) throw new ChainDown(`no process writes chain ${chainId} right now`)
        await letters.ask(chainId, 'backfill.start', [bounds])
      },
      async list() {
        return (await Promise.all([...chains.keys()].map(viewAt))).filter(view => view !== null)
      },
    },
    isReady() {
      const silent = [...chains.keys()].filter(chainId => !seats.isHeld(chainId))
      return { ready: true, reasons: silent.map(chainId => `no process writes chain ${chainId}`) }
    },
    async adoptPolicy(policy) {
      // Who cannot be asked now finds it in the store.
      await Promise.all([...chains.values()].map(async chain => chain.service()?.setPolicy(policy)))
    },
    async close() {
      seats.close()
      letters.close()
    },
  }
}
