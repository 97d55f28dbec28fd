/**
 * Which tokens are asked for: a quote, alone or among others. Kept in memory and written now and then in one go, so that a
 * question costs no write; what a crash loses is minutes out of the seven days a token may go without one.
 */
import type { Log } from '../../ops/log.ts'
import type { OperatorStore } from '../../store/operator.ts'
import type { QuoteKey } from './quoteCache.ts'

const WRITE_MS = 300_000
/** More tokens than this in one go are written at once. */
const MOST = 10_000

export class Interest {
  readonly #store: Pick<OperatorStore, 'noteAsked'>
  readonly #log: Log
  readonly #timer: NodeJS.Timeout
  #asked = new Map<QuoteKey, number>()

  constructor(store: Pick<OperatorStore, 'noteAsked'>, log: Log) {
    this.#store = store
    this.#log = log
    this.#timer = setInterval(() => void this.#tryToWrite(), WRITE_MS)
    this.#timer.unref()
  }

  note(token: QuoteKey, atMs: number): void {
    this.#asked.set(token, atMs)
    if (this.#asked.size >= MOST) void this.#tryToWrite()
  }

  async write(): Promise<void> {
    const asked = [...this.#asked].map(([key, atMs]) => {
      const [chainId, tokenAddress] = key.split('/') as [string, string]
      return { chainId: Number(chainId), tokenAddress, atMs }
    })
    this.#asked = new Map()
    if (asked.length > 0) await this.#store.noteAsked(asked)
  }

  /** A store that no longer answers keeps nobody from stopping. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#tryToWrite()
  }

  async #tryToWrite(): Promise<void> {
    await this.write().catch((failure: unknown) =>
      this.#log.warn('the requested tokens could not be stored', { error: String(failure) }),
    )
  }
}
