/**
 * What each token cost an hour ago, or at the first price within that hour: asked only for rows that are looked at, a
 * few a second, because a console must not spend its consumer's quota on numbers nobody sees.
 */
import type { Client, ExactValue } from '@assay/sdk'

/** Between two questions: a quarter of what the default quota allows. */
const PACE_MS = 400
const HOUR_MS = 3_600_000
/** An answer is good for so long. */
const KEPT_MS = 300_000
/** The first records of the hour; the first that has a price is taken. */
const RECORDS = 5

export type Reference = {
  readonly atMs: number
  readonly price: ExactValue | null
  readonly askedAtMs: number
}
type Wanted = { readonly key: string; readonly chainId: number; readonly address: string }

export class Changes {
  readonly #client: Client
  readonly #known = new Map<string, Reference>()
  readonly #onNews: () => void
  #queue: readonly Wanted[] = []
  #isBusy = false
  #isClosed = false

  constructor(client: Client, onNews: () => void) {
    this.#client = client
    this.#onNews = onNews
  }

  of(key: string): Reference | undefined {
    return this.#known.get(key)
  }

  /** Replaces what was wanted before: rows that have scrolled away are not asked for. */
  want(rows: readonly Wanted[]): void {
    const staleMs = Date.now() - KEPT_MS
    this.#queue = rows.filter(({ key }) => (this.#known.get(key)?.askedAtMs ?? 0) < staleMs)
    if (!this.#isBusy) void this.#work()
  }

  close(): void {
    this.#isClosed = true
  }

  async #work(): Promise<void> {
    this.#isBusy = true
    while (!this.#isClosed) {
      const [next, ...rest] = this.#queue
      if (next === undefined) break
      this.#queue = rest
      await this.#ask(next)
      await new Promise(resolve => setTimeout(resolve, PACE_MS))
    }
    this.#isBusy = false
  }

  async #ask({ key, chainId, address }: Wanted): Promise<void> {
    const askedAtMs = Date.now()
    try {
      const { prices } = await this.#client.fetchHistory({
        chain_id: chainId,
        token_address: address as `0x${string}`,
        from_ms: askedAtMs - HOUR_MS,
        limit: RECORDS,
      })
      const first = prices.find(each => each.state === 'PRICED')
      this.#known.set(key, {
        askedAtMs,
        atMs: first?.evaluated_at_ms ?? askedAtMs - HOUR_MS,
        price: first?.state === 'PRICED' ? first.price_usd : null,
      })
      this.#onNews()
    } catch {
      // Without an answer the cell stays empty; it is asked for again when it is next in sight.
    }
  }
}
