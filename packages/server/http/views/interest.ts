/**
 * Tracks which tokens are requested: by a quote, alone or in a batch, an exit, a cost, or a stream that names them.
 * Requests are collected in memory and written together from time to time, so that a request costs no write; a crash
 * loses minutes of the seven days a token may go without one.
 */
import type { Clock } from '../../ops/clock.ts'
import type { Log } from '../../ops/log.ts'
import type { OperatorStore } from '../../store/operator.ts'
import type { QuoteKey } from './quoteCache.ts'

const WRITE_MS = 300_000
/** With more tokens than this, they are written at once. */
const MOST = 10_000

export type InterestContext = {
  readonly store: Pick<OperatorStore, 'noteAsked'>
  /** Tokens named by open streams. */
  readonly streamed: () => Iterable<{ readonly chainId: number; readonly tokenAddress: string }>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
}

export class Interest {
  readonly #context: InterestContext
  readonly #timer: NodeJS.Timeout
  #asked = new Map<QuoteKey, number>()

  constructor(context: InterestContext) {
    this.#context = context
    this.#timer = setInterval(() => void this.#tryToWrite(), WRITE_MS)
    this.#timer.unref()
  }

  note(token: QuoteKey, atMs: number): void {
    this.#asked.set(token, atMs)
    if (this.#asked.size >= MOST) void this.#tryToWrite()
  }

  async write(): Promise<void> {
    const { clock, store, streamed } = this.#context
    for (const { chainId, tokenAddress } of streamed())
      this.#asked.set(`${chainId}/${tokenAddress}`, clock.nowMs())
    const asked = [...this.#asked].map(([key, atMs]) => {
      const [chainId, tokenAddress] = key.split('/') as [string, string]
      return { chainId: Number(chainId), tokenAddress, atMs }
    })
    this.#asked = new Map()
    if (asked.length > 0) await store.noteAsked(asked)
  }

  /** A store that no longer answers must not block shutdown. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#tryToWrite()
  }

  async #tryToWrite(): Promise<void> {
    await this.write().catch((failure: unknown) =>
      this.#context.log.warn('the requested tokens could not be stored', { error: String(failure) }),
    )
  }
}
