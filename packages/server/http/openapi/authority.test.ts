/** What the description of the API rules out by its form: objects of others, addresses of the network, fields nobody reads. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openApiDocument } from './document.ts'

type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: unknown
}
type Operation = {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}
const document = openApiDocument() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, of]) => ({ path, method, of })),
)
const bodyOf = ({ requestBody }: Operation): Schema | undefined =>
  requestBody?.content['application/json'].schema

/** A schema and all within it, by the name each stands under. */
function within(schema: Schema, name: string): { readonly name: string; readonly schema: Schema }[] {
  const found =
    schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1) ?? '']
  if (found === undefined) throw new Error(`${schema.$ref} is nowhere`)
  return [
    { name, schema: found },
    ...Object.entries(found.properties ?? {}).flatMap(([key, each]) => within(each, key)),
    ...(found.items === undefined ? [] : within(found.items, name)),
  ]
}

/** Chains, tokens, pools, blocks, policies and places in the log are the same for everybody. */
const EVERYBODYS = new Set([
  'after_sequence',
  'to_sequence',
  'format',
  'header',
  'amount',
  'usd',
  'address',
  'at_block',
  'at_ms',
  'at_sequence',
  'chain_id',
  'closed',
  'cursor',
  'deadline_ms',
  'exclude_pools',
  'from_block',
  'from_ms',
  'include',
  'interval',
  'kind',
  'limit',
  'max_age_ms',
  'max_hops',
  'min_depth_usd',
  'min_score',
  'policy_version',
  'pool_address',
  'q',
  'snapshot_sequence',
  'to_block',
  'to_ms',
  'token_address',
  'tokens',
  'view',
])

/** Whose a webhook is, is asked before anything is done with it: see `endToEnd/webhooks.test.ts`. */
const isWebhook = (path: string): boolean => path.startsWith('/v1/webhooks')

it('outside the admin API and webhooks no request names an object of a consumer', () => {
  const open = operations.filter(({ path }) => !path.startsWith('/v1/admin/') && !isWebhook(path))
  const sent = open.flatMap(({ of }) => [
    ...of.parameters.map(({ name }) => name),
    ...within(bodyOf(of) ?? {}, '').map(({ name }) => name),
  ])
  expect(sent.length).toBeGreaterThan(30)
  expect(sent.filter(name => name !== '' && !EVERYBODYS.has(name))).toEqual([])
})

it('of webhooks a request names a webhook and nothing else of a consumer', () => {
  const sent = operations
    .filter(({ path }) => isWebhook(path))
    .flatMap(({ of }) => [
      ...of.parameters.map(({ name }) => name),
      ...Object.keys(
        bodyOf(of) === undefined ? {} : (within(bodyOf(of) ?? {}, '')[0]?.schema.properties ?? {}),
      ),
    ])
  const own = sent.filter(name => !EVERYBODYS.has(name))
  expect([...new Set(own)].toSorted()).toEqual(['condition', 'name', 'url', 'webhook_id'])
})

it('no request contains a network address, except for that of a webhook, which is checked', () => {
  const sent = operations.flatMap(({ of }) => [
    ...of.parameters.flatMap(({ name, schema }) => within(schema, name)),
    ...within(bodyOf(of) ?? {}, 'body'),
  ])
  const leading = sent.filter(
    ({ name, schema }) =>
      /ur[il]|host|origin|endpoint|callback|webhook|redirect/i.test(name) ||
      /uri|host/.test(schema.format ?? ''),
  )
  expect(leading.map(({ name }) => name).filter(name => name !== 'webhook_id')).toEqual(['url'])
})

it('a body has no undescribed field; a policy is checked by the engine, which refuses by the same rule', () => {
  const loose = operations.flatMap(({ of }) =>
    within(bodyOf(of) ?? {}, '')
      .filter(({ schema }) => schema.type === 'object' && schema.additionalProperties !== false)
      .map(() => of.operationId),
  )
  expect(loose.toSorted()).toEqual(['setPolicy', 'tryPolicy'])
})

/** The stream as events is described in /asyncapi.json. */
const ELSEWHERE = 'GET /v1/stream/sse'
const ROUTE = /\bapp\.(get|post|put|delete|patch|all)\(\s*['"`](\/v1\/[^'"`]+)/g

it('every served route of the API is described, and every described one is served', () => {
  const folder = join(import.meta.dirname, '..')
  const sources = globSync('**/*.ts', { cwd: folder }).filter(file => !file.endsWith('.test.ts'))
  const served = sources
    .flatMap(file => [...readFileSync(join(folder, file), 'utf8').matchAll(ROUTE)])
    .map(([, method = '', path = '']) => `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    // One line for two routes.
    .flatMap(route => ['pause', 'resume'].map(action => route.replace('${action}', action)))
  const described = operations
    .filter(({ path }) => path.startsWith('/v1/'))
    .map(({ path, method }) => `${method.toUpperCase()} ${path}`)
  expect([...new Set(served)].toSorted()).toEqual([...described, ELSEWHERE].toSorted())
})
