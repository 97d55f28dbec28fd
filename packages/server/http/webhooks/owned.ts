/**
 * Which webhooks a request may see: those of its own consumer, or any for an operator. A webhook of another consumer
 * appears not to exist.
 */
import type { FastifyRequest } from 'fastify'
import type { WebhookRow } from '../../store/webhooks.ts'
import { RequestError } from '../plumbing/apiError.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { pathOf } from '../plumbing/request.ts'
import { principalOf } from '../resources/session.ts'

type Needs = Pick<HttpContext, 'addresses' | 'store'>

/** As for `/v1/admin`: the scope, and an address on the allowlist. */
export const isOperator = (context: Needs, request: FastifyRequest): boolean =>
  principalOf(request).scopes.includes('admin') && context.addresses.isAllowed(request.raw)

export async function ownedWebhook(context: Needs, request: FastifyRequest): Promise<WebhookRow> {
  const webhookId = pathOf(request, 'webhook_id')
  const row = await context.store.readWebhook(webhookId)
  if (row === null || !(isOperator(context, request) || row.consumer === principalOf(request).consumer))
    throw noWebhook(webhookId)
  return row
}

export const noWebhook = (webhookId: string): RequestError =>
  new RequestError(
    404,
    `you have no webhook ${JSON.stringify(webhookId.slice(0, 40))}; GET /v1/webhooks lists them`,
  )
