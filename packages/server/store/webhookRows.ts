/**
 * Rows of webhooks as both databases return them, and their secrets on the way in and out, which are plain text only
 * here.
 */
import { Secret } from '../ops/secret.ts'
import type { WebhookRow } from './webhooks.ts'
import { StoreError } from './storeError.ts'

export type StoredWebhook = Omit<WebhookRow, 'secret' | 'previousSecret'> & {
  readonly secret: string
  readonly previousSecret: string | null
}

/** Names in quotes, which PostgreSQL requires and SQLite accepts. */
export const WEBHOOK_COLUMNS = `
  w.webhook_id AS "webhookId", w.consumer, w.name, w.url, w.condition, w.state, w.reason, w.secret,
  w.previous_secret AS "previousSecret", w.previous_until_ms AS "previousUntilMs", w.revision,
  w.created_at_ms AS "createdAtMs", p.position, p.memory,
  (SELECT count(*) FROM webhook_delivery AS d
    WHERE d.webhook_id = w.webhook_id AND d.state = 'PENDING') AS pending
  FROM webhook AS w JOIN webhook_place AS p ON p.webhook_id = w.webhook_id`

export const DELIVERY_COLUMNS = `
  webhook_id AS "webhookId", sequence, state, body, matched_at_ms AS "matchedAtMs", attempts,
  first_attempt_at_ms AS "firstAttemptAtMs", last_attempt_at_ms AS "lastAttemptAtMs",
  next_attempt_at_ms AS "nextAttemptAtMs", status, error
  FROM webhook_delivery`

export const webhookRow = ({ secret, previousSecret, ...row }: StoredWebhook): WebhookRow => ({
  ...row,
  secret: new Secret(secret),
  previousSecret: previousSecret === null ? null : new Secret(previousSecret),
})

export const pastTurn = (generation: number): StoreError =>
  new StoreError(
    'STORE_FENCED',
    `This process had turn ${generation} of the webhooks: another process took over.`,
  )
