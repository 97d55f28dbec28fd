/**
 * Webhooks: a condition on the log, and an address that is called when a record meets it. Messages follow Standard
 * Webhooks; each has the id of its record, so that a receiver recognises duplicates.
 */
import { AddressInput, ChainId } from './identifier.ts'
import { NextCursor, pageQueryFields } from './page.ts'
import { Count, ExactValue, Ms, PlainDecimal, Sequence } from './quantity.ts'
import {
  anyObject,
  array,
  describe,
  enumeration,
  integer,
  known,
  literal,
  nullable,
  object,
  optional,
  pattern,
  type Static,
  strictObject,
  string,
  union,
} from './schema.ts'

const ofToken = { chain_id: ChainId, token_address: AddressInput } as const

/** The same fields in requests and responses; only responses may gain fields. */
const conditions = (of: typeof object) =>
  union(
    of({
      kind: literal('price_crosses'),
      ...ofToken,
      price_usd: describe('In dollars, above 0. A price equal to it counts as above.', PlainDecimal),
      direction: optional(enumeration(['up', 'down'])),
    }),
    of({
      kind: literal('price_moves'),
      ...ofToken,
      bps: describe(
        'Basis points from the last price delivered, or from the price at registration.',
        integer({ minimum: 1, maximum: 1_000_000 }),
      ),
    }),
    of({
      kind: literal('score_below'),
      ...ofToken,
      score: describe(
        'A token without a price has no score and counts as below.',
        integer({ minimum: 1, maximum: 10 }),
      ),
    }),
    of({
      kind: literal('retracted'),
      chain_id: ChainId,
      token_address: optional(AddressInput),
    }),
    of({ kind: literal('health'), chain_id: ChainId }),
    of({ kind: literal('sellability'), ...ofToken }),
  )

/** The condition that a record must meet for its webhook to be called. */
export const WebhookCondition = conditions(object)
export type WebhookCondition = Static<typeof WebhookCondition>

/** The condition in a request. */
export const WebhookConditionRequest = conditions(strictObject)

/** Body of POST /v1/webhooks. */
export const WebhookRequest = strictObject({
  url: string({ minLength: 1, maxLength: 2048 }),
  condition: WebhookConditionRequest,
  name: optional(string({ minLength: 1, maxLength: 64 })),
})
export type WebhookRequest = Static<typeof WebhookRequest>

export const WebhookSecret = describe(
  'Base64 after the prefix; a Standard Webhooks library accepts it unchanged.',
  pattern('^whsec_[A-Za-z0-9+/]{32,88}={0,2}$'),
)

const webhookFields = {
  webhook_id: string(),
  consumer: string(),
  name: string(),
  url: string(),
  condition: WebhookCondition,
  state: describe(
    'PARKED: nothing is sent until it is resumed; see the reason.',
    known(['ACTIVE', 'PAUSED', 'PARKED']),
  ),
  reason: nullable(string()),
  created_at_ms: Ms,
  position: describe('Records up to here have been matched.', Sequence),
  pending: describe('Deliveries not yet made.', Count),
  previous_secret_until_ms: describe('Until then the previous secret signs too.', nullable(Ms)),
} as const

export const Webhook = object(webhookFields)
export type Webhook = Static<typeof Webhook>

export const WebhookList = object({ webhooks: array(Webhook) })
export type WebhookList = Static<typeof WebhookList>

/** The response to creating a webhook or rotating its secret: the only ones that contain the secret. */
export const WebhookWithSecret = object({ ...webhookFields, secret: WebhookSecret })
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

/** Path of everything about one webhook. */
export const WebhookPath = strictObject({ webhook_id: string() })

/** Body of POST /v1/webhooks/{webhook_id}/replay: records above it are matched again; messages keep their ids. */
export const WebhookReplayRequest = strictObject({ after_sequence: Sequence })
export type WebhookReplayRequest = Static<typeof WebhookReplayRequest>

/** The outcome of a test message. */
export const WebhookTest = object({
  message_id: string(),
  delivered: known(['YES', 'NO']),
  status: nullable(Count),
  error: nullable(string()),
})
export type WebhookTest = Static<typeof WebhookTest>

export const WebhookDelivery = object({
  message_id: string(),
  stream_sequence: Sequence,
  state: known(['PENDING', 'DELIVERED']),
  attempts: Count,
  matched_at_ms: Ms,
  last_attempt_at_ms: nullable(Ms),
  next_attempt_at_ms: describe('Null once it is delivered.', nullable(Ms)),
  status: describe('HTTP status of the last answer; null without one.', nullable(Count)),
  error: nullable(string()),
})
export const WebhookDeliveryPage = object({ deliveries: array(WebhookDelivery), next_cursor: NextCursor })
export type WebhookDeliveryPage = Static<typeof WebhookDeliveryPage>

/** Query of GET /v1/webhooks/{webhook_id}/deliveries. */
export const WebhookDeliveriesQuery = strictObject(pageQueryFields)

export const WEBHOOK_MESSAGES = [
  'price.crossed',
  'price.moved',
  'score.below',
  'price.retracted',
  'feed.health',
  'sellability.changed',
  'log.restarted',
  'webhook.test',
] as const

/**
 * The body of a message. `record` is the record of the log, unchanged; the other fields of `data` depend on the type.
 */
export const WebhookMessage = object({
  type: known(WEBHOOK_MESSAGES),
  timestamp: describe('ISO 8601: when the record was committed.', string()),
  data: object({
    webhook_id: string(),
    stream_sequence: Sequence,
    direction: optional(describe('Of price.crossed: the direction.', known(['up', 'down']))),
    threshold_usd: optional(describe('Of price.crossed: the price that was crossed.', string())),
    price_usd: optional(describe('The current published price.', ExactValue)),
    record: describe(
      'The whole record of the stream; null for a message without one.',
      nullable(anyObject()),
    ),
  }),
})
export type WebhookMessage = Static<typeof WebhookMessage>
