/** What a reader of quotes asks of a pool family, in two parts. One implementation per family; nothing outside this folder knows one. */
import type { Fraction, GrossDepth } from '@assay/engine/rules'
import type { Hop } from '../../wire/route.ts'
import type { Findings } from '../findings.ts'
import type { Node, Words } from '../node.ts'

/** A pool whose state is known: what it is sold for, and how deep it is. */
export type Priced = {
  /** Null where the ticks read do not reach. */
  swapExactIn(side: 0 | 1, amountIn: bigint): bigint | null
  depth(x: 0 | 1): GrossDepth | null
}

export type PoolAtBlock = Priced & {
  /** In the words of the wire. */
  readonly shown: Readonly<Record<string, unknown>>
}

/** What a hop shows of the pool. */
export type Held = {
  /** The fee-free price of token0 in token1, atomic units. */
  readonly marginal: Fraction
  /** The fields that it follows from. */
  readonly from: readonly string[]
  /** Null where what is shown is not all that depth follows from. */
  readonly priced: Priced | null
}

/** How a quote shows a pool of the family. */
export type ShownFamily = {
  /** The field of the hop that says what the pool holds. */
  readonly holds: 'reserves' | 'slot'
  /** Which token of the pool is X. */
  x(hop: Hop): 0 | 1
  held(findings: Findings, hop: Hop, path: string): Held
}

/** How a node shows it: apart, so that a bundle which only recomputes leaves it out. */
export type ChainFamily = {
  readonly swapTopic: string
  /** Where its swaps are logged; left out, at the pool itself under the topic alone. */
  readonly swaps?: (hop: Hop) => { readonly address: string; readonly topics: readonly string[] }
  /** What the swap log moved of token0 and token1, positive into the pool. */
  nets(log: Words): readonly [bigint, bigint]
  /** The pool by its factory's word, and which factory that is. */
  checkIdentity(findings: Findings, node: Node, hop: Hop, path: string, blockHash: string): Promise<string>
  read(node: Node, hop: Hop, blockHash: string): Promise<PoolAtBlock>
}

export const known = <Outcome extends object>(
  outcome: Outcome,
): Exclude<Outcome, { reason: string }> | null =>
  'reason' in outcome ? null : (outcome as Exclude<Outcome, { reason: string }>)
