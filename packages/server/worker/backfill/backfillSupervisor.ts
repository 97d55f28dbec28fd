/** Back-fills of a running service, at most one per chain, each in its own thread. Interrupted ones are resumed. */
import { Worker } from 'node:worker_threads'
import type { ChainConfig } from '../../config/config.ts'
import type { Log } from '../../ops/log.ts'
import type { BackfillPosition, BackfillStore } from '../../store/backfill.ts'
import type { BackfillProgress } from './backfill.ts'
import type { Backfills, BackfillView } from '../chainService.ts'
import { type ThreadData, toThread } from '../messages.ts'

export type BackfillBounds = { readonly fromBlock?: number; readonly toBlock?: number }
export type BackfillData = {
  readonly chain: ThreadData['chain']
  readonly storeAddress: string
  readonly bounds: BackfillBounds
}
export type BackfillStatus = {
  readonly running: boolean
  readonly progress: BackfillProgress | null
  readonly error: string | null
}

export type BackfillSupervisorOptions = {
  readonly chains: readonly ChainConfig[]
  readonly storeAddress: string
  readonly store: BackfillStore
  readonly log: Log
  /** Receives pools that were found but are not loaded. */
  readonly onFound: (chainId: number, pools: readonly string[]) => void
}

type Running = { readonly worker: Worker; readonly exited: Promise<void>; status: BackfillStatus }

const CLOSE_MS = 5000

export class BackfillSupervisor implements Backfills {
  readonly #options: BackfillSupervisorOptions
  readonly #running = new Map<number, Running>()

  constructor(options: BackfillSupervisorOptions) {
    this.#options = options
  }

  /** Resumes back-fills that a stop or a crash interrupted. */
  async resume(): Promise<void> {
    for (const { chainId } of this.#options.chains) {
      const position = await this.#options.store.readBackfill(chainId)
      if (position !== null && position.nextBlock <= position.toBlock) this.start(chainId, {})
    }
  }

  /** Has no effect on one that already runs. */
  start(chainId: number, bounds: BackfillBounds): BackfillStatus {
    const known = this.#running.get(chainId)
    if (known?.status.running === true) return known.status
    const chain = this.#options.chains.find(each => each.chainId === chainId)
    if (chain === undefined)
      throw new Error(
        `chain ${chainId} is not served; served are ${this.#options.chains.map(each => each.chainId).join(', ')}`,
      )
    const { storeAddress, log } = this.#options
    const data: BackfillData = { chain: toThread(chain), storeAddress, bounds }
    const worker = new Worker(new URL('./backfillThread.ts', import.meta.url), { workerData: data })
    const running: Running = {
      worker,
      status: { running: true, progress: null, error: null },
      exited: new Promise(resolve => {
        worker.on('exit', () => {
          running.status = { ...running.status, running: false }
          void this.#found(chainId)
          resolve()
        })
      }),
    }
    worker.on('message', (progress: BackfillProgress) => {
      running.status = { ...running.status, progress }
    })
    worker.on('error', failure => {
      const error = failure instanceof Error ? failure.message : String(failure)
      running.status = { ...running.status, error }
      log.error('a back-fill failed; started again, it resumes from its stored position', {
        chain_id: chainId,
        error,
      })
    })
    this.#running.set(chainId, running)
    return running.status
  }

  status(chainId: number): BackfillStatus {
    return this.#running.get(chainId)?.status ?? { running: false, progress: null, error: null }
  }

  async list(): Promise<readonly BackfillView[]> {
    const views = await Promise.all(this.#options.chains.map(({ chainId }) => this.view(chainId)))
    return views.filter(view => view !== null)
  }

  /** Null if there never was one. */
  async view(chainId: number): Promise<BackfillView | null> {
    const position = await this.#options.store.readBackfill(chainId)
    return viewOf(chainId, position, this.#running.get(chainId)?.status)
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#running.values()].map(async ({ worker, exited, status }) => {
        if (!status.running) return
        worker.postMessage('close')
        const force = setTimeout(() => void worker.terminate(), CLOSE_MS)
        await exited
        clearTimeout(force)
      }),
    )
  }

  async #found(chainId: number): Promise<void> {
    try {
      const pools = await this.#options.store.readFoundPools(chainId)
      if (pools.length > 0) this.#options.onFound(chainId, pools)
    } catch {
      // The service is closing; the next start tries again.
    }
  }
}

/** Combines the stored position with the status of the thread. */
export function viewOf(
  chainId: number,
  position: BackfillPosition | null,
  known: BackfillStatus | undefined,
): BackfillView | null {
  if (position === null && known === undefined) return null
  const isDone = position !== null && position.nextBlock > position.toBlock
  const failed = known?.error == null ? 'STOPPED' : 'FAILED'
  return {
    chainId,
    status: known?.running === true ? 'RUNNING' : isDone ? 'DONE' : failed,
    fromBlock: position?.fromBlock ?? null,
    toBlock: position?.toBlock ?? null,
    nextBlock: position?.nextBlock ?? null,
    events: position?.events ?? 0,
    etaS: known?.running === true ? (known.progress?.eta_s ?? null) : null,
    error: known?.error ?? known?.progress?.waiting ?? null,
  }
}
