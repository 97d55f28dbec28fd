/**
 * Remote calls to the process that writes a chain, as rows of the store that all processes share. An API node calls
 * without knowing which process that is. If the writer dies while it works on a request, its successor takes the
 * request over, so every method may run twice and must be safe to repeat.
 */
import type { Answer, RpcRequest, RpcStore, Lease } from '../store/cluster.ts'
import { RemoteChain } from '../worker/remoteChain.ts'
import { ChainDown } from '../worker/chainService.ts'
import type { Method } from '../worker/messages.ts'

/** Even if every notification is lost, a request or an answer is seen within this time. */
const POLL_MS = 250
/** How long a caller waits for an answer. */
const TIMEOUT_MS = 10_000
/** Requests answered at once. */
const MAX_CONCURRENT = 64
const DISCARD_MS = 60_000

type Waiting = {
  readonly resolve: (result: unknown) => void
  readonly reject: (failure: Error) => void
  readonly timer: NodeJS.Timeout
}

/** The calling side. */
export class StoreRpcClient {
  readonly #store: RpcStore
  readonly #asker: string
  readonly #waiting = new Map<number, Waiting>()
  /** Requests being written to the store: an answer may arrive before the id of its request. */
  #posting = 0
  readonly #early = new Map<number, Answer>()
  readonly #timer: NodeJS.Timeout
  #isReading = false
  #isWoken = false

  constructor(store: RpcStore, asker: string) {
    this.#store = store
    this.#asker = asker
    this.#timer = setInterval(() => {
      if (this.#waiting.size > 0) this.wake()
    }, POLL_MS)
    this.#timer.unref()
  }

  async ask(chainId: number, method: string, args: readonly unknown[]): Promise<unknown> {
    this.#posting += 1
    let id: number
    try {
      id = await this.#store.post({
        chainId,
        asker: this.#asker,
        method,
        args: JSON.stringify(args),
        patienceMs: TIMEOUT_MS,
      })
    } finally {
      this.#posting -= 1
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        reject(new ChainDown(`the writer of chain ${chainId} did not answer within ${TIMEOUT_MS} ms`))
      }, TIMEOUT_MS)
      this.#waiting.set(id, { resolve, reject, timer })
      const early = this.#early.get(id)
      if (early !== undefined) this.#settle(early)
      if (this.#posting === 0) this.#early.clear()
    })
  }

  /** Reads answers from the store soon. */
  wake(): void {
    this.#isWoken = true
    if (!this.#isReading) this.#read().catch(() => undefined)
  }

  close(): void {
    clearInterval(this.#timer)
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer)
      reject(new ChainDown('this process is stopping'))
    }
    this.#waiting.clear()
  }

  async #read(): Promise<void> {
    this.#isReading = true
    try {
      while (this.#isWoken) {
        this.#isWoken = false
        for (const answer of await this.#store.receive(this.#asker)) this.#settle(answer)
      }
    } finally {
      this.#isReading = false
    }
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    if (waiting === undefined) {
      if (this.#posting > 0) this.#early.set(answer.id, answer)
      return
    }
    this.#waiting.delete(answer.id)
    clearTimeout(waiting.timer)
    if (answer.failure === null) waiting.resolve(JSON.parse(answer.result ?? 'null'))
    else waiting.reject(failureIn(answer.failure))
  }
}

/** A chain written by another process. */
export class StoreRpcChain extends RemoteChain {
  readonly #client: StoreRpcClient

  constructor(chainId: number, client: StoreRpcClient) {
    super(chainId)
    this.#client = client
  }

  protected ask(method: Method, args: readonly unknown[]): Promise<unknown> {
    return this.#client.ask(this.chainId, method, args)
  }
}

export type StoreRpcServerOptions = {
  readonly store: RpcStore
  /** Leases that this process holds: it answers for their chains only. */
  readonly leases: () => readonly Lease[]
  readonly answer: (chainId: number, method: string, args: readonly unknown[]) => Promise<unknown>
}

/** The answering side. */
export class StoreRpcServer {
  readonly #options: StoreRpcServerOptions
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #working = new Set<Promise<void>>()
  #isCollecting = false
  #isWoken = false
  #isClosed = false

  constructor(options: StoreRpcServerOptions) {
    this.#options = options
    this.#timers = [
      setInterval(() => this.wake(), POLL_MS),
      setInterval(() => void options.store.discard().catch(() => undefined), DISCARD_MS),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  /** Reads requests from the store soon. */
  wake(): void {
    this.#isWoken = true
    if (!this.#isCollecting) this.#collect().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#working)
  }

  async #collect(): Promise<void> {
    this.#isCollecting = true
    try {
      while (this.#isWoken && !this.#isClosed) {
        this.#isWoken = false
        const leases = this.#options.leases()
        const room = MAX_CONCURRENT - this.#working.size
        if (leases.length === 0 || room <= 0) return
        for (const request of await this.#options.store.collect(leases, room)) {
          const work = this.#answer(request).finally(() => this.#working.delete(work))
          this.#working.add(work)
        }
      }
    } finally {
      this.#isCollecting = false
    }
  }

  async #answer({ id, chainId, method, args }: RpcRequest): Promise<void> {
    const answer = await this.#options.answer(chainId, method, JSON.parse(args) as readonly unknown[]).then(
      result => ({ id, result: JSON.stringify(result ?? null), failure: null }),
      (failure: unknown) => ({ id, result: null, failure: textOf(failure) }),
    )
    // A lost answer needs no retry: the caller times out.
    await this.#options.store.answer(answer).catch(() => undefined)
  }
}

const DOWN = 'ChainDown: '

const textOf = (failure: unknown): string =>
  failure instanceof ChainDown
    ? DOWN + failure.message
    : failure instanceof Error
      ? failure.message
      : String(failure)

const failureIn = (text: string): Error =>
  text.startsWith(DOWN) ? new ChainDown(text.slice(DOWN.length)) : new Error(text)
