/**
 * The price of each visible token an hour ago, or the first price within that hour. Fetched at most a few times a
 * second and kept for minutes: a table must not use up its consumer's quota.
 */
import type { Client, ExactValue } from '@assay/sdk'

const PACE_MS = 400
const HOUR_MS = 3_600_000
const KEPT_MS = 300_000
/** The first records of the hour; the first with a price is used. */
const RECORDS = 5

export type Asset = { readonly chainId: number; readonly address: `0x${string}` }

export class Changes {
  readonly #client: Client
  readonly #known = new Map<string, { readonly price: ExactValue | null; readonly askedAtMs: number }>()
  #lastAskedMs = 0
  #isBusy = false

  constructor(client: Client) {
    this.#client = client
  }

  /** Null while unknown, or when there was no price. */
  before(asset: Asset): ExactValue | null {
    return this.#known.get(keyOf(asset))?.price ?? null
  }

  /** Fetches the first unknown one of these, if the interval has passed. */
  want(assets: readonly Asset[]): void {
    const now = Date.now()
    if (this.#isBusy || now - this.#lastAskedMs < PACE_MS) return
    const next = assets.find(asset => (this.#known.get(keyOf(asset))?.askedAtMs ?? 0) < now - KEPT_MS)
    if (next !== undefined) void this.#ask(next, now)
  }

  async #ask(asset: Asset, nowMs: number): Promise<void> {
    this.#isBusy = true
    this.#lastAskedMs = nowMs
    try {
      const { prices } = await this.#client.fetchHistory({
        chain_id: asset.chainId,
        token_address: asset.address,
        from_ms: nowMs - HOUR_MS,
        limit: RECORDS,
      })
      const first = prices.find(each => each.state === 'PRICED')
      this.#known.set(keyOf(asset), {
        askedAtMs: nowMs,
        price: first?.state === 'PRICED' ? first.price_usd : null,
      })
    } catch {
      // The cell stays empty, and is fetched again in its turn.
    } finally {
      this.#isBusy = false
    }
  }
}

const keyOf = ({ chainId, address }: Asset): string => `${chainId}/${address}`
