/**
 * What webhooks need of a store: the receivers and their conditions, how far the log has been matched for each, and the
 * deliveries that are due.
 *
 * A delivery and the position it came from are written in one transaction, so a process that dies neither loses nor
 * invents a delivery: the records it had not saved are matched again, with the same result.
 */
import type { Secret } from '../ops/secret.ts'
import type { Sequence } from './rows.ts'

/** `PARKED`: nothing is sent until a user resumes it; `reason` explains why. */
export type WebhookState = 'ACTIVE' | 'PAUSED' | 'PARKED'

export type NewWebhook = {
  readonly webhookId: string
  readonly consumer: string
  readonly name: string
  readonly url: string
  /** JSON in the wire format. */
  readonly condition: string
  readonly secret: Secret
  readonly createdAtMs: number
  /** Records up to this sequence are matched. */
  readonly position: Sequence
  /** The condition's memory of the records up to `position`; null when there is none. */
  readonly memory: string | null
}

export type WebhookRow = NewWebhook & {
  readonly state: WebhookState
  readonly reason: string | null
  /** Also signs until `previousUntilMs`. */
  readonly previousSecret: Secret | null
  readonly previousUntilMs: number | null
  /** Counts changes by users; a result matched against an older revision is discarded. */
  readonly revision: number
  /** Deliveries not made yet. */
  readonly pending: number
}

export type DeliveryState = 'PENDING' | 'DELIVERED'

export type DeliveryRow = {
  readonly webhookId: string
  /** Sequence of the record that caused it; together with the webhook it makes the message id. */
  readonly sequence: Sequence
  readonly state: DeliveryState
  readonly body: string
  readonly matchedAtMs: number
  readonly attempts: number
  /** Start of the present series of attempts; resuming begins a new one. */
  readonly firstAttemptAtMs: number | null
  readonly lastAttemptAtMs: number | null
  /** Earliest time of the next attempt. */
  readonly nextAttemptAtMs: number
  /** HTTP status of the last answer; null when there was none. */
  readonly status: number | null
  readonly error: string | null
}

/**
 * The turn of the one process that matches and sends. It counts up `beats` while it lives; users' changes count up
 * `revision`.
 */
export type WebhookTurn = {
  readonly generation: number
  readonly beats: number
  readonly owner: string
  readonly revision: number
}

/** The progress of one webhook, and the deliveries it found. */
export type WebhookMove = {
  readonly webhookId: string
  readonly revision: number
  readonly position: Sequence
  readonly memory: string | null
  readonly deliveries: readonly Pick<DeliveryRow, 'sequence' | 'body' | 'matchedAtMs'>[]
}

/** The outcome of an attempt. */
export type DeliveryOutcome = {
  readonly webhookId: string
  readonly sequence: Sequence
  readonly state: DeliveryState
  readonly atMs: number
  readonly firstAttemptAtMs: number
  readonly nextAttemptAtMs: number
  readonly status: number | null
  readonly error: string | null
  /** The reason for parking the webhook, if the attempt parks it. */
  readonly parks: string | null
}

/** What consumers and operators do with webhooks. */
export type WebhookRegistry = {
  /** False, with nothing written, when the consumer already has `most`. */
  insertWebhook(webhook: NewWebhook, most: number): Promise<boolean>
  readWebhook(webhookId: string): Promise<WebhookRow | null>
  /** All webhooks of a consumer, or of all consumers; oldest first. */
  listWebhooks(consumer: string | null): Promise<readonly WebhookRow[]>
  /** When a webhook becomes active again, its due delivery is tried at once and has a full day for retries. */
  setWebhookState(webhookId: string, state: WebhookState, reason: string | null): Promise<boolean>
  /** `previousUntilMs`: until when the old secret also signs. */
  rotateWebhook(webhookId: string, secret: Secret, previousUntilMs: number): Promise<boolean>
  /**
   * Activates the webhook and matches again from `position`: deliveries of later records are deleted and made again.
   */
  moveWebhook(webhookId: string, position: Sequence, memory: string | null): Promise<boolean>
  deleteWebhook(webhookId: string): Promise<boolean>
  /** Newest first, strictly below `before`. */
  readDeliveries(query: {
    readonly webhookId: string
    readonly before: Sequence | null
    readonly limit: number
  }): Promise<readonly DeliveryRow[]>
  /** Oldest first. */
  readPending(webhookId: string, limit: number): Promise<readonly DeliveryRow[]>
}

/** What the one process does that has the turn to deliver. */
export type WebhookTurns = {
  /** Null before the first turn or change. */
  readWebhookTurn(): Promise<WebhookTurn | null>
  /**
   * Takes the next turn; null when the holder has sent a heartbeat since it was `seen`. With `seen` null it is taken in
   * any case.
   */
  takeWebhookTurn(owner: string, seen: WebhookTurn | null): Promise<number | null>
  /** Sends a heartbeat; false when another process has the turn. */
  beatWebhookTurn(generation: number): Promise<boolean>
  /** Ends the turn, so that no successor has to wait for the timeout. */
  leaveWebhookTurn(generation: number): Promise<void>
  /**
   * Returns ids of webhooks that users changed meanwhile, for which nothing is written. Fails with STORE_FENCED when
   * the turn is over.
   */
  advanceWebhooks(generation: number, moves: readonly WebhookMove[]): Promise<readonly string[]>
  settleDeliveries(generation: number, outcomes: readonly DeliveryOutcome[]): Promise<void>
  /** Deletes at most `limit` deliveries that were made before `beforeMs`. */
  pruneDeliveries(generation: number, beforeMs: number, limit: number): Promise<number>
}

export type WebhookStore = WebhookRegistry & WebhookTurns
