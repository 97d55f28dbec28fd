/**
 * The AsyncAPI 3 document of the stream, generated from the wire schemas: what a client sends, and what it receives.
 */
import * as wire from '@assay/sdk/wire'
import type { JsonSchema } from '@assay/sdk/wire'
import { Components } from '../openapi/document.ts'

type Json = Readonly<Record<string, unknown>>

const MESSAGES: Readonly<Record<string, { readonly about: string; readonly payload: JsonSchema }>> = {
  SUBSCRIBE: {
    about: 'Sent exactly once per connection, within five seconds. A null cursor starts live.',
    payload: wire.SubscribeFrame,
  },
  PRICE_UPSERT: {
    about: 'The absolute current state of a token or a pool; safe to apply repeatedly.',
    payload: wire.PriceUpsertEnvelope,
  },
  PRICE_RETRACT: {
    about: 'Withdraws a published record and carries the state that replaces it.',
    payload: wire.PriceRetractEnvelope,
  },
  SWAP_OBSERVED: {
    about: 'A decoded swap with exact amounts and its position.',
    payload: wire.SwapObservedEnvelope,
  },
  FEED_HEALTH: {
    about: "The health of a chain's feed, on every change and every 15 s: silence means loss.",
    payload: wire.FeedHealthEnvelope,
  },
  RESET_REQUIRED: {
    about: 'Replay cannot continue safely: take a snapshot, create a cursor there, subscribe again.',
    payload: wire.ResetRequired,
  },
}
const HEARD = Object.keys(MESSAGES).filter(name => name !== 'SUBSCRIBE')

const QUERY: Readonly<Record<string, string>> = {
  chain_ids: 'Chains, ascending, separated by commas; required.',
  pool_ids: 'Pool ids, ascending, separated by commas.',
  token_ids: 'Token ids, ascending, separated by commas.',
  types: 'Types of records, ascending, separated by commas.',
  cursor: 'Where to resume; the header Last-Event-ID wins.',
}

export function asyncApiDocument(): Json {
  const schemas = new Components()
  const messages = Object.fromEntries(
    Object.entries(MESSAGES).map(([name, { about, payload }]) => [
      name,
      {
        name,
        title: name,
        summary: about,
        description: about,
        contentType: 'application/json',
        payload: schemas.refer(payload),
      },
    ]),
  )
  const all = (names: readonly string[]) =>
    Object.fromEntries(names.map(name => [name, { $ref: `#/components/messages/${name}` }]))
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Assay stream',
      version: '1.0.0',
      description:
        'Prices, swaps and feed health as they are committed, resumable from a cursor. Close codes: ' +
        Object.entries(wire.CLOSE_CODES)
          .map(([code, { about }]) => `${code}: ${about}`)
          .join(' '),
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      webSocket: server('ws', 'The host that served this document; wss behind TLS.'),
      eventStream: server('http', 'The same host; https behind TLS.'),
    },
    channels: {
      stream: {
        address: '/v1/stream',
        title: 'WebSocket',
        description: 'Records in order of their sequence; with a cursor, the replay comes first.',
        servers: [{ $ref: '#/servers/webSocket' }],
        messages: all(Object.keys(MESSAGES)),
      },
      events: {
        address: '/v1/stream/sse',
        title: 'Server-sent events',
        description:
          'The same records; each event is named after its type, and its id resumes the same request.',
        servers: [{ $ref: '#/servers/eventStream' }],
        messages: all(HEARD),
        bindings: {
          ws: {
            method: 'GET',
            query: {
              type: 'object',
              properties: Object.fromEntries(
                Object.entries(QUERY).map(([name, description]) => [name, { type: 'string', description }]),
              ),
            },
          },
        },
      },
    },
    operations: {
      subscribe: operation('receive', 'stream', ['SUBSCRIBE'], 'What the client sends.'),
      publish: operation('send', 'stream', HEARD, 'What the client receives.'),
      publishEvents: operation('send', 'events', HEARD, 'The same as events.'),
    },
    components: {
      messages,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An operator-issued key with scope stream.' },
        session: {
          type: 'httpApiKey',
          in: 'cookie',
          name: '__Host-assay_session',
          description: 'Set by POST /v1/session; same origin only.',
        },
      },
      schemas: schemas.all(),
    },
  }
}

const server = (protocol: string, description: string): Json => ({
  host: 'localhost:8080',
  protocol,
  description,
  security: [
    { $ref: '#/components/securitySchemes/bearer' },
    { $ref: '#/components/securitySchemes/session' },
  ],
})

const operation = (
  action: 'send' | 'receive',
  channel: string,
  names: readonly string[],
  summary: string,
): Json => ({
  action,
  summary,
  channel: { $ref: `#/channels/${channel}` },
  messages: names.map(name => ({ $ref: `#/channels/${channel}/messages/${name}` })),
})
