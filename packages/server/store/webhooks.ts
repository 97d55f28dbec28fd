/**
 * What webhooks need of a store: who is to be called and on which condition, how far the log has been matched for each,
 * and the deliveries that are due. A delivery and the position it came from are written in one transaction, so a process
 * that dies neither loses a delivery nor invents one: what it had not written is matched again, with the same result.
 */
import type { Secret } from '../ops/config.ts'
import type { Sequence } from './rows.ts'

/** `PARKED`: nothing is sent until somebody resumes it; the reason says why. */
export type WebhookState = 'ACTIVE' | 'PAUSED' | 'PARKED'

export type NewWebhook = {
  readonly webhookId: string
  readonly consumer: string
  readonly name: string
  readonly url: string
  /** JSON, as the wire has it. */
  readonly condition: string
  readonly secret: Secret
  readonly createdAtMs: number
  /** Records above it are matched. */
  readonly position: Sequence
  /** What the condition remembers of the records up to there; null when nothing. */
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
  /** Deliveries that are not made yet. */
  readonly pending: number
}

export type DeliveryState = 'PENDING' | 'DELIVERED'

export type DeliveryRow = {
  readonly webhookId: string
  /** Of the record it tells of; with the webhook it makes the id of the message. */
  readonly sequence: Sequence
  readonly state: DeliveryState
  readonly body: string
  readonly matchedAtMs: number
  readonly attempts: number
  /** Of the present series of attempts: resuming begins another one. */
  readonly firstAttemptAtMs: number | null
  readonly lastAttemptAtMs: number | null
  /** Not tried again before. */
  readonly nextAttemptAtMs: number
  /** HTTP status of the last answer; null when there was none. */
  readonly status: number | null
  readonly error: string | null
}

/** One process matches and sends. `beats` counts up while it lives; `revision` with every change from outside. */
export type WebhookTurn = {
  readonly generation: number
  readonly beats: number
  readonly owner: string
  readonly revision: number
}

/** How far one webhook has come, and what it found on the way. */
export type WebhookMove = {
  readonly webhookId: string
  readonly revision: number
  readonly position: Sequence
  readonly memory: string | null
  readonly deliveries: readonly Pick<DeliveryRow, 'sequence' | 'body' | 'matchedAtMs'>[]
}

/** What came of an attempt. */
export type DeliveryOutcome = {
  readonly webhookId: string
  readonly sequence: Sequence
  readonly state: DeliveryState
  readonly atMs: number
  readonly firstAttemptAtMs: number
  readonly nextAttemptAtMs: number
  readonly status: number | null
  readonly error: string | null
  /** The webhook is parked with this. */
  readonly parks: string | null
}

export type WebhookStore = {
  /** False, and nothing is written, when the consumer has `most` already. */
  insertWebhook(webhook: NewWebhook, most: number): Promise<boolean>
  readWebhook(webhookId: string): Promise<WebhookRow | null>
  /** All of a consumer, or of everybody; oldest first. */
  listWebhooks(consumer: string | null): Promise<readonly WebhookRow[]>
  /** A webhook made active again has its due delivery tried at once, with a day ahead of it. */
  setWebhookState(webhookId: string, state: WebhookState, reason: string | null): Promise<boolean>
  /** `previousUntilMs`: how long the secret so far signs beside the new one. */
  rotateWebhook(webhookId: string, secret: Secret, previousUntilMs: number): Promise<boolean>
  /** Makes it active and matches again from there: deliveries of later records are deleted and made again. */
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

  /** Null before anybody had a turn or changed anything. */
  readWebhookTurn(): Promise<WebhookTurn | null>
  /** The next turn; null when the holder has given a sign of life since it was `seen`. `seen` null takes it from anybody. */
  takeWebhookTurn(owner: string, seen: WebhookTurn | null): Promise<number | null>
  /** A sign of life; false when the turn is another's. */
  beatWebhookTurn(generation: number): Promise<boolean>
  /** Gives the turn up, so that nobody has to wait for silence. */
  leaveWebhookTurn(generation: number): Promise<void>
  /** Ids of those that were changed from outside meanwhile, for which nothing is written. Fails with STORE_FENCED past its turn. */
  advanceWebhooks(generation: number, moves: readonly WebhookMove[]): Promise<readonly string[]>
  settleDeliveries(generation: number, outcomes: readonly DeliveryOutcome[]): Promise<void>
  /** Forgets at most `limit` deliveries that were made before. */
  pruneDeliveries(generation: number, beforeMs: number, limit: number): Promise<number>
}
