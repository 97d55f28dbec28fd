/** Metrics of webhooks: how many are in which state, pending deliveries, and outcomes of attempts in this process. */
import type { Gauge } from 'prom-client'
import type { Count, Family } from '../../ops/series.ts'
import type { Store } from '../../store/port.ts'
import type { DeliveryOutcome } from '../../store/webhooks.ts'
import type { SeriesMakers } from './seriesMakers.ts'

const STATES = ['ACTIVE', 'PAUSED', 'PARKED'] as const
const OUTCOMES = ['delivered', 'failed', 'parked'] as const

export class WebhookMetrics {
  readonly #states: Gauge
  readonly #pending: Gauge
  readonly #behind: Gauge
  readonly #attempts: Family<Count>

  constructor({ counts, gauge }: SeriesMakers) {
    this.#states = gauge('webhooks', 'Webhooks by state; nothing is sent to a parked one.', ['state'])
    this.#pending = gauge('webhook_pending', 'Deliveries not yet made.', [])
    this.#behind = gauge(
      'webhook_behind_records',
      'Records that the active webhook furthest behind has before it.',
      [],
    )
    this.#attempts = counts(
      'webhook_attempts_total',
      'Attempts at a delivery that were noted by this process.',
      ['outcome'],
    )
    // Exported as 0 before the first one, because an alert needs the series.
    for (const outcome of OUTCOMES) this.#attempts.of(outcome)
  }

  /** Call once the outcomes are durable. */
  settled(outcomes: readonly DeliveryOutcome[]): void {
    for (const { state, parks } of outcomes)
      this.#attempts.of(state === 'DELIVERED' ? 'delivered' : parks === null ? 'failed' : 'parked').add()
  }

  async read(store: Pick<Store, 'listWebhooks'>, head: number): Promise<void> {
    const rows = await store.listWebhooks(null)
    for (const state of STATES) this.#states.set({ state }, rows.filter(row => row.state === state).length)
    this.#pending.set(rows.reduce((sum, { pending }) => sum + pending, 0))
    const active = rows.filter(({ state }) => state === 'ACTIVE')
    this.#behind.set(active.reduce((most, { position }) => Math.max(most, head - position), 0))
  }
}
