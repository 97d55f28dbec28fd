/**
 * The interface between a reader of quotes and a pool family, in two parts. Each family has one implementation;
 * nothing outside this folder knows any of them.
 */
import type { Fraction, GrossDepth } from '@assay/engine/rules'
import type { Hop } from '../../wire/route.ts'
import type { Findings } from '../findings.ts'
import type { Node, Words } from '../node.ts'

/** A pool whose state is known: the output of a sale, and its depth. */
export type Priced = {
  /** Null when the ticks that were read do not reach far enough. */
  swapExactIn(side: 0 | 1, amountIn: bigint): bigint | null
  depth(x: 0 | 1): GrossDepth | null
}

export type PoolAtBlock = Priced & {
  /** In wire format. */
  readonly shown: Readonly<Record<string, unknown>>
}

/** The part of a hop that describes the pool. */
export type Held = {
  /** The fee-free price of token0 in token1, atomic units. */
  readonly marginal: Fraction
  /** The fields from which it is derived. */
  readonly from: readonly string[]
  /** Null when the quote does not show all inputs of the depth. */
  readonly priced: Priced | null
}

/** How a quote displays a pool of the family. */
export type ShownFamily = {
  /** The field of the hop with the pool's holdings. */
  readonly holds: 'reserves' | 'slot'
  /** Which token of the pool is X. */
  x(hop: Hop): 0 | 1
  held(findings: Findings, hop: Hop, path: string): Held
}

/** How a node represents the pool. Separate, so that a bundle which only recomputes leaves it out. */
export type ChainFamily = {
  readonly swapTopic: string
  /** Where its swaps are logged; omitted, at the pool itself under the topic alone. */
  readonly swaps?: (hop: Hop) => { readonly address: string; readonly topics: readonly string[] }
  /** The net amounts of token0 and token1 in the swap log, positive into the pool. */
  nets(log: Words): readonly [bigint, bigint]
  /** Checks that the factory confirms the pool, and which factory that is. */
  checkIdentity(findings: Findings, node: Node, hop: Hop, path: string, blockHash: string): Promise<string>
  read(node: Node, hop: Hop, blockHash: string): Promise<PoolAtBlock>
}

export const known = <Outcome extends object>(
  outcome: Outcome,
): Exclude<Outcome, { reason: string }> | null =>
  'reason' in outcome ? null : (outcome as Exclude<Outcome, { reason: string }>)
