/**
 * Which tokens are asked for: a quote, alone or among others, or a stream that names them. Kept in memory and written now and
 * then in one go, so that a question costs no write; what a crash loses is minutes out of the seven days a token may go without one.
 */
import type { Clock } from '../../ops/clock.ts'
import type { Log } from '../../ops/log.ts'
import type { OperatorStore } from '../../store/operator.ts'
import type { QuoteKey } from './quoteCache.ts'

const WRITE_MS = 300_000
/** More tokens than this in one go are written at once. */
const MOST = 10_000

export type InterestContext = {
  readonly store: Pick<OperatorStore, 'noteAsked'>
  /** Tokens that an open stream names. */
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

  /** A store that no longer answers keeps nobody from stopping. */
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
