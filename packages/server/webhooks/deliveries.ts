/**
 * Makes the deliveries of each webhook one after the other: the next message is sent once the previous one has arrived,
 * so they keep the order of the log. The outcome of an attempt is written before the next attempt begins; a process
 * that dies in between sends the same message again, under the same id.
 */
import type { DeliveryOutcome, DeliveryRow, WebhookRow, WebhookStore } from '../store/webhooks.ts'
import { attempt, type Sending } from './attempt.ts'
import { PATIENCE_MS } from './retrySchedule.ts'
import { messageId } from './message.ts'
import { OutcomeWriter } from './outcomeWriter.ts'
import type { Posted } from './post.ts'

/** Concurrent attempts over all webhooks: each may hold a connection for ten seconds. */
const MOST_AT_ONCE = 64
/** Deliveries read at once for one webhook. */
const PAGE = 50
/** The longest wait before another check: a wall clock that was set back must not silence a webhook. */
const MOST_WAIT_MS = 3_600_000
/** Pause before a retry when the store refused a write. */
const REWRITE_MS = 1000
/** The receiver wants no more messages, ever (Standard Webhooks). */
const GONE = 410

export type DeliveriesOptions = {
  readonly store: Pick<WebhookStore, 'readPending' | 'settleDeliveries'>
  readonly generation: number
  readonly sending: Sending
  readonly pauseMs: (attempts: number, share: number) => number
  /** Why the consumer may no longer receive messages; null if it may. */
  readonly objection: (consumer: string) => Promise<string | null>
  readonly onDelivered: (webhookId: string) => void
  /** A webhook was parked. */
  readonly onParked: (webhookId: string, reason: string) => void
  /** The store refused a write: the caller decides whether to continue. */
  readonly onFailure: (failure: unknown) => void
}

type Lane = { row: WebhookRow; hasWork: boolean; isBusy: boolean; dueAtMs: number }

export class Deliveries {
  readonly #options: DeliveriesOptions
  readonly #outcomes: OutcomeWriter
  readonly #stopping = new AbortController()
  #lanes = new Map<string, Lane>()
  #underWay = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: DeliveriesOptions) {
    this.#options = options
    this.#outcomes = new OutcomeWriter(options.store, options.generation)
  }

  /** Loads the active webhooks; all others get no message after the present one. */
  load(rows: readonly WebhookRow[]): void {
    const lanes = new Map<string, Lane>()
    for (const row of rows) {
      const known = this.#lanes.get(row.webhookId)
      if (known === undefined)
        lanes.set(row.webhookId, { row, hasWork: row.pending > 0, isBusy: false, dueAtMs: 0 })
      else {
        // A user changed it: a delivery that was waiting may be due now.
        if (known.row.revision !== row.revision) known.dueAtMs = 0
        known.row = row
        known.hasWork ||= row.pending > 0
        lanes.set(row.webhookId, known)
      }
    }
    this.#lanes = lanes
    this.#pump()
  }

  /** There are deliveries for these webhooks. */
  found(webhookIds: readonly string[]): void {
    for (const webhookId of webhookIds) {
      const lane = this.#lanes.get(webhookId)
      if (lane !== undefined) lane.hasWork = true
    }
    this.#pump()
  }

  /** Attempts in progress are aborted; their messages are sent again. */
  close(): void {
    this.#stopping.abort()
    clearTimeout(this.#timer)
  }

  #pump(): void {
    if (this.#stopping.signal.aborted) return
    const nowMs = this.#nowMs()
    let nextMs = Number.MAX_SAFE_INTEGER
    for (const lane of this.#lanes.values()) {
      if (!lane.hasWork || lane.isBusy) continue
      if (lane.dueAtMs > nowMs) nextMs = Math.min(nextMs, lane.dueAtMs)
      else if (this.#underWay < MOST_AT_ONCE) this.#run(lane)
    }
    clearTimeout(this.#timer)
    if (nextMs === Number.MAX_SAFE_INTEGER) return
    this.#timer = setTimeout(() => this.#pump(), Math.min(nextMs - nowMs, MOST_WAIT_MS))
    this.#timer.unref()
  }

  #run(lane: Lane): void {
    this.#underWay += 1
    lane.isBusy = true
    this.#deliver(lane)
      .catch((failure: unknown) => {
        if (this.#stopping.signal.aborted) return
        // Messages that were sent but not recorded are sent again.
        this.#later(lane, REWRITE_MS)
        this.#options.onFailure(failure)
      })
      .finally(() => {
        this.#underWay -= 1
        lane.isBusy = false
        this.#pump()
      })
  }

  /** Delivers a page at most, while deliveries succeed; then other webhooks get their turn. */
  async #deliver(lane: Lane): Promise<void> {
    const { store, objection, onParked, onDelivered } = this.#options
    const { webhookId } = lane.row
    // Deliveries found from here on set it again.
    lane.hasWork = false
    const pending = await store.readPending(webhookId, PAGE)
    for (const delivery of pending) {
      const waitMs = delivery.nextAttemptAtMs - this.#nowMs()
      if (waitMs > 0) return this.#later(lane, Math.min(waitMs, MOST_WAIT_MS))
      // It was paused, parked or deleted meanwhile.
      if (this.#lanes.get(webhookId) !== lane || this.#stopping.signal.aborted) return
      const refused = await objection(lane.row.consumer)
      const posted =
        refused === null
          ? await attempt(
              this.#options.sending,
              lane.row,
              { id: messageId(webhookId, delivery.sequence), body: delivery.body },
              this.#stopping.signal,
            )
          : { status: null, error: refused }
      if (this.#stopping.signal.aborted) return
      const outcome = this.#outcomeOf(delivery, posted, refused)
      await this.#outcomes.settle(outcome)
      if (outcome.parks !== null) {
        this.#lanes.delete(webhookId)
        return onParked(webhookId, outcome.parks)
      }
      if (outcome.state === 'PENDING') return this.#later(lane, outcome.nextAttemptAtMs - this.#nowMs())
      onDelivered(webhookId)
    }
    lane.hasWork ||= pending.length === PAGE
  }

  #later(lane: Lane, waitMs: number): void {
    lane.hasWork = true
    lane.dueAtMs = this.#nowMs() + waitMs
  }

  #outcomeOf(delivery: DeliveryRow, { status, error }: Posted, refused: string | null): DeliveryOutcome {
    const nowMs = this.#nowMs()
    const firstAttemptAtMs = delivery.firstAttemptAtMs ?? nowMs
    const isDelivered = error === null
    const pause = this.#options.pauseMs(delivery.attempts + 1, Math.random())
    return {
      webhookId: delivery.webhookId,
      sequence: delivery.sequence,
      state: isDelivered ? 'DELIVERED' : 'PENDING',
      atMs: nowMs,
      firstAttemptAtMs,
      nextAttemptAtMs: isDelivered ? 0 : nowMs + pause,
      status,
      error,
      parks: isDelivered ? null : (refused ?? parkingReason(status, error, nowMs - firstAttemptAtMs)),
    }
  }

  #nowMs(): number {
    return this.#options.sending.clock.nowMs()
  }
}

function parkingReason(status: number | null, error: string, triedMs: number): string | null {
  if (status === GONE) return 'the receiver returned 410 and wants no more messages'
  return triedMs >= PATIENCE_MS ? `a delivery failed for a day, most recently with: ${error}` : null
}
