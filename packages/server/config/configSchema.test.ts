import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { CONFIG_KEYS } from './reference.ts'
import { configSchema, type JsonSchema } from './jsonSchema.ts'
import { SAMPLE } from './testing/sample.ts'
import { showConfig, showEnvironment } from './show.ts'
import { configTemplate } from './template.ts'
import { configFrom, loadConfig } from './loadConfig.ts'
import { FaultLog } from './faultLog.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-schema-'))
afterAll(() => rmSync(folder, { recursive: true }))

const validate = new Ajv({ strict: false }).compile(configSchema())

function faultsOf(document: unknown): string[] {
  const shape = new FaultLog()
  configFrom(shape, document, '/')
  return shape.faults.map(({ path }) => path)
}

/** Paths of every key the schema has, as `chains[].name`. */
function keysOf(schema: JsonSchema, path = ''): string[] {
  const inner = (schema['anyOf'] as JsonSchema[] | undefined)?.[0] ?? schema
  if (path === 'policy') return []
  const { properties, items } = inner as { properties?: Record<string, JsonSchema>; items?: JsonSchema }
  if (items !== undefined) return keysOf(items, `${path}[]`)
  return Object.entries(properties ?? {}).flatMap(([key, each]) => {
    const own = path === '' ? key : `${path}.${key}`
    return [own, ...keysOf(each, own)]
  })
}

/** Every path of a document with its value. */
function placesOf(
  value: unknown,
  steps: readonly (string | number)[] = [],
): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [steps]
  return [
    ...(steps.length === 0 ? [] : [steps]),
    ...Object.entries(value).flatMap(([key, each]) =>
      placesOf(each, [...steps, Array.isArray(value) ? Number(key) : key]),
    ),
  ]
}

function withValue(steps: readonly (string | number)[], value: unknown): object {
  const copy = structuredClone(SAMPLE) as unknown as Record<string | number, unknown>
  const last = steps.at(-1) as string | number
  let at = copy
  for (const step of steps.slice(0, -1)) at = at[step] as Record<string | number, unknown>
  at[last] = value
  return copy
}

test('the sample behind the schema checks is valid, by the reader and by the schema', () => {
  expect(faultsOf(SAMPLE)).toEqual([])
  expect([validate(SAMPLE), validate.errors]).toEqual([true, null])
})

test('every key has a description, and every description a key', () => {
  expect(keysOf(configSchema()).sort()).toEqual(Object.keys(CONFIG_KEYS).sort())
})

test('values of a type the reader refuses, the schema refuses too, at every place; and the other way round', () => {
  const apart: string[] = []
  for (const steps of placesOf(SAMPLE))
    for (const value of [true, -1, 'not-this', { unknown: 1 }, [true]]) {
      const path = steps.filter(each => typeof each === 'string').join('.')
      const document = withValue(steps, value)
      const [byReader, bySchema] = [faultsOf(document).length > 0, !validate(document)]
      if (byReader !== bySchema && !(bySchema && STRICTER.has(path)))
        apart.push(`${steps.join('.')} = ${JSON.stringify(value)}: reader ${byReader}, schema ${bySchema}`)
    }
  expect(apart).toEqual([])
})

/** The reader leaves the policy to the engine, which refuses what the schema does. */
const STRICTER = new Set(['policy'])

test('a key that the reader requires is required by the schema, unless the chain or the form may not need it', () => {
  const chain = { chain_id: 1, endpoints: [{ name: 'own', url: 'https://node.example' }] }
  const isValid = (own: object) => validate({ chains: [{ ...chain, ...own }] })
  expect(isValid({})).toBe(true)
  expect(validate({ chains: [] })).toBe(false)
  expect(isValid({ stables: [{}] })).toBe(false)
  const address = `0x${'12'.repeat(20)}`
  expect(isValid({ stables: [{ token_address: address, usd_feed: { address } }] })).toBe(false)
  expect(isValid({ stables: [{ token_address: address, usd_feed: { address, heartbeat_s: 60 } }] })).toBe(
    true,
  )
  const own = { deployment_id: 'own', family: 'amm_v4', factory_address: address }
  expect(isValid({ deployments: [own] })).toBe(false)
  expect(isValid({ deployments: [{ ...own, deployment_block: null }] })).toBe(true)
})

test('a variable may replace any value, since the reader substitutes it first', () => {
  const document = structuredClone(SAMPLE) as {
    listen: { port: unknown }
    chains: { endpoints: { url: string }[] }[]
  }
  document.listen.port = '${PORT}'
  for (const chain of document.chains) for (const endpoint of chain.endpoints) endpoint.url = '${RPC}'
  expect(validate(document)).toBe(true)
})

test('the file of config init is valid, names its schema and every key, and needs only its own variables', () => {
  const text = configTemplate([1, 137], './assay.schema.json')
  expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./assay.schema.json')
  for (const key of Object.keys(CONFIG_KEYS)) expect(text).toContain(key.split(/\.|\[\]/).at(-1))
  for (const line of text.split('\n').filter(each => !/^\s*# \w+: /.test(each)))
    expect(line.length).toBeLessThanOrEqual(120)
  expect([validate(parse(text)), validate.errors]).toEqual([true, null])
  const file = join(folder, 'init.yaml')
  writeFileSync(file, text)
  const config = loadConfig(file, { ASSAY_RPC_1: 'https://one.example', ASSAY_RPC_137: 'wss://two.example' })
  expect(config.chains.map(({ name }) => name)).toEqual(['Ethereum', 'Polygon PoS'])
  expect(() => loadConfig(file, {})).toThrow(/ASSAY_RPC_1}.*\n.*ASSAY_RPC_137}/)
})

test('a comment needs no variable, and a # inside a string is no comment', () => {
  const file = join(folder, 'comment.yaml')
  writeFileSync(
    file,
    `# \${NOBODY}\nchains: # \${NOBODY}\n  - chain_id: 1\n    endpoints: [{ name: a, url: "https://x.example/#\${KEY}" }, { name: b, url: 'https://y.example/ #\${KEY}' }]\n`,
  )
  const [chain] = loadConfig(file, { KEY: 'k1' }).chains
  expect(chain?.endpoints.map(({ url }) => url.reveal())).toEqual([
    'https://x.example/#k1',
    'https://y.example/ #k1',
  ])
})

test('every value is shown with its source, and no secret', () => {
  const file = join(folder, 'shown.yaml')
  const document = {
    listen: { port: 9090 },
    store: 'postgres://user:hidden@db.example/assay',
    chains: [
      {
        chain_id: 1,
        endpoints: [{ name: 'own', url: 'https://node.example/${NODE_KEY}' }],
        tokens: [`0x${'12'.repeat(20)}`],
      },
    ],
    webhooks: { allow_private: ['10.0.0.0/8'] },
    policy: { min_depth_usd: 75 },
  }
  writeFileSync(file, stringify(document))
  const { values } = showConfig(file, { NODE_KEY: 'hidden-too' })
  const at = (path: string) => {
    const found = values.find(each => each.path === path)
    return [found?.value, found?.source]
  }
  expect(at('listen.port')).toEqual([9090, 'shown.yaml:2'])
  expect(at('listen.host')).toEqual(['127.0.0.1', 'default'])
  expect(at('store')).toEqual(['postgres://[redacted]', 'shown.yaml:3'])
  expect(at('chains[0].endpoints[0].url')).toEqual(['[redacted]', 'shown.yaml:8 ${NODE_KEY}'])
  expect(at('chains[0].block_time_ms')).toEqual([12_048, 'built in'])
  expect(at('chains[0].start_behind_s')).toEqual([0, 'default'])
  expect(at('chains[0].tokens')).toEqual([[`0x${'12'.repeat(20)}`], 'shown.yaml:10'])
  expect(at('policy.min_depth_usd')).toEqual([75, expect.stringMatching(/^shown\.yaml:\d+$/)])
  expect(at('webhooks.allow_private')).toEqual([['10.0.0.0/8'], 'shown.yaml:13'])
  expect(at('policy.max_hops')).toEqual([3, 'default'])
  expect(JSON.stringify(values)).not.toMatch(/hidden|node\.example|db\.example/)
})

test('a value from the environment has the variable as its source', () => {
  const { values } = showEnvironment({ ASSAY_RPC_56: 'https://node.example/hidden' }, folder)
  expect(values.find(({ path }) => path === 'chains[0].endpoints[0].url')).toMatchObject({
    value: '[redacted]',
    source: 'ASSAY_RPC_56',
  })
})
