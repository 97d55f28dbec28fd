/**
 * Elects the sender among the processes that share a database. The sender increments a heartbeat counter; a
 * process that sees the same count for too long, by its own clock, takes over. The store refuses writes of a
 * process that is no longer the sender.
 */
import type { Clock } from '../ops/clock.ts'
import type { WebhookStore, WebhookTurn } from '../store/webhooks.ts'

/** Four missed heartbeats in a row. */
const SILENT_MS = 4000

type TurnStore = Pick<WebhookStore, 'readWebhookTurn' | 'takeWebhookTurn'>

export class SenderElection {
  readonly #store: TurnStore
  readonly #clock: Clock
  readonly #owner: string
  /** No other process can use the database, so the previous sender is gone. */
  readonly #isAlone: boolean
  #seen: { readonly turn: WebhookTurn; readonly sinceMs: number } | null = null

  constructor(store: TurnStore, clock: Clock, { owner, isAlone }: { owner: string; isAlone: boolean }) {
    this.#store = store
    this.#clock = clock
    this.#owner = owner
    this.#isAlone = isAlone
  }

  /** The number of our turn, or null while another process sends heartbeats. */
  async take(): Promise<number | null> {
    if (this.#isAlone) return this.#store.takeWebhookTurn(this.#owner, null)
    const turn = await this.#store.readWebhookTurn()
    if (turn !== null && turn.owner !== '' && !this.#isSilent(turn)) return null
    this.#seen = null
    return this.#store.takeWebhookTurn(this.#owner, turn)
  }

  #isSilent(turn: WebhookTurn): boolean {
    const nowMs = this.#clock.monotonicMs()
    const isSame = this.#seen?.turn.generation === turn.generation && this.#seen.turn.beats === turn.beats
    if (this.#seen === null || !isSame) {
      this.#seen = { turn, sinceMs: nowMs }
      return false
    }
    return nowMs - this.#seen.sinceMs > SILENT_MS
  }
}
