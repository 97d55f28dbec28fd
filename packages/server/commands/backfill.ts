/** Back-fills for the command line: in the running service if there is one, otherwise in this process. */
import { openEndpoints } from '../feed/endpoints/openEndpoints.ts'
import { systemClock } from '../ops/clock.ts'
import type { Config } from '../config/config.ts'
import { askControl } from '../ops/control.ts'
import { createLog } from '../ops/log.ts'
import { logLoss } from '../store/loss.ts'
import { claimStore, openStore } from '../store/openStore.ts'
import { type BackfillProgress, runBackfill } from '../worker/backfill/backfill.ts'
import type { BackfillBounds, BackfillStatus } from '../worker/backfill/backfillSupervisor.ts'

export type { BackfillProgress }

/** Interval between status requests to the service. */
const LOOK_MS = 500

/**
 * The signal stops it: a back-fill in the service continues there, one in this process keeps its position for the next
 * run.
 */
export async function backfillIn(
  config: Config,
  chainId: number,
  bounds: BackfillBounds,
  signal: AbortSignal,
  onProgress: (progress: BackfillProgress) => void,
): Promise<BackfillProgress> {
  const chain = config.chains.find(each => each.chainId === chainId)
  if (chain === undefined)
    throw new Error(
      `chain ${chainId} is not in the configuration; it has ${config.chains.map(each => each.chainId).join(', ')}`,
    )
  const started = await askControl(config.store.path, {
    command: 'backfill.start',
    chain_id: chainId,
    bounds,
  })
  if (started !== null) return follow(config, chainId, signal, onProgress)
  const address = config.store.address.reveal()
  const release = await claimStore(address, loss => logLoss(createLog(), loss))
  try {
    const store = await openStore(address)
    const { endpoints, close } = openEndpoints(chain, systemClock)
    try {
      return await runBackfill({ chain, endpoints, store, clock: systemClock, signal, ...bounds, onProgress })
    } finally {
      close()
      await store.close()
    }
  } finally {
    await release()
  }
}

async function follow(
  config: Config,
  chainId: number,
  signal: AbortSignal,
  onProgress: (progress: BackfillProgress) => void,
): Promise<BackfillProgress> {
  for (;;) {
    signal.throwIfAborted()
    const status = (await askControl(config.store.path, {
      command: 'backfill.status',
      chain_id: chainId,
    })) as BackfillStatus | null
    if (status === null) throw new Error('the service stopped; start it again and the back-fill resumes')
    if (status.progress !== null) onProgress(status.progress)
    if (!status.running) {
      if (status.error !== null) throw new Error(status.error)
      if (status.progress?.done === true) return status.progress
      throw new Error('the back-fill was stopped; start it again to resume')
    }
    await new Promise(resolve => setTimeout(resolve, LOOK_MS))
  }
}
