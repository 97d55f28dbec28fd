/**
 * The configuration, parsed once into a readonly object (R-config-1). No other code reads the environment or the file;
 * a value that contains a secret is a `Secret`, which always prints as `[redacted]`.
 */

import type { Address, Hex } from '../ops/hex.ts'
import type { Secret } from '../ops/secret.ts'

export type Config = {
  readonly listen: {
    readonly host: string
    readonly port: number
    readonly publicOrigin: string | null
    readonly trustedProxies: readonly string[]
  }
  readonly store: StoreConfig
  readonly admin: { readonly allow: readonly string[] }
  /** Origins whose pages may read with a bearer key. */
  readonly access: { readonly corsOrigins: readonly string[] }
  readonly compat: CompatConfig
  /** Tools for agents at /mcp. */
  readonly mcp: McpConfig
  readonly retention: {
    readonly hours: number
    readonly records: number
    /** Left out, the history of prices goes with the log. */
    readonly historyDays?: number | null
  }
  /** Networks that are not public but that webhooks may use; left out, none. */
  readonly webhooks?: { readonly allowPrivate: readonly string[] }
  readonly chains: readonly ChainConfig[]
  readonly rpc: { readonly maxAnswerMib: number }
  readonly coverage: readonly CoverageSource[]
  /** A subset of the policy object, as given. */
  readonly policy: Readonly<Record<string, unknown>>
}

/** Answers in the formats of other services. */
export type CompatConfig = {
  readonly coingecko: boolean
  readonly defillama: boolean
  /** A feed for TradingView's charts. */
  readonly udf: boolean
  /** Lower-scored prices are left out of these answers. */
  readonly minScore: number
  /** A second listener with these answers at its root; null for none. */
  readonly listen: { readonly host: string; readonly port: number } | null
}

export type McpConfig = {
  readonly isEnabled: boolean
  /** Below this score agents get no number. */
  readonly minScore: number
}

/** `address` is `sqlite:PATH` or a PostgreSQL URL with its password; the control socket is next to `path`. */
export type StoreConfig = {
  readonly address: Secret
  readonly path: string
  /** A read replica of it, for API nodes. */
  readonly replica?: Secret
}

export type ChainConfig = {
  readonly chainId: number
  readonly name: string
  readonly endpoints: readonly { readonly name: string; readonly url: Secret }[]
  readonly genesisHash: Hex
  /** A block that every endpoint must have, with this hash. */
  readonly checkpoint?: { readonly number: number; readonly hash: Hex } | undefined
  readonly blockTimeMs: number
  /** The largest answer with blocks, receipts or logs; from `rpc`, the same for all chains. Left out, 256. */
  readonly maxAnswerMib?: number
  /** How far behind the head a chain that was never followed begins. Left out, at the head. */
  readonly startBehindMs?: number
  /** What the blocks of the chain prove. Defaults to standard headers and receipts. */
  readonly proof?: ProofRules | undefined
  readonly finality: { readonly kind: 'tag' } | { readonly kind: 'depth'; readonly depth: number }
  readonly wrappedNative: Address
  readonly deployments: readonly DeploymentConfig[]
  /** Factories of families that are recognised but not priced; left out, none. */
  readonly unpricedFactories?: readonly UnpricedFactory[]
  readonly stables: readonly StableConfig[]
  readonly sequencerUptimeFeed: Address | null
  readonly routingAssets: readonly Address[]
  /** Dollar feeds that routing assets are compared with; left out, none. */
  readonly assetFeeds?: readonly AssetFeedConfig[]
  readonly pools: readonly Address[]
  readonly tokens: readonly Address[]
}

/**
 * `header: opaque`: the fields that nodes return do not give the hash. `receipts: none`: the receipts that nodes return
 * do not give the root in the header.
 */
export type ProofRules = {
  readonly header: 'standard' | 'opaque'
  readonly receipts: 'standard' | 'op_stack' | 'none'
}

export type DeploymentConfig = {
  readonly deploymentId: string
  readonly factoryAddress: Address
  /** Null when unknown: a back-fill then begins with the chain. */
  readonly deploymentBlock: number | null
  readonly initCodeHash: Hex | null
} & (
  | { readonly family: 'amm_v2'; readonly fee: { readonly numerator: number; readonly denominator: number } }
  | { readonly family: 'amm_v3'; readonly feeTiers: readonly number[] }
  | {
      readonly family: 'amm_v3_pancake'
      readonly feeTiers: readonly number[]
      readonly deployerAddress: Address
    }
  | { readonly family: 'amm_algebra_v1'; readonly deployerAddress: Address }
  /**
   * Its factory is the manager, which holds all pools. The native currency counts as the chain's wrapped native token.
   */
  | { readonly family: 'amm_v4'; readonly wrappedNative: Address }
)

/** Families without an adapter whose factories can look up the pool of a pair. */
export const UNPRICED_FAMILIES = [
  'algebra',
  'pancake_v3',
  'slipstream',
  'solidly',
  'liquidity_book',
  'curve',
] as const
export type UnpricedFamily = (typeof UNPRICED_FAMILIES)[number]

export type UnpricedFactory = {
  readonly deploymentId: string
  readonly family: UnpricedFamily
  readonly factoryAddress: Address
}

/** A Chainlink feed in dollars. */
export type FeedConfig = {
  readonly address: Address
  readonly heartbeatMs: number
  readonly graceMs: number
}

export type StableConfig = { readonly tokenAddress: Address; readonly usdFeed: FeedConfig | null }

export type AssetFeedConfig = { readonly tokenAddress: Address; readonly usdFeed: FeedConfig }

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
