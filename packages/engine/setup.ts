/** The configuration of a chain. It does not change while the engine runs. */
import type { Side } from './amm/states.ts'
import type { Address } from './chain/block.ts'
import type { FeedTerms } from './rules/feedAnswer.ts'
import type { Count, Ms } from './units.ts'

export type StableSetup = {
  readonly token: Address
  /** Null: no feed to trust; the nominal 1 applies with its cap. */
  readonly feed: FeedTerms | null
}

export type ChainSetup = {
  readonly chainId: Count
  /** The usual interval between blocks. */
  readonly blockTimeMs: Ms
  readonly stables: readonly StableSetup[]
  /** Ordered: an asset is priced only from stables and the assets before it. */
  readonly routingAssets: readonly Address[]
  /** Dollar feeds that routing assets are compared with; an asset without one is not compared. */
  readonly assetFeeds?: Readonly<Record<Address, FeedTerms>>
  /** True when prices must also wait for the L2 sequencer. */
  readonly hasSequencer: boolean
}

export type Role = 'STABLE' | 'ROUTING' | 'TOKEN'

export function roleOf(setup: ChainSetup, token: Address): Role {
  if (setup.stables.some(stable => stable.token === token)) return 'STABLE'
  return setup.routingAssets.includes(token) ? 'ROUTING' : 'TOKEN'
}

/**
 * The canonical orientation X→Y of a pair, as the side that is X: Y is the stable, otherwise the earlier routing
 * asset, otherwise token1. Of two stables, the one listed first is Y.
 */
export function canonicalX(setup: ChainSetup, token0: Address, token1: Address): Side {
  return rank(setup, token0) < rank(setup, token1) ? 1 : 0
}

function rank(setup: ChainSetup, token: Address): Count {
  const anchors = anchorsOf(setup)
  const at = anchors.indexOf(token)
  return (at < 0 ? anchors.length : at) as Count
}

/** The stables, then the routing assets, each in their order. */
export const anchorsOf = ({ stables, routingAssets }: ChainSetup): readonly Address[] => [
  ...stables.map(({ token }) => token),
  ...routingAssets,
]
