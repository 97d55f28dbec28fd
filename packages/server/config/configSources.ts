/**
 * The effective configuration, value by value, with the source of each: a line of the file, an environment variable,
 * the built-in table, or a default. Values that may contain a secret are shown as `[redacted]`.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Policy, mergePolicy } from '@assay/engine'
import { type Document, isNode, isScalar, LineCounter, parseDocument } from 'yaml'
import { CHAIN_TABLE } from './chainTable.ts'
import type { ChainConfig, Config, CoverageSource, DeploymentConfig, FeedConfig } from './config.ts'
import type { Secret } from '../ops/secret.ts'
import { showDeployment } from './deployments.ts'
import { environmentConfig, loadConfig } from './loadConfig.ts'

type Environment = Readonly<Record<string, string | undefined>>

export type ShownValue = { readonly path: string; readonly value: unknown; readonly source: string }
export type ShownConfig = { readonly config: Config; readonly values: readonly ShownValue[] }

type Step = string | number
type SourceOf = (path: readonly Step[]) => string | null

const REDACTED = '[redacted]'

/** Throws the faults of loading, and every fault of the policy. */
export function showConfig(file: string, environment: Environment): ShownConfig {
  const config = loadConfig(file, environment)
  const lines = new LineCounter()
  const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines })
  return shown(config, path => sourceInFile(document, lines, basename(file), path))
}

/** The configuration without a file, from `ASSAY_RPC_<chain_id>`. */
export function showEnvironment(environment: Environment, folder: string): ShownConfig {
  const config = environmentConfig(environment, { folder })
  return shown(config, path => {
    const chain = config.chains[path[1] as number]
    const isNamed = path[0] === 'chains' && (path[2] === 'chain_id' || path[2] === 'endpoints')
    return isNamed ? `ASSAY_RPC_${chain?.chainId}` : null
  })
}

function shown(config: Config, sourceOf: SourceOf): ShownConfig {
  const leaves = leavesOf(documentOf(config, mergePolicy(config.policy)), [])
  const values = leaves.map(({ path, value }) => ({
    path: textOf(path),
    value,
    source: sourceOf(path) ?? (isBuiltIn(config, path) ? 'built in' : 'default'),
  }))
  return { config, values }
}

/** Null when the file does not contain it. */
function sourceInFile(
  document: Document,
  lines: LineCounter,
  file: string,
  path: readonly Step[],
): string | null {
  const node = document.getIn(path, true)
  if (!isNode(node) || node.range == null) return null
  const place = `${file}:${lines.linePos(node.range[0]).line}`
  const text = isScalar(node) ? String(node.value) : ''
  const variables = [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([whole]) => whole)
  return [place, ...variables].join(' ')
}

function isBuiltIn({ chains }: Config, path: readonly Step[]): boolean {
  const [root, at, key] = path
  if (root !== 'chains') return false
  const { chainId, genesisHash } = chains[at as number] as ChainConfig
  const known = CHAIN_TABLE[chainId]
  // A chain that only borrows the id has nothing built in.
  return known !== undefined && known['genesis_hash'] === genesisHash && (key as string) in known
}

const textOf = (path: readonly Step[]): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  )

type Leaf = { readonly path: readonly Step[]; readonly value: unknown }

/** A list of the policy is replaced as a whole and shown as a whole, like any list of plain values. */
function leavesOf(value: unknown, path: readonly Step[]): Leaf[] {
  const isWhole =
    typeof value !== 'object' ||
    value === null ||
    (Array.isArray(value) && (path[0] === 'policy' || value.every(each => typeof each !== 'object')))
  if (isWhole) return [{ path, value }]
  return Array.isArray(value)
    ? value.flatMap((each: unknown, at) => leavesOf(each, [...path, at]))
    : Object.entries(value).flatMap(([key, each]: [string, unknown]) => leavesOf(each, [...path, key]))
}

/** Converts our names back to those of the file. */
function documentOf(config: Config, policy: Policy): object {
  const { listen, store, admin, access, compat, mcp, retention, chains, rpc, coverage } = config
  return {
    listen: {
      host: listen.host,
      port: listen.port,
      public_origin: listen.publicOrigin,
      trusted_proxies: listen.trustedProxies,
    },
    store: storeText(store.address),
    ...(store.replica === undefined ? {} : { replica: storeText(store.replica) }),
    admin,
    access: { cors_origins: access.corsOrigins },
    compat: {
      coingecko: compat.coingecko,
      defillama: compat.defillama,
      udf: compat.udf,
      min_score: compat.minScore,
      listen: compat.listen,
    },
    mcp: { enabled: mcp.isEnabled, min_score: mcp.minScore },
    retention: {
      hours: retention.hours,
      records: retention.records,
      history_days: retention.historyDays ?? null,
    },
    chains: chains.map(chainDocument),
    coverage: { sources: coverage.map(coverageDocument) },
    policy,
    rpc: { max_answer_mib: rpc.maxAnswerMib },
  }
}

function coverageDocument(source: CoverageSource): object {
  if (source.kind === 'file') return source
  return {
    kind: source.kind,
    as_of_ms: source.assets[0]?.asOfMs,
    assets: source.assets.map(({ chainId, tokenAddress, externalDepthUsd }) => ({
      chain_id: chainId,
      token_address: tokenAddress,
      external_depth_usd: String(externalDepthUsd),
    })),
  }
}

function storeText(address: Secret): string {
  const text = address.reveal()
  return text.startsWith('sqlite:') ? text : `${text.split('://')[0]}://${REDACTED}`
}

const chainDocument = (chain: ChainConfig): object => ({
  chain_id: chain.chainId,
  name: chain.name,
  endpoints: chain.endpoints.map(({ name }) => ({ name, url: REDACTED })),
  genesis_hash: chain.genesisHash,
  checkpoint:
    chain.checkpoint === undefined
      ? null
      : { block_number: chain.checkpoint.number, block_hash: chain.checkpoint.hash },
  block_time_ms: chain.blockTimeMs,
  start_behind_s: (chain.startBehindMs ?? 0) / 1000,
  finality: chain.finality.kind === 'tag' ? { tag: 'finalized' } : { depth: chain.finality.depth },
  proof: chain.proof,
  wrapped_native: chain.wrappedNative,
  deployments: chain.deployments.map(deploymentDocument),
  unpriced_factories: (chain.unpricedFactories ?? []).map(({ deploymentId, family, factoryAddress }) => ({
    deployment_id: deploymentId,
    family,
    factory_address: factoryAddress,
  })),
  stables: chain.stables.map(({ tokenAddress, usdFeed }) => ({
    token_address: tokenAddress,
    usd_feed: usdFeed === null ? null : feedDocument(usdFeed),
  })),
  sequencer_uptime_feed: chain.sequencerUptimeFeed,
  routing_assets: chain.routingAssets.map(asset => {
    const own = chain.assetFeeds?.find(({ tokenAddress }) => tokenAddress === asset)
    return own === undefined ? asset : { token_address: asset, usd_feed: feedDocument(own.usdFeed) }
  }),
  pools: chain.pools,
  tokens: chain.tokens,
})

const feedDocument = ({ address, heartbeatMs, graceMs }: FeedConfig): object => ({
  address,
  heartbeat_s: heartbeatMs / 1000,
  grace_s: graceMs / 1000,
})

const deploymentDocument = (deployment: DeploymentConfig): object => ({
  deployment_id: deployment.deploymentId,
  family: deployment.family,
  factory_address: deployment.factoryAddress,
  deployment_block: deployment.deploymentBlock,
  init_code_hash: deployment.initCodeHash,
  ...showDeployment(deployment),
})
