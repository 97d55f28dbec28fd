/** Webhook calls; they need a key with scope `stream`, and see the webhooks of its consumer. */
import type {
  Webhook,
  WebhookDeliveryPage,
  WebhookList,
  WebhookReplayRequest,
  WebhookRequest,
  WebhookTest,
  WebhookWithSecret,
} from '../wire/webhook.ts'
import { call, type Call, type CallOptions, type HttpOptions } from './http.ts'

type Page = { readonly limit?: number; readonly cursor?: string }

export type WebhookClient = {
  /** Only this answer contains the secret, until it is rotated. */
  create(wish: WebhookRequest, options?: CallOptions): Promise<WebhookWithSecret>
  fetchAll(options?: CallOptions): Promise<WebhookList>
  fetch(webhookId: string, options?: CallOptions): Promise<Webhook>
  remove(webhookId: string, options?: CallOptions): Promise<void>
  /** Sends one message now, and reports the outcome. */
  test(webhookId: string, options?: CallOptions): Promise<WebhookTest>
  fetchDeliveries(webhookId: string, page?: Page, options?: CallOptions): Promise<WebhookDeliveryPage>
  /** Creates a new secret; the previous one signs in parallel for a day. */
  rotate(webhookId: string, options?: CallOptions): Promise<WebhookWithSecret>
  /** Matches the log again; repeated messages keep their ids. */
  replay(webhookId: string, from: WebhookReplayRequest, options?: CallOptions): Promise<Webhook>
  pause(webhookId: string, options?: CallOptions): Promise<void>
  resume(webhookId: string, options?: CallOptions): Promise<void>
}

export function webhookClient(http: HttpOptions): WebhookClient {
  const ask = <Result>(
    method: NonNullable<Call['method']>,
    path: string,
    options?: CallOptions,
    more: Pick<Call, 'body' | 'query'> = {},
  ): Promise<Result> => call(http, { method, path: `v1/webhooks${path}`, ...more }, options)
  const at = (webhookId: string, action = '') => `/${encodeURIComponent(webhookId)}${action}`

  return {
    create: (body, options) => ask('POST', '', options, { body }),
    fetchAll: options => ask('GET', '', options),
    fetch: (webhookId, options) => ask('GET', at(webhookId), options),
    remove: (webhookId, options) => ask('DELETE', at(webhookId), options),
    test: (webhookId, options) => ask('POST', at(webhookId, '/test'), options),
    fetchDeliveries: (webhookId, query = {}, options) =>
      ask('GET', at(webhookId, '/deliveries'), options, { query }),
    rotate: (webhookId, options) => ask('POST', at(webhookId, '/rotate'), options),
    replay: (webhookId, body, options) => ask('POST', at(webhookId, '/replay'), options, { body }),
    pause: (webhookId, options) => ask('POST', at(webhookId, '/pause'), options),
    resume: (webhookId, options) => ask('POST', at(webhookId, '/resume'), options),
  }
}
