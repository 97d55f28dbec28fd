/**
 * The body of a message and its id. Both follow from the webhook and the record alone, so a repeated message has
 * the same bytes.
 */
import type { Sequence } from '../store/port.ts'
import type { WebhookMove } from '../store/webhooks.ts'
import type { Said } from './condition.ts'

export type Found = WebhookMove['deliveries'][number]

export const messageId = (webhookId: string, sequence: Sequence): string => `msg_${webhookId}_${sequence}`

/** `envelope` is JSON text and is used unchanged. */
export function foundIn(
  webhookId: string,
  { type, data }: Said,
  { sequence, timeMs, envelope }: { sequence: Sequence; timeMs: number; envelope: string | null },
): Found {
  const head = JSON.stringify({
    type,
    timestamp: new Date(timeMs).toISOString(),
    data: { webhook_id: webhookId, stream_sequence: sequence, ...data },
  })
  // Inside `data`, before its closing brace and that of the message.
  return { sequence, body: `${head.slice(0, -2)},"record":${envelope}}}`, matchedAtMs: timeMs }
}

/** A message that no record caused. Each has its own id, so it never counts as a repetition. */
export function testMessage(
  webhookId: string,
  sequence: Sequence,
  atMs: number,
  nonce: string,
): { readonly id: string; readonly body: string } {
  const { body } = foundIn(
    webhookId,
    { type: 'webhook.test', data: {} },
    { sequence, timeMs: atMs, envelope: null },
  )
  return { id: `msg_${webhookId}_test_${nonce}`, body }
}
