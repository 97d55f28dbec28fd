/** Webhooks and their deliveries as sent to clients: without a secret, unless it is new. */
import type { DeliveryRow, NewWebhook, WebhookRow } from '../../store/webhooks.ts'
import { messageId } from '../../webhooks/message.ts'

export const webhookText = (row: WebhookRow, nowMs: number): object => ({
  webhook_id: row.webhookId,
  consumer: row.consumer,
  name: row.name,
  url: row.url,
  condition: JSON.parse(row.condition) as object,
  state: row.state,
  reason: row.reason,
  created_at_ms: row.createdAtMs,
  position: row.position,
  pending: row.pending,
  previous_secret_until_ms:
    row.previousUntilMs !== null && row.previousUntilMs > nowMs ? row.previousUntilMs : null,
})

/** A webhook that was just registered. */
export const newWebhookText = (webhook: NewWebhook): object =>
  webhookText(
    {
      ...webhook,
      state: 'ACTIVE',
      reason: null,
      previousSecret: null,
      previousUntilMs: null,
      revision: 0,
      pending: 0,
    },
    webhook.createdAtMs,
  )

export const deliveryText = (row: DeliveryRow): object => ({
  message_id: messageId(row.webhookId, row.sequence),
  stream_sequence: row.sequence,
  state: row.state,
  attempts: row.attempts,
  matched_at_ms: row.matchedAtMs,
  last_attempt_at_ms: row.lastAttemptAtMs,
  next_attempt_at_ms: row.state === 'DELIVERED' ? null : row.nextAttemptAtMs,
  status: row.status,
  error: row.error,
})
