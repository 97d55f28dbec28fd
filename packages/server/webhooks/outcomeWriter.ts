/** Writes the outcomes of attempts together: those that end during a transaction wait for the next one. */
import type { DeliveryOutcome, WebhookStore } from '../store/webhooks.ts'

/** OutcomeWriter per transaction: a chain's commit may have to wait for it. */
const MOST = 100

type Waiting = {
  readonly outcome: DeliveryOutcome
  readonly resolve: () => void
  readonly reject: (failure: unknown) => void
}

export class OutcomeWriter {
  readonly #store: Pick<WebhookStore, 'settleDeliveries'>
  readonly #generation: number
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(store: Pick<WebhookStore, 'settleDeliveries'>, generation: number) {
    this.#store = store
    this.#generation = generation
  }

  /** Resolves when the outcome is durable. */
  settle(outcome: DeliveryOutcome): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ outcome, resolve, reject })
      if (!this.#isWriting) void this.#write()
    })
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST)
      try {
        await this.#store.settleDeliveries(
          this.#generation,
          batch.map(({ outcome }) => outcome),
        )
        for (const { resolve } of batch) resolve()
      } catch (failure) {
        for (const { reject } of batch) reject(failure)
      }
    }
    this.#isWriting = false
  }
}
