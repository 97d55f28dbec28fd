/** The configuration file (contract §9): YAML, `${NAME}` from the environment, every fault reported at once. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import {
  type ChainConfig,
  type Config,
  type CoverageAsset,
  type DeploymentConfig,
  Secret,
  type StableConfig,
} from './config.ts'
import { type Fault, join, Shape } from './shape.ts'

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly Fault[]

  constructor(file: string, faults: readonly Fault[]) {
    const lines = faults.map(
      ({ path, received, expected }) => `  ${path}: received ${received}, expected ${expected}`,
    )
    super(`${file} has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${lines.join('\n')}`)
    this.faults = faults
  }
}

const MAX = Number.MAX_SAFE_INTEGER
const DEFAULT_TIERS = [100, 500, 3000, 10_000]

export function loadConfig(file: string, environment: Readonly<Record<string, string | undefined>>): Config {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new ConfigError(file, [
      {
        path: 'file',
        received: 'nothing that can be read',
        expected: 'a configuration file; `npm start` writes one for the local world',
      },
    ])
  }
  const shape = new Shape()
  const filled = text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = environment[name]
    if (value === undefined) shape.fault(`\${${name}}`, undefined, `an environment variable ${name}`)
    return value ?? ''
  })
  let document: unknown
  try {
    document = parse(filled)
  } catch (failure) {
    throw new ConfigError(file, [
      { path: 'file', received: (failure as Error).message.split('\n')[0] ?? '', expected: 'YAML' },
    ])
  }
  const config = configFrom(shape, document, dirname(resolve(file)))
  if (shape.faults.length > 0) throw new ConfigError(file, shape.faults)
  return config
}

function configFrom(shape: Shape, document: unknown, folder: string): Config {
  const root = shape.mapping(document, '', [
    'listen',
    'store',
    'admin',
    'retention',
    'chains',
    'coverage',
    'policy',
  ])
  const listen = shape.mapping(root['listen'], 'listen', ['host', 'port', 'public_origin', 'trusted_proxies'])
  const retention = shape.mapping(root['retention'], 'retention', ['hours', 'records'])
  const admin = shape.mapping(root['admin'], 'admin', ['allow'])
  const chains = shape
    .list(root['chains'], 'chains')
    .map((each, at) => chainFrom(shape, each, join('chains', at)))
  if (chains.length === 0) shape.fault('chains', root['chains'], 'at least one chain')
  chains.forEach(({ chainId }, at) => {
    if (chains.findIndex(each => each.chainId === chainId) !== at)
      shape.fault(join(join('chains', at), 'chain_id'), chainId, 'a chain that is not listed before')
  })
  const origin = listen['public_origin'] ?? null
  return {
    listen: {
      host: shape.text(listen['host'], 'listen.host', 'a host name or address', /^[\w.:-]+$/, '127.0.0.1'),
      port: shape.integer(listen['port'], 'listen.port', 0, 65_535, 8080),
      publicOrigin:
        origin === null
          ? null
          : shape.text(
              origin,
              'listen.public_origin',
              'an origin such as https://prices.example',
              /^https?:\/\/[^/\s]+$/,
            ),
      trustedProxies: shape.list(listen['trusted_proxies'], 'listen.trusted_proxies').map(String),
    },
    store: storeFrom(shape, root['store'], folder),
    admin: {
      allow:
        admin['allow'] === undefined
          ? ['127.0.0.1/32', '::1/128']
          : shape.list(admin['allow'], 'admin.allow').map(String),
    },
    retention: {
      hours: shape.integer(retention['hours'], 'retention.hours', 1, 24 * 3650, 72),
      records: shape.integer(retention['records'], 'retention.records', 1000, MAX, 1_000_000),
    },
    chains,
    coverage: coverageFrom(shape, root['coverage']),
    policy: shape.mapping(
      root['policy'],
      'policy',
      Object.keys((root['policy'] as object | undefined) ?? {}),
    ),
  }
}

function storeFrom(shape: Shape, value: unknown, folder: string): Config['store'] {
  const text = shape.text(
    value,
    'store',
    'sqlite:PATH',
    /^(sqlite:.+|postgres(ql)?:\/\/.+)$/,
    'sqlite:./data/assay.db',
  )
  if (!text.startsWith('sqlite:'))
    shape.fault('store', 'postgres', 'sqlite:PATH; PostgreSQL is not served yet')
  return { kind: 'sqlite', path: resolve(folder, text.slice('sqlite:'.length)) }
}

function chainFrom(shape: Shape, value: unknown, path: string): ChainConfig {
  const keys = [
    'chain_id',
    'name',
    'endpoints',
    'genesis_hash',
    'checkpoint',
    'block_time_ms',
    'finality',
    'wrapped_native',
    'deployments',
    'stables',
    'sequencer_uptime_feed',
    'routing_assets',
    'pools',
    'tokens',
  ]
  const chain = shape.mapping(value, path, keys)
  const at = (key: string) => join(path, key)
  const finality = shape.mapping(chain['finality'], at('finality'), ['tag', 'depth'])
  const addresses = (key: string) =>
    shape.list(chain[key], at(key)).map((each, n) => shape.address(each, join(at(key), n)))
  const endpoints = shape
    .list(chain['endpoints'], at('endpoints'))
    .map((each, n) => endpointFrom(shape, each, join(at('endpoints'), n)))
  if (endpoints.length === 0) shape.fault(at('endpoints'), chain['endpoints'], 'at least one endpoint')
  const sequencer = chain['sequencer_uptime_feed'] ?? null
  return {
    chainId: shape.integer(chain['chain_id'], at('chain_id'), 1, MAX),
    name: shape.text(chain['name'], at('name'), 'a name', /^.{1,60}$/),
    endpoints,
    genesisHash: shape.hash(chain['genesis_hash'], at('genesis_hash')),
    ...checkpointFrom(shape, chain['checkpoint'], at('checkpoint')),
    blockTimeMs: shape.integer(chain['block_time_ms'], at('block_time_ms'), 1, 3_600_000),
    finality:
      finality['depth'] === undefined
        ? (shape.choice(finality['tag'], at('finality.tag'), ['finalized'], 'finalized'), { kind: 'tag' })
        : { kind: 'depth', depth: shape.integer(finality['depth'], at('finality.depth'), 1, 100_000) },
    wrappedNative: shape.address(chain['wrapped_native'], at('wrapped_native')),
    deployments: shape
      .list(chain['deployments'], at('deployments'))
      .map((each, n) => deploymentFrom(shape, each, join(at('deployments'), n))),
    stables: shape
      .list(chain['stables'], at('stables'))
      .map((each, n) => stableFrom(shape, each, join(at('stables'), n))),
    sequencerUptimeFeed: sequencer === null ? null : shape.address(sequencer, at('sequencer_uptime_feed')),
    routingAssets: addresses('routing_assets'),
    pools: addresses('pools'),
    tokens: addresses('tokens'),
  }
}

function checkpointFrom(shape: Shape, value: unknown, path: string): Pick<ChainConfig, 'checkpoint'> {
  if (value === undefined || value === null) return {}
  const pinned = shape.mapping(value, path, ['block_number', 'block_hash'])
  return {
    checkpoint: {
      number: shape.integer(pinned['block_number'], join(path, 'block_number'), 0, MAX),
      hash: shape.hash(pinned['block_hash'], join(path, 'block_hash')),
    },
  }
}

function endpointFrom(shape: Shape, value: unknown, path: string): ChainConfig['endpoints'][number] {
  const endpoint = shape.mapping(value, path, ['name', 'url'])
  return {
    name: shape.text(endpoint['name'], join(path, 'name'), 'a name for logs and health', /^[\w.-]{1,60}$/),
    url: new Secret(
      shape.text(
        endpoint['url'],
        join(path, 'url'),
        'a URL of http, https, ws or wss',
        /^(https?|wss?):\/\/\S+$/,
      ),
    ),
  }
}

function deploymentFrom(shape: Shape, value: unknown, path: string): DeploymentConfig {
  const deployment = shape.mapping(value, path, [
    'deployment_id',
    'family',
    'factory_address',
    'deployment_block',
    'init_code_hash',
    'fee',
    'fee_tiers',
  ])
  const at = (key: string) => join(path, key)
  const hash = deployment['init_code_hash'] ?? null
  const head = {
    deploymentId: shape.text(
      deployment['deployment_id'],
      at('deployment_id'),
      'an id of letters, digits and dashes',
      /^[\w-]{1,60}$/,
    ),
    factoryAddress: shape.address(deployment['factory_address'], at('factory_address')),
    deploymentBlock: shape.integer(deployment['deployment_block'], at('deployment_block'), 0, MAX),
    initCodeHash: hash === null ? null : shape.hash(hash, at('init_code_hash')),
  }
  if (shape.choice(deployment['family'], at('family'), ['amm_v2', 'amm_v3']) === 'amm_v3') {
    const tiers = shape.list(deployment['fee_tiers'] ?? DEFAULT_TIERS, at('fee_tiers'))
    return {
      ...head,
      family: 'amm_v3',
      feeTiers: tiers.map((each, n) => shape.integer(each, join(at('fee_tiers'), n), 0, 999_999)),
    }
  }
  const fee = shape.mapping(deployment['fee'], at('fee'), ['numerator', 'denominator'])
  const denominator = shape.integer(fee['denominator'], at('fee.denominator'), 1, 1_000_000_000)
  return {
    ...head,
    family: 'amm_v2',
    fee: { numerator: shape.integer(fee['numerator'], at('fee.numerator'), 1, denominator), denominator },
  }
}

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
      heartbeatMs: shape.integer(feed['heartbeat_s'], at('heartbeat_s'), 1, 604_800) * 1000,
      graceMs: shape.integer(feed['grace_s'], at('grace_s'), 0, 604_800, 1800) * 1000,
    },
  }
}

function coverageFrom(shape: Shape, value: unknown): CoverageAsset[] {
  const { sources } = shape.mapping(value, 'coverage', ['sources'])
  return shape.list(sources, 'coverage.sources').flatMap((each, n) => {
    const path = join('coverage.sources', n)
    const source = shape.mapping(each, path, ['kind', 'as_of_ms', 'assets'])
    shape.choice(source['kind'], join(path, 'kind'), ['static'])
    const asOfMs = shape.integer(source['as_of_ms'], join(path, 'as_of_ms'), 0, MAX)
    return shape.list(source['assets'], join(path, 'assets')).map((asset, m) => {
      const own = join(join(path, 'assets'), m)
      const fields = shape.mapping(asset, own, ['chain_id', 'token_address', 'external_depth_usd'])
      return {
        chainId: shape.integer(fields['chain_id'], join(own, 'chain_id'), 1, MAX),
        tokenAddress: shape.address(fields['token_address'], join(own, 'token_address')),
        externalDepthUsd: BigInt(
          shape.text(
            fields['external_depth_usd'],
            join(own, 'external_depth_usd'),
            'whole dollars as a string of digits',
            /^[0-9]{1,18}$/,
          ) || '0',
        ),
        asOfMs,
      }
    })
  })
}
