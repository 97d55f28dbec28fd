/**
 * The configuration, parsed once into a readonly object (R-config-1). No other code reads the environment or the file;
 * a value that contains a secret is a `Secret`. The types follow from the schema; what differs from the file is here.
 */
import type { Address } from '../ops/hex.ts'
import type { ValueOf } from './field.ts'
import { type Named, named } from './named.ts'
import type { ConfigDocument } from './schema.ts'
import type { COVERAGE_FILE } from './sections/coverage.ts'
import { type DeploymentConfig, ofChain } from './sections/deployment.ts'
import { type RetentionConfig, retentionConfig } from './sections/retention.ts'
import { type StoreConfig, storeConfig } from './sections/store.ts'

type File = Named<ConfigDocument>
type FileChain = File['chains'][number]

export type Config = Omit<
  File,
  'store' | 'replica' | 'retention' | 'webhooks' | 'chains' | 'coverage' | 'policy'
> & {
  readonly store: StoreConfig
  readonly retention: RetentionConfig
  /** Left out, webhooks may call no private network. */
  readonly webhooks?: File['webhooks']
  readonly chains: readonly ChainConfig[]
  readonly coverage: readonly CoverageSource[]
  /** A subset of the policy object, as given. */
  readonly policy: ConfigDocument['policy']
}

export type ChainConfig = Omit<FileChain, keyof OwnOfChain | keyof LeftOut> & OwnOfChain & Partial<LeftOut>

type LeftOut = Pick<FileChain, 'startBehindMs' | 'unpricedFactories'>

type OwnOfChain = {
  readonly checkpoint?: { readonly number: number; readonly hash: Address } | undefined
  /** What the blocks of the chain prove. Defaults to standard headers and receipts. */
  readonly proof?: ProofRules | undefined
  readonly finality: { readonly kind: 'tag' } | { readonly kind: 'depth'; readonly depth: number }
  readonly deployments: readonly DeploymentConfig[]
  readonly routingAssets: readonly Address[]
  /** Dollar feeds that routing assets are compared with; left out, none. */
  readonly assetFeeds?: readonly AssetFeedConfig[]
  /** The largest answer with blocks, receipts or logs; from `rpc`, the same for all chains. Left out, 256. */
  readonly maxAnswerMib?: number
}

export type ProofRules = FileChain['proof']
export type { DeploymentConfig }

export type UnpricedFactory = FileChain['unpricedFactories'][number]
export type UnpricedFamily = UnpricedFactory['family']

export type StableConfig = FileChain['stables'][number]
/** A Chainlink feed in dollars. */
export type FeedConfig = NonNullable<StableConfig['usdFeed']>
export type AssetFeedConfig = { readonly tokenAddress: Address; readonly usdFeed: FeedConfig }

/** Where the depth of other markets comes from: values in the configuration, or a file maintained elsewhere. */
export type CoverageSource =
  | { readonly kind: 'static'; readonly assets: readonly CoverageAsset[] }
  | { readonly kind: 'file'; readonly path: string }

export type CoverageAsset = {
  readonly chainId: number
  readonly tokenAddress: Address
  readonly externalDepthUsd: bigint
  readonly asOfMs: number
}

export function toConfig({ policy, ...document }: ConfigDocument, folder: string): Config {
  const { store, replica, chains, coverage, ...sections } = named(document)
  const { maxAnswerMib } = sections.rpc
  return {
    ...sections,
    store: storeConfig({ store, replica }, folder),
    retention: retentionConfig(sections.retention),
    chains: chains.map(chain => ({ ...toChain(chain), maxAnswerMib })),
    coverage: coverage.sources.map(source =>
      source.kind === 'file' ? source : { kind: source.kind, assets: toAssets(source) },
    ),
    policy,
  }
}

function toChain({ checkpoint, finality, deployments, routingAssets, ...chain }: FileChain): ChainConfig {
  const assets = routingAssets.map(asset =>
    typeof asset === 'string' ? { tokenAddress: asset, usdFeed: null } : asset,
  )
  return {
    ...chain,
    ...(checkpoint === null
      ? {}
      : { checkpoint: { number: checkpoint.blockNumber, hash: checkpoint.blockHash } }),
    finality: 'depth' in finality ? { kind: 'depth', depth: finality.depth } : { kind: 'tag' },
    deployments: deployments.map(each => ofChain(each, chain.wrappedNative)),
    routingAssets: assets.map(({ tokenAddress }) => tokenAddress),
    assetFeeds: assets.flatMap(({ tokenAddress, usdFeed }) =>
      usdFeed === null ? [] : [{ tokenAddress, usdFeed }],
    ),
  }
}

export const toAssets = ({ asOfMs, assets }: Named<ValueOf<typeof COVERAGE_FILE>>): CoverageAsset[] =>
  assets.map(asset => ({ ...asset, externalDepthUsd: BigInt(asset.externalDepthUsd), asOfMs }))

/** Every dollar feed of a chain, with its token and its key in the chain's section: those of stables first. */
export function dollarFeeds({ stables, routingAssets, assetFeeds = [] }: ChainFeeds): readonly DollarFeed[] {
  const ofStables = stables.flatMap(({ tokenAddress, usdFeed }, at) =>
    usdFeed === null ? [] : [{ tokenAddress, usdFeed, key: `stables[${at}].usd_feed.address` }],
  )
  const ofAssets = assetFeeds.map(feed => ({
    ...feed,
    key: `routing_assets[${routingAssets.indexOf(feed.tokenAddress)}].usd_feed.address`,
  }))
  return [...ofStables, ...ofAssets]
}

type ChainFeeds = Pick<ChainConfig, 'stables' | 'routingAssets' | 'assetFeeds'>
type DollarFeed = AssetFeedConfig & { readonly key: string }
