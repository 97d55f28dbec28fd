/**
 * Keeps one chain running: starts a thread, and a new one after each failure, with growing pauses. A failing chain
 * never stops another one, nor the API, which meanwhile serves stored data with honest health.
 */
import { flushCompileCache } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { Policy } from '@assay/engine'
import type { Log } from '../ops/log.ts'
import { RemoteChain } from './remoteChain.ts'
import './chainThread.ts'
import { ChainDown, type ChainService, type Work } from './chainService.ts'
import type { Method, Reply, Request, ThreadData } from './messages.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A thread that lived this long started well, so the pause is reset. */
const GOOD_LIFE_MS = 60_000

export type SupervisorOptions = {
  readonly data: ThreadData
  readonly log: Log
  readonly onCommitted: (last: number, work: Work) => void
  /** If given, a failed thread is not restarted here: another process may be better placed. */
  readonly onFailed?: () => void
}

export class ChainSupervisor {
  readonly #options: SupervisorOptions
  #thread: ThreadLink | null = null
  /** The policy of this thread and of later ones. */
  #policy: Policy
  #pauseMs = FIRST_PAUSE_MS
  #isClosing = false
  #pause: NodeJS.Timeout | null = null

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#policy = options.data.policy
    this.#start()
  }

  /** Null while the chain is down. */
  service(): ChainService | null {
    return this.#thread?.isStarted === true ? this.#thread : null
  }

  /** Applies from now on; a chain that is down uses it when it starts. */
  async setPolicy(policy: Policy): Promise<void> {
    this.#policy = policy
    await this.service()?.setPolicy(policy)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#pause !== null) clearTimeout(this.#pause)
    await this.#thread?.close()
  }

  #start(): void {
    const startedAtMs = performance.now()
    const { data, log } = this.#options
    this.#thread = new ThreadLink({ ...data, policy: this.#policy }, this.#options, failure => {
      this.#thread = null
      if (this.#isClosing) return
      if (this.#options.onFailed !== undefined) {
        log.error('a chain stopped', { chain_id: data.chain.chainId, error: failure })
        this.#options.onFailed()
        return
      }
      if (performance.now() - startedAtMs > GOOD_LIFE_MS) this.#pauseMs = FIRST_PAUSE_MS
      log.error('a chain stopped and will be started again', {
        chain_id: data.chain.chainId,
        in_ms: this.#pauseMs,
        error: failure,
      })
      this.#pause = setTimeout(() => this.#start(), this.#pauseMs)
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    })
  }
}

/** The main thread's end of a chain's thread. */
class ThreadLink extends RemoteChain {
  isStarted = false
  readonly #worker: Worker
  readonly #waiting = new Map<
    number,
    { readonly resolve: (result: never) => void; readonly reject: (failure: Error) => void }
  >()
  #nextId = 0
  readonly #exited: Promise<void>

  constructor(
    data: ThreadData,
    watch: Pick<SupervisorOptions, 'onCommitted' | 'log'>,
    onEnd: (failure: string) => void,
  ) {
    super(data.chain.chainId)
    // Threads load the same modules as this one. With a compile cache, none of them has to compile them again.
    flushCompileCache()
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: data })
    let failure = 'the thread ended'
    this.#worker.on('message', (reply: Reply) => this.#take(reply, watch))
    this.#worker.on('error', error => {
      failure = error instanceof Error ? error.message : String(error)
    })
    this.#exited = new Promise(resolve => {
      this.#worker.on('exit', () => {
        for (const { reject } of this.#waiting.values()) reject(new ChainDown(failure))
        this.#waiting.clear()
        resolve()
        onEnd(failure)
      })
    })
  }

  async close(): Promise<void> {
    this.#worker.postMessage('close')
    const force = setTimeout(() => void this.#worker.terminate(), 5000)
    await this.#exited
    clearTimeout(force)
  }

  protected ask(method: Method, args: readonly unknown[]): Promise<unknown> {
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ id, method, args } satisfies Request)
    })
  }

  #take(reply: Reply, { onCommitted, log }: Pick<SupervisorOptions, 'onCommitted' | 'log'>): void {
    if (reply.kind === 'committed') return onCommitted(reply.last, reply.work)
    if (reply.kind === 'log') {
      log[reply.level](reply.message, { thread: `chain ${this.chainId}`, ...reply.fields })
      return
    }
    if (reply.kind === 'started') {
      this.isStarted = true
      return
    }
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if (reply.kind === 'reply') waiting?.resolve(reply.result as never)
    else waiting?.reject(new Error(reply.message))
  }
}
