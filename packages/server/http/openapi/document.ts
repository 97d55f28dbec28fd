/**
 * The OpenAPI 3.1 document, generated from the operations and the wire schemas. A schema that the wire exports is a
 * component of that name; nested schemas stay inline.
 */
import { readFileSync } from 'node:fs'
import * as wire from '@assay/sdk/wire'
import type { JsonSchema } from '@assay/sdk/wire'
import { isQuotePath } from '../plumbing/apiError.ts'
import { type Operation, TAGS } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { bodyWords, parameterWord } from './words.ts'

type Json = Readonly<Record<string, unknown>>

/** Recorded answers, by operation and status; request bodies under `request`. */
type Examples = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export function openApiDocument(): Json {
  const examples = JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8')) as Examples
  const schemas = new Components()
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of OPERATIONS) {
    const at = (paths[operation.path] ??= {})
    at[operation.method] = operationText(operation, schemas, examples[operation.id] ?? {})
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Assay',
      version: '1.0.0',
      summary: 'USD prices of long-tail EVM tokens, each with its evidence and a weakest-link confidence.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that returned this document.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }, { session: [] }],
    paths,
    webhooks: { message: { post: messageText(schemas) } },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An operator-issued key; never in a URL.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-assay_session',
          description: 'Set by POST /v1/session; `assay_session` over plain http on this machine.',
        },
      },
      responses: RESPONSES(schemas),
      headers: HEADERS,
      // Last, because by now every reference has added its component.
      schemas: schemas.all(),
    },
  }
}

/** The messages sent to a registered address, as Standard Webhooks defines them. */
const messageText = (schemas: Components): Json => ({
  operationId: 'webhookMessage',
  tags: ['Webhooks'],
  summary: 'What is sent to the address of a webhook, signed by Standard Webhooks.',
  security: [],
  requestBody: {
    description: 'A message: its type, its time, and the record of the stream that met the condition.',
    required: true,
    content: contentOf(schemas.refer(wire.WebhookMessage), undefined),
  },
  responses: {
    204: { description: 'Any 2xx within 10 s: received.' },
    410: { description: 'The address is gone: the webhook is parked.' },
  },
})

function operationText(operation: Operation, schemas: Components, examples: Json): Json {
  const { id, tag, summary, scopes, params, query, body, answers, files = [], failures = [] } = operation
  const isOpen = scopes === null
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(isOpen ? { security: [] } : { description: `Scope: ${scopes.join(' or ')}.` }),
    parameters: [...parametersOf(id, 'path', params, schemas), ...parametersOf(id, 'query', query, schemas)],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            description: bodyWords(id),
            required: true,
            content: contentOf(schemas.refer(body), examples['request']),
          },
        }),
    responses: {
      ...Object.fromEntries(
        Object.keys(answers).map(status => [
          status,
          files.length > 0
            ? fileText(files, isOpen)
            : answerText(operation, Number(status), schemas, examples[status]),
        ]),
      ),
      ...Object.fromEntries(
        failuresOf(operation)
          .concat(failures)
          .map(status => [
            status,
            { $ref: `#/components/responses/${responseName(status, operation.path)}` },
          ]),
      ),
    },
  }
}

/** The failures that any operation of this kind may return. */
function failuresOf({ scopes, body, path }: Operation): number[] {
  if (scopes === null) return path === '/readyz' ? [405] : [405, 503]
  const ofBody = body === undefined ? [] : [413, 415]
  return [400, 401, 403, 404, 405, ...ofBody, 414, 429, 500, 503]
}

const NAMES: Readonly<Record<number, string>> = {
  400: 'Malformed',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  413: 'BodyTooLarge',
  414: 'UrlTooLong',
  415: 'UnsupportedBody',
  422: 'NotPossible',
  429: 'RateLimited',
  500: 'Internal',
  503: 'Unavailable',
  504: 'DeadlineExceeded',
}
/** Quote endpoints state the error by a code, where one exists. */
const WITH_CODE = [400, 404, 422, 503, 504]
const responseName = (status: number, path: string): string =>
  `${isQuotePath(path) && WITH_CODE.includes(status) ? 'Quote' : ''}${NAMES[status]}`

const ABOUT: Readonly<Record<number, string>> = {
  400: 'Malformed: the message names the received and the expected value.',
  401: 'The credential is missing, invalid, expired or revoked.',
  403: 'The credential may not use this endpoint.',
  404: 'Not found.',
  405: 'Method not allowed; see Allow.',
  409: 'Conflicts with the current state; the message names the conflict.',
  413: 'The body is too large.',
  414: 'The URL is longer than 8 KiB.',
  415: 'The body is not uncompressed application/json.',
  422: 'No answer satisfies the restrictions of the request.',
  429: 'The quota is exhausted.',
  500: 'The service failed; the request id names the log line.',
  503: 'Temporarily unavailable.',
  504: 'Not done by the requested deadline.',
}
const EMPTY = [401, 403, 429]

function RESPONSES(schemas: Components): Json {
  const error = schemas.refer(wire.ErrorBody)
  const quoteError = schemas.refer(wire.QuoteErrorBody)
  const responses: Record<string, Json> = {}
  for (const [text, name] of Object.entries(NAMES)) {
    const status = Number(text)
    const headers = headersOf(status, false)
    const description = ABOUT[status] ?? name
    if (status !== 422 && status !== 504)
      responses[name] = EMPTY.includes(status)
        ? { description: `${description} Empty body.`, headers }
        : { description, headers, content: contentOf(error) }
    // An unknown path below /v1/quote/ has no code.
    if (WITH_CODE.includes(status))
      responses[`Quote${name}`] = {
        description,
        headers,
        content: contentOf(status === 404 || status === 503 ? { anyOf: [quoteError, error] } : quoteError),
      }
  }
  return responses
}

const HEADERS: Json = {
  'X-Request-Id': { description: 'Identifies this request in the log.', schema: { type: 'string' } },
  RateLimit: { description: 'The remaining quota: `"default";r=59;t=1`.', schema: { type: 'string' } },
  'RateLimit-Policy': { description: 'The quota: `"default";q=600;w=60`.', schema: { type: 'string' } },
  'Retry-After': { description: 'Whole seconds, at least 1.', schema: { type: 'integer', minimum: 1 } },
  'WWW-Authenticate': { description: 'The required scheme: Bearer.', schema: { type: 'string' } },
  Allow: { description: 'The allowed methods.', schema: { type: 'string' } },
  ETag: {
    description: 'Identifies this representation; send it as If-None-Match.',
    schema: { type: 'string' },
  },
}

function headersOf(status: number, isOpen: boolean): Json {
  const names = ['X-Request-Id']
  if (!isOpen && status !== 401) names.push('RateLimit', 'RateLimit-Policy')
  if (status === 429 || status === 202) names.push('Retry-After')
  if (status === 401) names.push('WWW-Authenticate')
  if (status === 405) names.push('Allow')
  if (status === 304) names.push('ETag')
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

const MEANS: Readonly<Record<number, string>> = {
  202: 'Accepted; work is in progress.',
  204: 'Done; no body.',
  304: 'Nothing has changed since that tag.',
}

function answerText(
  { summary, scopes, answers }: Operation,
  status: number,
  schemas: Components,
  example: unknown,
): Json {
  const schema = answers[status] ?? null
  return {
    description: MEANS[status] ?? ABOUT[status] ?? summary,
    headers: headersOf(status, scopes === null),
    ...(schema === null ? {} : { content: contentOf(schemas.refer(schema), example) }),
  }
}

const fileText = (files: readonly string[], isOpen: boolean): Json => ({
  description: 'The file.',
  headers: headersOf(200, isOpen),
  content: Object.fromEntries(files.map(type => [type, { schema: { type: 'string' } }])),
})

const contentOf = (schema: Json, example?: unknown): Json => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
})

function parametersOf(
  id: string,
  where: 'path' | 'query',
  schema: JsonSchema | undefined,
  schemas: Components,
): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Readonly<Record<string, JsonSchema>>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, each]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    description: parameterWord(id, name)?.about ?? each['description'],
    schema: schemas.refer(each),
    example: parameterWord(id, name)?.example,
  }))
}

/** The referenced schemas, under their names in the wire's exports. */
export class Components {
  readonly #names = new Map<unknown, string>()
  readonly #made = new Map<string, Json>()

  constructor() {
    for (const [name, value] of Object.entries(wire))
      if (typeof value === 'object' && !Array.isArray(value) && ('type' in value || 'anyOf' in value))
        this.#names.set(value, name)
  }

  all(): Json {
    return Object.fromEntries([...this.#made].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  refer(schema: JsonSchema): Json {
    const name = this.#names.get(schema)
    if (name === undefined) return this.#inside(schema)
    if (!this.#made.has(name)) {
      // Registered before it is resolved, because a schema may refer to itself.
      this.#made.set(name, {})
      this.#made.set(name, this.#inside(schema))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #inside(schema: JsonSchema): Json {
    const text: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(schema))
      if (keyword === 'properties')
        text[keyword] = Object.fromEntries(
          Object.entries(value as Record<string, JsonSchema>).map(([name, each]) => [name, this.refer(each)]),
        )
      else if (keyword === 'anyOf') text[keyword] = (value as JsonSchema[]).map(each => this.refer(each))
      else if (keyword === 'items' || (keyword === 'additionalProperties' && typeof value === 'object'))
        text[keyword] = this.refer(value as JsonSchema)
      else if (keyword === '$ref') text[keyword] = `#/components/schemas/${String(value).replace(/#$/, '')}`
      else if (keyword !== '$id') text[keyword] = value
    return text
  }
}
