/** What an operator may get wrong in the configuration: each gets a line with the key, the value and what to do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { Config } from './config.ts'
import { configWarnings } from './warnings.ts'
import { ConfigError } from './faultLog.ts'
import { environmentConfig } from './environmentConfig.ts'
import { loadConfig } from './loadConfig.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-bad-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const endpoint = { name: 'own', url: 'http://127.0.0.1:8545' }

function load(document: object): Config {
  const file = join(folder, 'assay.yaml')
  writeFileSync(file, stringify(document))
  return loadConfig(file, {})
}

function faultsOf(task: () => unknown): string[] {
  try {
    task()
  } catch (failure) {
    if (!(failure instanceof ConfigError)) throw failure
    return failure.faults.map(
      ({ path, received, expected }) => `${path}: received ${received}, expected ${expected}`,
    )
  }
  return []
}

const chainFaults = (chain: object) =>
  faultsOf(() => load({ chains: [{ chain_id: 1, endpoints: [endpoint], ...chain }] }))

test('a built-in chain needs its id and its endpoints, and everything else may be overridden', () => {
  const [plain] = load({ chains: [{ chain_id: 56, endpoints: [endpoint] }] }).chains
  expect(plain).toMatchObject({ name: 'BNB Smart Chain', blockTimeMs: 450 })
  expect(plain?.deployments.map(({ deploymentId }) => deploymentId)).toEqual([
    'pancake-v2',
    'uniswap-v2',
    'pancake-v3',
    'uniswap-v3',
    'uniswap-v4',
  ])
  const [own] = load({
    chains: [{ chain_id: 56, endpoints: [endpoint], name: 'Mine', block_time_ms: 750, pools: [] }],
  }).chains
  expect(own).toMatchObject({ name: 'Mine', blockTimeMs: 750, pools: [] })
  expect(own?.stables).toEqual(plain?.stables)
})

test('a chain with its own genesis is not the built-in one, whatever its id', () => {
  const faults = chainFaults({ genesis_hash: `0x${'ab'.repeat(32)}` })
  expect(faults).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^chains\[0\]\.name: received nothing/),
      expect.stringMatching(/^chains\[0\]\.wrapped_native: received nothing/),
    ]),
  )
})

test.each([
  ['', 'an empty text'],
  ['   ', 'an empty text'],
  ['ftp://user:hunter2@host/secret-path', 'ftp://[redacted]'],
  ['mainnet.provider.example/v3/hunter2', 'a text without a scheme [redacted]'],
  ['https://', 'https://[redacted]'],
])('an RPC URL %j is reported as %s', (url, received) => {
  const faults = chainFaults({ endpoints: [{ name: 'own', url }] })
  expect(faults).toEqual([
    `chains[0].endpoints[0].url: received ${received}, expected a URL of https, http, wss, ws, such as https://host:8545`,
  ])
  expect(faults.join()).not.toContain('hunter2')
})

test('R-ticks-8: a second v4 manager on a chain is refused, because pool ids do not say whose they are', () => {
  const manager = (id: string, address: string) => ({
    deployment_id: id,
    family: 'amm_v4',
    factory_address: address,
    deployment_block: null,
  })
  const own = manager('own', `0x${'a1'.repeat(20)}`)
  expect(chainFaults({ deployments: [own] })).toEqual([])
  expect(chainFaults({ deployments: [own, manager('fork', `0x${'a2'.repeat(20)}`)] })).toEqual([
    'chains[0].deployments[1].family: received "amm_v4", expected one deployment of amm_v4 on a chain, because two would have the same pool ids; chains[0].deployments[0] already is one',
  ])
})

test('an unknown key suggests the one that was probably meant', () => {
  expect(chainFaults({ block_time_s: 12 })).toEqual([
    expect.stringMatching(
      /^chains\[0\]\.block_time_s: received "block_time_s", expected block_time_ms, if you/,
    ),
  ])
  expect(chainFaults({ routing_asset: [] })).toEqual([
    expect.stringMatching(/expected routing_assets, if you/),
  ])
  expect(chainFaults({ colour: 'red' })).toEqual([expect.stringMatching(/expected one of chain_id, name,/)])
})

test('the proof of a chain is standard by default, and a bad value is reported with the valid ones', () => {
  const proofOf = (proof: object | undefined) =>
    load({ chains: [{ chain_id: 1, endpoints: [endpoint], ...(proof === undefined ? {} : { proof }) }] })
      .chains[0]?.proof
  expect(proofOf(undefined)).toEqual({ header: 'standard', receipts: 'standard' })
  expect(proofOf({ receipts: 'op_stack' })).toEqual({ header: 'standard', receipts: 'op_stack' })
  expect(proofOf({ header: 'opaque' })).toEqual({ header: 'opaque', receipts: 'standard' })
  expect(chainFaults({ proof: { header: 'cronos', receipts: true, logs: 'none' } })).toEqual([
    'chains[0].proof.logs: received "logs", expected one of header, receipts',
    'chains[0].proof.header: received "cronos", expected one of standard, opaque',
    'chains[0].proof.receipts: received true, expected one of standard, op_stack, none',
  ])
  expect(chainFaults({ proof: 'opaque' })).toEqual(['chains[0].proof: received "opaque", expected a mapping'])
})

test('a chain that one endpoint cannot prove is reported before it starts', () => {
  const second = { name: 'other', url: 'https://another.test' }
  const of = (proof: object, endpoints: readonly object[] = [endpoint]) =>
    configWarnings(load({ chains: [{ chain_id: 1, endpoints, proof }] })).filter(each =>
      each.includes('NO_PROOF'),
    )
  expect(of({ header: 'opaque' })).toEqual([
    expect.stringMatching(
      /^chains\[0\]\.proof: .*DEGRADED \(NO_PROOF\).*add an endpoint of another provider$/,
    ),
  ])
  expect(of({ receipts: 'none' })).toHaveLength(1)
  expect(of({ receipts: 'op_stack' })).toEqual([])
  expect(of({ header: 'opaque' }, [endpoint, second])).toEqual([])
})

test('a wrong unit is reported with the expected one', () => {
  expect(chainFaults({ block_time_ms: 12 })).toEqual([
    'chains[0].block_time_ms: received 12, expected an integer from 50 to 3600000, in milliseconds',
  ])
  const stable = { token_address: `0x${'11'.repeat(20)}` }
  expect(
    chainFaults({
      stables: [{ ...stable, usd_feed: { address: `0x${'22'.repeat(20)}`, heartbeat_s: 86_400_000 } }],
    }),
  ).toEqual([expect.stringMatching(/heartbeat_s: received 86400000, expected .* in seconds$/)])
  expect(
    faultsOf(() =>
      load({
        chains: [{ chain_id: 1, endpoints: [endpoint] }],
        coverage: { sources: [{ kind: 'static', as_of_ms: 1_763_164_800, assets: [] }] },
      }),
    ),
  ).toEqual([expect.stringMatching(/as_of_ms: received 1763164800, expected .* in Unix milliseconds$/)])
})

test('a coverage source with keys of both kinds is reported with the extra ones', () => {
  const sources = [
    { kind: 'static', as_of_ms: 1_763_164_800_000, assets: [], path: 'depth.json' },
    { kind: 'file', path: 'depth.json', assets: [] },
    { kind: 'file' },
    { kind: 'url', path: 'depth.json' },
  ]
  expect(
    faultsOf(() => load({ chains: [{ chain_id: 1, endpoints: [endpoint] }], coverage: { sources } })),
  ).toEqual([
    'coverage.sources[0].path: received "depth.json", expected nothing: a source of kind static has none',
    'coverage.sources[1].assets: received [], expected nothing: a source of kind file has none',
    'coverage.sources[2].path: received nothing, expected the path of a JSON file',
    expect.stringMatching(/^coverage\.sources\[3\]\.kind: received "url", expected .*static.*file/),
  ])
})

test('for an unknown family, no key of another family is required', () => {
  const own = { deployment_id: 'own', factory_address: `0x${'12'.repeat(20)}`, deployment_block: null }
  const faultsOf = (deployment: object) => chainFaults({ deployments: [{ ...own, ...deployment }] })
  expect(faultsOf({ family: 'amm_v9' })).toEqual([
    expect.stringMatching(
      /^chains\[0\]\.deployments\[0\]\.family: received "amm_v9", expected one of amm_v2, /,
    ),
  ])
  expect(faultsOf({ family: 'amm_v2', fee: { numerator: 1001, denominator: 1000 } })).toEqual([
    'chains[0].deployments[0].fee.numerator: received 1001, expected an integer from 1 to 1000',
  ])
  expect(faultsOf({ family: 'amm_v3', fee_tiers: null })).toEqual([])
})

test('a duplicate entry is reported with its first position', () => {
  const chain = { chain_id: 1, endpoints: [endpoint, endpoint] }
  expect(faultsOf(() => load({ chains: [chain, { ...chain, endpoints: [endpoint] }] }))).toEqual([
    'chains[0].endpoints[1].name: received "own", expected a value not listed before; chains[0].endpoints[0] already has it',
    'chains[1].chain_id: received 1, expected a value not listed before; chains[0] already has it',
  ])
})

test('an address in mixed case carries a checksum, and one wrong letter is found', () => {
  expect(chainFaults({ wrapped_native: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc3' })).toEqual([
    expect.stringMatching(/wrapped_native: received "0xC02a.*expected an address with a valid checksum/),
  ])
  expect(chainFaults({ wrapped_native: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc3' })).toEqual([])
})

test('ASSAY_RPC_<chain_id> serves a built-in chain without a file', () => {
  const { chains, store } = environmentConfig(
    { ASSAY_RPC_1: 'ws://127.0.0.1:1, https://backup.example/key', ASSAY_RPC_137: 'http://127.0.0.1:2' },
    { folder },
  )
  expect(chains.map(({ chainId, name }) => [chainId, name])).toEqual([
    [1, 'Ethereum'],
    [137, 'Polygon PoS'],
  ])
  expect(chains[0]?.endpoints.map(({ name, url }) => [name, url.reveal()])).toEqual([
    ['rpc-1', 'ws://127.0.0.1:1'],
    ['rpc-2', 'https://backup.example/key'],
  ])
  expect(store.path).toBe(join(folder, 'data/assay.db'))
})

test('faults of the environment name the variable, all at once, and never the URL', () => {
  const faults = faultsOf(() =>
    environmentConfig(
      { ASSAY_RPC_1: '', ASSAY_RPC_56: 'http://ok.example,ftp://hunter2', ASSAY_RPC_11: 'http://ok.example' },
      { folder },
    ),
  )
  expect(faults).toEqual([
    expect.stringMatching(/^ASSAY_RPC_11: received "11", expected ASSAY_RPC_ and one of 1, 10, 56, 137/),
    expect.stringMatching(/^ASSAY_RPC_1, URL 1: received an empty text/),
    expect.stringMatching(/^ASSAY_RPC_56, URL 2: received ftp:\/\/\[redacted\]/),
  ])
  expect(faults.join()).not.toContain('hunter2')
  expect(faultsOf(() => environmentConfig({}, { folder }))[0]).toContain('or a file with --config')
  expect(faultsOf(() => environmentConfig({ ASSAY_RPC_main: 'http://x' }, { folder }))).toHaveLength(1)
})

test('O3: endpoints of one backend are not independent, and the operator is warned', () => {
  const of = (...urls: string[]) =>
    configWarnings(
      load({
        chains: [{ chain_id: 1, endpoints: urls.map((url, at) => ({ name: `rpc-${at + 1}`, url })) }],
      }),
    ).filter(warning => warning.includes('backend'))
  expect(of('https://eth.provider.example/v3/hunter2', 'wss://ws.provider.example/v3/hunter2')).toEqual([
    expect.stringMatching(
      /^chains\[0\]\.endpoints: rpc-1, rpc-2 share one backend.*add an endpoint of another provider$/,
    ),
  ])
  expect(of('http://127.0.0.1:8545', 'ws://127.0.0.1:8546')).toHaveLength(1)
  expect(of('https://one.example', 'https://another.test')).toEqual([])
  expect(of('https://one.example')).toEqual([])
  expect(of('https://a.provider.example/hunter2', 'https://b.provider.example').join()).not.toContain(
    'hunter2',
  )
})

test('O7: a retention of zero, or shorter than a reorganisation may be, is refused', () => {
  const chain = { chain_id: 1, endpoints: [endpoint] }
  expect(faultsOf(() => load({ retention: { hours: 0, records: 0 }, chains: [chain] }))).toEqual([
    'retention.hours: received 0, expected an integer from 1 to 87600, in hours',
    expect.stringMatching(/^retention\.records: received 0, expected an integer from 1000/),
  ])
  const deep = { ...chain, finality: { depth: 2000 } }
  expect(faultsOf(() => load({ retention: { hours: 6 }, chains: [deep] }))).toEqual([
    'retention.hours: received 6, expected at least 8 hours: chain 1 may reorganise 2000 blocks of 12048 ms',
  ])
  expect(faultsOf(() => load({ retention: { hours: 8 }, chains: [deep] }))).toEqual([])
})

test('a history of prices is as long as the log, or one day and more', () => {
  const chain = { chain_id: 1, endpoints: [endpoint] }
  const daysOf = (history_days: unknown) => load({ retention: { history_days }, chains: [chain] }).retention
  expect(daysOf(undefined)).toEqual({ hours: 72, records: 1_000_000 })
  expect(daysOf(null)).toEqual({ hours: 72, records: 1_000_000 })
  expect(daysOf(365)).toMatchObject({ historyDays: 365 })
  expect(faultsOf(() => daysOf(0))).toEqual([
    'retention.history_days: received 0, expected an integer from 1 to 3650, in days',
  ])
})

test('O7: a retention larger than the disk is reported with its estimate', () => {
  const chain = { chain_id: 1, endpoints: [endpoint] }
  const warnings = (records: number) =>
    configWarnings(load({ retention: { records }, chains: [chain] })).filter(each =>
      each.startsWith('retention'),
    )
  expect(warnings(1000)).toEqual([])
  expect(warnings(1_000_000_000_000)).toEqual([
    expect.stringMatching(
      /^retention\.records: 1000000000000 records are about [\d.]+ GiB, [\d.]+ GiB are free/,
    ),
  ])
})
