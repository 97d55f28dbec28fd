/**
 * Whether a webhook may still receive messages: its consumer needs a live key that can read the stream. Revoking keys
 * ends webhooks as it ends streams.
 */
import type { Clock } from '../ops/clock.ts'
import type { AccessStore } from '../store/port.ts'

/** Equal to the delay of a revocation elsewhere. */
const TRUSTED_MS = 5000
const SCOPES = ['stream', 'admin']

export class Entitlement {
  readonly #store: Pick<AccessStore, 'listKeys'>
  readonly #clock: Clock
  #known: { readonly consumers: ReadonlySet<string>; readonly atMs: number } | null = null

  constructor(store: Pick<AccessStore, 'listKeys'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Null when it may. A consumer missing from the cache may be new, so it is refused only after a fresh read. */
  async objection(consumer: string): Promise<string | null> {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#known
    if (known !== null && nowMs - known.atMs <= TRUSTED_MS && known.consumers.has(consumer)) return null
    const consumers = await this.#read()
    this.#known = { consumers, atMs: nowMs }
    if (consumers.has(consumer)) return null
    return `${consumer} has no live key with scope ${SCOPES.join(' or ')}: issue one, then resume`
  }

  async #read(): Promise<ReadonlySet<string>> {
    const nowMs = this.#clock.nowMs()
    const live = (await this.#store.listKeys()).filter(
      ({ revokedAtMs, expiresAtMs, scopes }) =>
        revokedAtMs === null &&
        (expiresAtMs === null || expiresAtMs > nowMs) &&
        scopes.some(scope => SCOPES.includes(scope)),
    )
    return new Set(live.map(({ consumer }) => consumer))
  }
}
