/** What came of attempts, written together: while one transaction is under way, those that end meanwhile wait for the next. */
import type { DeliveryOutcome, WebhookStore } from '../store/webhooks.ts'

/** In one transaction: a commit of a chain may have to wait for it. */
const MOST = 100

type Waiting = {
  readonly outcome: DeliveryOutcome
  readonly resolve: () => void
  readonly reject: (failure: unknown) => void
}

export class Outcomes {
  readonly #store: Pick<WebhookStore, 'settleDeliveries'>
  readonly #generation: number
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(store: Pick<WebhookStore, 'settleDeliveries'>, generation: number) {
    this.#store = store
    this.#generation = generation
  }

  /** Resolves when it is durable. */
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
