/**
 * Reads one chain of the configuration from the document. Omitted values come from the built-in table if it has this
 * chain: same id, same genesis. A given key replaces the table's.
 */
import { CHAIN_TABLE } from './chainTable.ts'
import {
  type ChainConfig,
  type DeploymentConfig,
  type ProofRules,
  type StableConfig,
  UNPRICED_FAMILIES,
  type UnpricedFactory,
} from './config.ts'
import type { Address } from '../ops/hex.ts'
import { Secret } from '../ops/secret.ts'
import { DEPLOYMENT_FAMILIES, DEPLOYMENT_KEYS, readDeployment, SINGLE_FAMILIES } from './deployments.ts'
import { join, type Shape } from './shape.ts'

export const MAX = Number.MAX_SAFE_INTEGER
export const URL_SCHEMES = ['https', 'http', 'wss', 'ws'] as const
/** No chain makes blocks faster; a smaller number is in seconds. */
const LEAST_BLOCK_TIME_MS = 50

const KEYS = [
  'chain_id',
  'name',
  'endpoints',
  'genesis_hash',
  'checkpoint',
  'block_time_ms',
  'start_behind_s',
  'finality',
  'proof',
  'wrapped_native',
  'deployments',
  'unpriced_factories',
  'stables',
  'sequencer_uptime_feed',
  'routing_assets',
  'pools',
  'tokens',
]

export function chainFrom(shape: Shape, value: unknown, path: string): ChainConfig {
  const given = shape.mapping(value, path, KEYS)
  const chain = { ...tableFor(given), ...given }
  const at = (key: string) => join(path, key)
  const finality = shape.mapping(chain['finality'], at('finality'), ['tag', 'depth'])
  const addresses = (key: string) => {
    const list = shape.list(chain[key], at(key)).map((each, n) => shape.address(each, join(at(key), n)))
    shape.unique(list, at(key), '', each => each)
    return list
  }
  const sequencer = chain['sequencer_uptime_feed'] ?? null
  const wrappedNative = shape.address(chain['wrapped_native'], at('wrapped_native'))
  return {
    chainId: shape.integer(chain['chain_id'], at('chain_id'), [1, MAX]),
    name: shape.text(chain['name'], at('name'), 'a name', /^.{1,60}$/),
    endpoints: endpointsFrom(shape, chain['endpoints'], at('endpoints')),
    genesisHash: shape.hash(chain['genesis_hash'], at('genesis_hash')),
    ...checkpointFrom(shape, chain['checkpoint'], at('checkpoint')),
    blockTimeMs: shape.integer(chain['block_time_ms'], at('block_time_ms'), [
      LEAST_BLOCK_TIME_MS,
      3_600_000,
      'milliseconds',
    ]),
    startBehindMs:
      1000 * shape.integer(chain['start_behind_s'], at('start_behind_s'), [0, 3600, 'seconds'], 0),
    finality:
      finality['depth'] === undefined
        ? (shape.choice(finality['tag'], at('finality.tag'), ['finalized'], 'finalized'), { kind: 'tag' })
        : {
            kind: 'depth',
            depth: shape.integer(finality['depth'], at('finality.depth'), [1, 100_000, 'blocks']),
          },
    proof: proofFrom(shape, chain['proof'], at('proof')),
    wrappedNative,
    deployments: deploymentsFrom(shape, chain['deployments'], at('deployments'), wrappedNative),
    unpricedFactories: unpricedFactoriesFrom(shape, chain['unpriced_factories'], at('unpriced_factories')),
    stables: stablesFrom(shape, chain['stables'], at('stables')),
    sequencerUptimeFeed: sequencer === null ? null : shape.address(sequencer, at('sequencer_uptime_feed')),
    ...routingFrom(shape, chain['routing_assets'], at('routing_assets')),
    pools: addresses('pools'),
    tokens: addresses('tokens'),
  }
}

/** A local chain may borrow an id: with a genesis of its own it is another chain. */
function tableFor(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const chainId = given['chain_id']
  const known = (typeof chainId === 'number' ? CHAIN_TABLE[chainId] : undefined) ?? {}
  const genesis = given['genesis_hash']
  const isSame =
    genesis === undefined || (typeof genesis === 'string' && genesis.toLowerCase() === known['genesis_hash'])
  return isSame ? known : {}
}

function checkpointFrom(shape: Shape, value: unknown, path: string): Pick<ChainConfig, 'checkpoint'> {
  if (value === undefined || value === null) return {}
  const pinned = shape.mapping(value, path, ['block_number', 'block_hash'])
  return {
    checkpoint: {
      number: shape.integer(pinned['block_number'], join(path, 'block_number'), [0, MAX]),
      hash: shape.hash(pinned['block_hash'], join(path, 'block_hash')),
    },
  }
}

function proofFrom(shape: Shape, value: unknown, path: string): ProofRules {
  const proof = shape.mapping(value, path, ['header', 'receipts'])
  return {
    header: shape.choice(proof['header'], join(path, 'header'), ['standard', 'opaque'], 'standard'),
    receipts: shape.choice(
      proof['receipts'],
      join(path, 'receipts'),
      ['standard', 'op_stack', 'none'],
      'standard',
    ),
  }
}

function endpointsFrom(shape: Shape, value: unknown, path: string): ChainConfig['endpoints'] {
  const endpoints = shape.list(value, path).map((each, n) => endpointFrom(shape, each, join(path, n)))
  if (endpoints.length === 0)
    shape.fault(path, value, 'at least one endpoint: [{ name: own-node, url: "http://127.0.0.1:8545" }]')
  shape.unique(endpoints, path, 'name', ({ name }) => name)
  return endpoints
}

function endpointFrom(shape: Shape, value: unknown, path: string): ChainConfig['endpoints'][number] {
  const endpoint = shape.mapping(value, path, ['name', 'url'])
  return {
    name: shape.text(endpoint['name'], join(path, 'name'), 'a name for logs and health', /^[\w.-]{1,60}$/),
    url: new Secret(shape.url(endpoint['url'], join(path, 'url'), URL_SCHEMES)),
  }
}

function deploymentsFrom(
  shape: Shape,
  value: unknown,
  path: string,
  wrappedNative: Address,
): DeploymentConfig[] {
  const deployments = shape
    .list(value, path)
    .map((each, n) => deploymentFrom(shape, each, join(path, n), wrappedNative))
  shape.unique(deployments, path, 'deployment_id', ({ deploymentId }) => deploymentId)
  shape.unique(deployments, path, 'factory_address', ({ factoryAddress }) => factoryAddress)
  const families = deployments.map(({ family }) => family)
  for (const [n, family] of families.entries()) {
    const first = families.indexOf(family)
    if (first < n && SINGLE_FAMILIES.has(family))
      shape.fault(
        join(join(path, n), 'family'),
        family,
        `one deployment of ${family} on a chain, because two would have the same pool ids; ${join(path, first)} already is one`,
      )
  }
  return deployments
}

function deploymentFrom(
  shape: Shape,
  value: unknown,
  path: string,
  wrappedNative: Address,
): DeploymentConfig {
  const deployment = shape.mapping(value, path, [
    'deployment_id',
    'family',
    'factory_address',
    'deployment_block',
    'init_code_hash',
    ...DEPLOYMENT_KEYS,
  ])
  const at = (key: string) => join(path, key)
  const hash = deployment['init_code_hash'] ?? null
  const head = {
    deploymentId: deploymentIdFrom(shape, deployment['deployment_id'], at('deployment_id')),
    factoryAddress: shape.address(deployment['factory_address'], at('factory_address')),
    deploymentBlock:
      deployment['deployment_block'] === null
        ? null
        : shape.integer(deployment['deployment_block'], at('deployment_block'), [0, MAX]),
    initCodeHash: hash === null ? null : shape.hash(hash, at('init_code_hash')),
  }
  const family = shape.choice(deployment['family'], at('family'), DEPLOYMENT_FAMILIES)
  return readDeployment(family, head, shape, deployment, path, { wrappedNative })
}

function unpricedFactoriesFrom(shape: Shape, value: unknown, path: string): UnpricedFactory[] {
  const factories = shape.list(value, path).map((each, n): UnpricedFactory => {
    const at = (key: string) => join(join(path, n), key)
    const factory = shape.mapping(each, join(path, n), ['deployment_id', 'family', 'factory_address'])
    return {
      deploymentId: deploymentIdFrom(shape, factory['deployment_id'], at('deployment_id')),
      family: shape.choice(factory['family'], at('family'), UNPRICED_FAMILIES),
      factoryAddress: shape.address(factory['factory_address'], at('factory_address')),
    }
  })
  shape.unique(factories, path, 'factory_address', ({ factoryAddress }) => factoryAddress)
  return factories
}

const deploymentIdFrom = (shape: Shape, value: unknown, path: string): string =>
  shape.text(value, path, 'an id of letters, digits and dashes', /^[\w-]{1,60}$/)

function stablesFrom(shape: Shape, value: unknown, path: string): StableConfig[] {
  const stables = shape.list(value, path).map((each, n) => stableFrom(shape, each, join(path, n)))
  shape.unique(stables, path, 'token_address', ({ tokenAddress }) => tokenAddress)
  return stables
}

/** A token with its dollar feed, if it has one: a stable, or a routing asset written as a mapping. */
function stableFrom(shape: Shape, value: unknown, path: string): StableConfig {
  const stable = shape.mapping(value, path, ['token_address', 'usd_feed'])
  const tokenAddress = shape.address(stable['token_address'], join(path, 'token_address'))
  if (stable['usd_feed'] === undefined || stable['usd_feed'] === null) return { tokenAddress, usdFeed: null }
  const at = (key: string) => join(join(path, 'usd_feed'), key)
  const feed = shape.mapping(stable['usd_feed'], join(path, 'usd_feed'), [
    'address',
    'heartbeat_s',
    'grace_s',
  ])
  return {
    tokenAddress,
    usdFeed: {
      address: shape.address(feed['address'], at('address')),
      heartbeatMs: shape.integer(feed['heartbeat_s'], at('heartbeat_s'), [1, 604_800, 'seconds']) * 1000,
      graceMs: shape.integer(feed['grace_s'], at('grace_s'), [0, 604_800, 'seconds'], 1800) * 1000,
    },
  }
}

/** In order; an asset without a feed may be just its address. */
function routingFrom(
  shape: Shape,
  value: unknown,
  path: string,
): Pick<ChainConfig, 'routingAssets' | 'assetFeeds'> {
  const assets = shape.list(value, path).map((each, n): StableConfig => {
    const own = join(path, n)
    const isMapping = typeof each === 'object' && each !== null && !Array.isArray(each)
    return isMapping
      ? stableFrom(shape, each, own)
      : { tokenAddress: shape.address(each, own), usdFeed: null }
  })
  shape.unique(assets, path, '', ({ tokenAddress }) => tokenAddress)
  return {
    routingAssets: assets.map(({ tokenAddress }) => tokenAddress),
    assetFeeds: assets.flatMap(({ tokenAddress, usdFeed }) =>
      usdFeed === null ? [] : [{ tokenAddress, usdFeed }],
    ),
  }
}
