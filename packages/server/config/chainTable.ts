/**
 * The built-in chains, in the form of the configuration file: an operator gives only the chain and its endpoints. Each
 * is a file in `chains/`. Tests prove factories and init code hashes by the addresses of known pools, and v4 managers
 * by their own.
 *
 * Factories under `unpriced_factories` are as their projects publish them and not proven here: a wrong one answers
 * nothing, so it yields no pool. A bridged stable without a feed of its own (USDC.e) is a routing asset: priced from
 * pools, not assumed to be a dollar.
 */
import { ARBITRUM } from './chains/arbitrum.ts'
import { AVALANCHE } from './chains/avalanche.ts'
import { BASE } from './chains/base.ts'
import { BSC } from './chains/bsc.ts'
import { ETHEREUM } from './chains/ethereum.ts'
import { OPTIMISM } from './chains/optimism.ts'
import { POLYGON } from './chains/polygon.ts'

export const CHAIN_TABLE: Readonly<Record<number, Readonly<Record<string, unknown>>>> = {
  1: ETHEREUM,
  10: OPTIMISM,
  56: BSC,
  137: POLYGON,
  8453: BASE,
  42_161: ARBITRUM,
  43_114: AVALANCHE,
}

/**
 * The depth at which a block is final where the endpoints of a chain do not support the tag `finalized`. A final block
 * is never undone, so each depth is well past the deepest reorganisation known under the chain's present consensus.
 */
const FALLBACK_DEPTH: Readonly<Record<number, number>> = {
  /** Two epochs of 32 slots. */
  1: 64,
  /** A batch is final with the block of chain 1 that contains it: half an hour. */
  10: 900,
  /** Votes make a block final within a few blocks; without them two thirds of the validators have built on it. */
  56: 64,
  /** Before milestones, 157 blocks were undone once. */
  137: 256,
  /** As on 10. */
  8453: 900,
  /** A batch is final with the block of chain 1 that contains it: about 20 minutes. */
  42_161: 4800,
  /** An accepted block is final at once; nodes behind one address may differ for a moment. */
  43_114: 16,
}
/** A chain of the configuration, assumed to be like Ethereum. */
const OTHER_DEPTH = 64

export const fallbackDepthOf = (chainId: number): number => FALLBACK_DEPTH[chainId] ?? OTHER_DEPTH
