import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { Scalar, stringify } from 'yaml'
import { ConfigError } from './faultLog.ts'
import { loadConfig } from './loadConfig.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const chain = {
  chain_id: 1,
  name: 'Test',
  endpoints: [{ name: 'own', url: 'ws://user:secret@127.0.0.1:8546' }],
  genesis_hash: `0x${'ab'.repeat(32)}`,
  block_time_ms: 12_000,
  wrapped_native: address(3),
  deployments: [
    {
      deployment_id: 'v2',
      family: 'amm_v2',
      factory_address: address(9),
      deployment_block: 1,
      fee: { numerator: 997, denominator: 1000 },
    },
  ],
  stables: [{ token_address: address(1), usd_feed: { address: address(8), heartbeat_s: 3600 } }],
  routing_assets: [address(3)],
}

function load(document: object, environment: Record<string, string> = {}) {
  const file = join(folder, 'assay.yaml')
  writeFileSync(file, stringify(document))
  return loadConfig(file, environment)
}

function faultsOf(document: object): string[] {
  try {
    load(document)
  } catch (failure) {
    if (failure instanceof ConfigError) return failure.faults.map(fault => `${fault.path}: ${fault.expected}`)
    throw failure
  }
  return []
}

test('R-config-1: a short file is enough, the rest has defaults', () => {
  const config = load({ chains: [chain] })
  expect(config.listen).toEqual({ host: '127.0.0.1', port: 8080, publicOrigin: null, trustedProxies: [] })
  expect(config.retention).toEqual({ hours: 72, records: 1_000_000 })
  expect(config.store.path).toBe(join(folder, 'data/assay.db'))
  expect(config.chains[0]?.stables[0]?.usdFeed).toEqual({
    address: address(8),
    heartbeatMs: 3_600_000,
    graceMs: 1_800_000,
  })
})

test('R-dispute-1: a routing asset is an address, or a mapping with the dollar feed it is compared with', () => {
  const routing_assets = [
    address(3),
    { token_address: address(4), usd_feed: { address: address(8), heartbeat_s: 60, grace_s: 30 } },
    { token_address: address(5) },
  ]
  const [own] = load({ chains: [{ ...chain, routing_assets }] }).chains
  expect(own?.routingAssets).toEqual([3, 4, 5].map(address))
  expect(own?.assetFeeds).toEqual([
    { tokenAddress: address(4), usdFeed: { address: address(8), heartbeatMs: 60_000, graceMs: 30_000 } },
  ])
  const faulty = [address(3), { token_address: address(3), usd_feed: { address: '0x12', heartbeat: 60 } }]
  expect(
    faultsOf({ chains: [{ ...chain, routing_assets: faulty }] }).map(fault => fault.split(':')[0]),
  ).toEqual([
    'chains[0].routing_assets[1].usd_feed.heartbeat',
    'chains[0].routing_assets[1].usd_feed.address',
    'chains[0].routing_assets[1].usd_feed.heartbeat_s',
    'chains[0].routing_assets[1]',
  ])
})

test('every fault is reported at once, with its path and what was expected', () => {
  const faults = faultsOf({
    listne: {},
    listen: { port: '80' },
    chains: [
      {
        ...chain,
        genesis_hash: '0x12',
        block_time_ms: 0,
        endpoints: [],
        wrapped_native: 'WETH',
        colour: 'red',
      },
      chain,
    ],
  })
  expect(faults).toEqual(
    expect.arrayContaining([
      expect.stringContaining('listne: listen, if you meant that'),
      expect.stringContaining('listen.port: an integer'),
      expect.stringContaining('chains[0].genesis_hash: a hash'),
      expect.stringContaining('chains[0].block_time_ms: an integer'),
      expect.stringContaining('chains[0].endpoints: at least one'),
      expect.stringContaining('chains[0].wrapped_native: an address'),
      expect.stringContaining('chains[0].colour: one of'),
      expect.stringContaining('chains[1].chain_id: a value not listed before'),
    ]),
  )
})

test('an endpoint URL is a secret: it appears in no error, no JSON and no inspection', () => {
  const config = load({ chains: [chain] })
  expect(JSON.stringify(config)).not.toContain('secret')
  expect(inspect(config, { depth: 10 })).not.toContain('secret')
  expect(String(config.chains[0]?.endpoints[0]?.url)).toBe('[redacted]')
  expect(() =>
    load({ chains: [{ ...chain, endpoints: [{ name: 'own', url: 'ftp://user:secret@host' }] }] }),
  ).toThrow(/\[redacted\]/)
})

test('${NAME} comes from the environment, and a missing one is a fault', () => {
  const document = { chains: [{ ...chain, endpoints: [{ name: 'own', url: '${NODE_URL}' }] }] }
  expect(load(document, { NODE_URL: 'http://127.0.0.1:1' }).chains[0]?.endpoints[0]?.url.reveal()).toBe(
    'http://127.0.0.1:1',
  )
  expect(() => load(document)).toThrow('an environment variable NODE_URL')
})

test('a duplicate key is reported with the line of the second one', () => {
  const file = join(folder, 'twice.yaml')
  writeFileSync(file, 'listen:\n  port: 1\nstore: sqlite:a\nlisten: {}\n')
  expect(() => loadConfig(file, {})).toThrow('duplicate key at line 4, column 1, expected YAML')
  writeFileSync(file, 'listen: { port: 1, host: localhost, port: 2 }')
  expect(() => loadConfig(file, {})).toThrow('duplicate key at line 1, column 37, expected YAML')
})

test('a large file of another kind, with 20,000 keys, is recognised by its first hundred', () => {
  const message = messageOfOther(20_000)
  expect(message).toContain('has 20001 faults')
  expect(message).toContain('key_99: received')
  expect(message).not.toContain('key_100: received')
  expect(message.split('\n').at(-1)).toBe('  and 19901 more')
})

test('parsing time grows with the number of keys, and not with their square', () => {
  const [few, many] = [2_000, 4_000].map(keys => countingValueReads(() => messageOfOther(keys)))
  // The parser's own search for repeated keys would read four million.
  expect(few).toBeLessThan(20 * 2_000)
  expect(many).toBeLessThan(2.1 * (few as number))
})

/** What is said of a file that has this many keys, none of them ours. */
function messageOfOther(keys: number): string {
  const file = join(folder, 'other.yaml')
  writeFileSync(file, Array.from({ length: keys }, (_, at) => `key_${at}: ${at}\n`).join(''))
  try {
    loadConfig(file, {})
  } catch (failure) {
    return (failure as Error).message
  }
  return ''
}

/** How often the value of a YAML scalar is read meanwhile: once on each side of every comparison of two keys. */
function countingValueReads(run: () => unknown): number {
  const values = new WeakMap<object, unknown>()
  let reads = 0
  Object.defineProperty(Scalar.prototype, 'value', {
    configurable: true,
    get(this: object) {
      reads += 1
      return values.get(this)
    },
    set(this: object, value: unknown) {
      values.set(this, value)
    },
  })
  try {
    run()
  } finally {
    Reflect.deleteProperty(Scalar.prototype, 'value')
  }
  return reads
}

test('a missing file, or one that is not YAML, is reported', () => {
  expect(() => loadConfig(join(folder, 'none.yaml'), {})).toThrow('nothing that can be read')
  writeFileSync(join(folder, 'bad.yaml'), 'chains: [')
  expect(() => loadConfig(join(folder, 'bad.yaml'), {})).toThrow('expected YAML')
})

test('a PostgreSQL URL is a store, and its password a secret', () => {
  const url = 'postgres://assay:hunter2@db.example/prices'
  const { store } = load({ chains: [chain], store: url })
  expect(store.address.reveal()).toBe(url)
  expect(store.path).toBe(join(folder, 'data/assay'))
  expect(inspect(store)).not.toContain('hunter2')
  const wrong = () => load({ chains: [chain], store: 'mysql://assay:hunter2@db.example/prices' })
  expect(wrong).toThrow('sqlite:PATH or postgres://')
  expect(wrong).not.toThrow('hunter2')
})

test('the formats of other services are enabled on loopback, and elsewhere only when configured', () => {
  const of = (document: object) => load({ ...document, chains: [chain] }).compat
  const on = { coingecko: true, defillama: true, udf: true, minScore: 1, listen: null }
  for (const host of ['127.0.0.1', 'localhost', '::1']) expect(of({ listen: { host } })).toEqual(on)
  const off = { ...on, coingecko: false, defillama: false, udf: false }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'prices.example'])
    expect(of({ listen: { host } })).toEqual(off)
  expect(
    of({ listen: { host: '0.0.0.0' }, compat: { defillama: true, min_score: 4, listen: { port: 9 } } }),
  ).toEqual({
    ...off,
    defillama: true,
    minScore: 4,
    listen: { host: '0.0.0.0', port: 9 },
  })
  expect(faultsOf({ chains: [chain], compat: { coingecko: 'yes', min_score: 11, defilama: true } })).toEqual([
    expect.stringContaining('compat.defilama: defillama, if you meant that'),
    'compat.coingecko: true or false',
    'compat.min_score: an integer from 1 to 10',
  ])
})
