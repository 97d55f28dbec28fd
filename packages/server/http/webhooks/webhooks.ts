/**
 * /v1/webhooks: register, list, test, rotate, replay. A consumer sees its own, an operator all; secrets appear in two
 * answers only.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import { WebhookReplayRequest, WebhookRequest } from '@assay/sdk/wire'
import type { WebhookCondition } from '@assay/sdk/wire'
import { epochStart } from '../../store/epoch.ts'
import type { NewWebhook } from '../../store/webhooks.ts'
import { attempt } from '../../webhooks/attempt.ts'
import { testMessage } from '../../webhooks/message.ts'
import { makeSecret } from '../../webhooks/signature.ts'
import { urlFault } from '../../webhooks/target.ts'
import { auditChange } from '../admin/audited.ts'
import { RequestError } from '../plumbing/apiError.ts'
import { bodyOf } from '../plumbing/body.ts'
import { charge, COMPUTING_UNITS, unitsOfRows } from '../plumbing/charge.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { openPage, sealPage } from '../plumbing/pageCursor.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'
import { principalOf } from '../resources/session.ts'
import { isOperator, noWebhook, ownedWebhook } from './owned.ts'
import { checkedCondition, placeAt, placeNow } from './place.ts'
import { deliveryText, newWebhookText, webhookText } from './text.ts'

type Needs = Pick<
  HttpContext,
  'addresses' | 'chains' | 'clock' | 'hub' | 'limit' | 'pageSecret' | 'store' | 'webhooks'
>

/** Limit per consumer: each webhook is a position on the log that must be kept current. */
const MOST = 200
/** How long the previous secret also signs: time to replace it at the receiver. */
const OVERLAP_MS = 24 * 3_600_000
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000

export function registerWebhooks(app: FastifyInstance, context: Needs): void {
  registerRegistry(app, context)
  registerDeliveries(app, context)
  for (const [action, state] of [
    ['pause', 'PAUSED'],
    ['resume', 'ACTIVE'],
  ] as const)
    app.post(`/v1/webhooks/:webhook_id/${action}`, async (request, reply) => {
      none(request)
      const { webhookId } = await ownedWebhook(context, request)
      if (!(await context.store.setWebhookState(webhookId, state, null))) throw noWebhook(webhookId)
      await changed(context, request, action, webhookId, null)
      return reply.code(204).send()
    })
}

function registerRegistry(app: FastifyInstance, context: Needs): void {
  const { store, clock, webhooks } = context
  app.post('/v1/webhooks', async (request, reply) => {
    none(request)
    const body = bodyOf(request, WebhookRequest)
    const fault = urlFault(body.url, webhooks.sending.isAllowed)
    if (fault !== null) throw new RequestError(400, `url may not be called: ${fault}`)
    const condition = await checkedCondition(context, body.condition)
    const secret = makeSecret()
    const webhook: NewWebhook = {
      webhookId: randomUUID().replaceAll('-', ''),
      consumer: principalOf(request).consumer,
      name: body.name ?? condition.kind,
      url: body.url,
      condition: JSON.stringify(condition),
      secret,
      createdAtMs: clock.nowMs(),
      ...(await placeNow(context, condition)),
    }
    if (!(await store.insertWebhook(webhook, MOST)))
      throw new RequestError(409, `${webhook.consumer} has ${MOST} webhooks already; delete one first`)
    await changed(context, request, 'create', webhook.webhookId, condition)
    return reply.code(201).send({ ...newWebhookText(webhook), secret: secret.reveal() })
  })

  app.get('/v1/webhooks', async request => {
    none(request)
    const consumer = isOperator(context, request) ? null : principalOf(request).consumer
    const nowMs = clock.nowMs()
    return { webhooks: (await store.listWebhooks(consumer)).map(row => webhookText(row, nowMs)) }
  })

  app.get('/v1/webhooks/:webhook_id', async request => {
    none(request)
    return webhookText(await ownedWebhook(context, request), clock.nowMs())
  })

  app.delete('/v1/webhooks/:webhook_id', async (request, reply) => {
    none(request)
    const { webhookId } = await ownedWebhook(context, request)
    if (!(await store.deleteWebhook(webhookId))) throw noWebhook(webhookId)
    await changed(context, request, 'delete', webhookId, null)
    return reply.code(204).send()
  })

  app.post('/v1/webhooks/:webhook_id/rotate', async request => {
    none(request)
    const { webhookId } = await ownedWebhook(context, request)
    const secret = makeSecret()
    if (!(await store.rotateWebhook(webhookId, secret, clock.nowMs() + OVERLAP_MS)))
      throw noWebhook(webhookId)
    await changed(context, request, 'rotate', webhookId, null)
    return {
      ...webhookText(await ownedWebhook(context, request), clock.nowMs()),
      secret: secret.reveal(),
    }
  })
}

function registerDeliveries(app: FastifyInstance, context: Needs): void {
  const { store, clock, webhooks } = context
  /** The node that receives the request sends it once, at once; it does not depend on the log. */
  app.post('/v1/webhooks/:webhook_id/test', async (request, reply) => {
    none(request)
    const row = await ownedWebhook(context, request)
    await charge(context, request, reply, COMPUTING_UNITS)
    const message = testMessage(row.webhookId, row.position, clock.nowMs(), randomUUID())
    const { status, error } = await attempt(webhooks.sending, row, message)
    return { message_id: message.id, delivered: error === null ? 'YES' : 'NO', status, error }
  })

  app.get('/v1/webhooks/:webhook_id/deliveries', async (request, reply) => {
    const params = new Params(searchOf(request), ['limit', 'cursor'], malformed)
    const { webhookId } = await ownedWebhook(context, request)
    const limit = params.integer('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT
    await charge(context, request, reply, unitsOfRows(limit))
    const cursor = params.text('cursor')
    const query = `deliveries ${webhookId}`
    const before = cursor === null ? null : Number(openPage(context.pageSecret, query, cursor)[0])
    const rows = await store.readDeliveries({ webhookId, before, limit })
    const last = rows.length < limit ? undefined : rows.at(-1)
    return {
      deliveries: rows.map(deliveryText),
      next_cursor: last === undefined ? null : sealPage(context.pageSecret, query, [last.sequence]),
    }
  })

  app.post('/v1/webhooks/:webhook_id/replay', async request => {
    none(request)
    const row = await ownedWebhook(context, request)
    const { after_sequence: after } = bodyOf(request, WebhookReplayRequest)
    const { epoch, oldest, head } = await store.readBounds()
    if (after < Math.max(oldest - 1, epochStart(epoch)) || after > head)
      throw new RequestError(400, `after_sequence is ${after}; expected ${oldest - 1} to ${head}`)
    const { position, memory } = await placeAt(context, JSON.parse(row.condition) as WebhookCondition, after)
    if (!(await store.moveWebhook(row.webhookId, position, memory))) throw noWebhook(row.webhookId)
    await changed(context, request, 'replay', row.webhookId, { after_sequence: after })
    return webhookText(await ownedWebhook(context, request), clock.nowMs())
  })
}

const none = (request: FastifyRequest): Params => new Params(searchOf(request), [], malformed)

/** Leaves out the address, which may contain a secret of its own. */
async function changed(
  context: Needs,
  request: FastifyRequest,
  action: string,
  webhookId: string,
  detail: object | null,
): Promise<void> {
  context.webhooks.changed()
  await auditChange(context, request, `webhook.${action}`, webhookId, detail)
}
