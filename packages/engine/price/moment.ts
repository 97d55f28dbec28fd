/**
 * One moment: the state, the time of the input being applied, and the evaluators of everything derived from them. The
 * evaluators call each other through the moment, without depending on each other.
 */
import type { Pool } from '../entities.ts'
import { assert } from '../assert.ts'
import type { Address, BlockRef } from '../chain/block.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { FeedStatus } from '../input.ts'
import type { State } from '../state.ts'
import type { Count, Ms, Score } from '../units.ts'
import type { Agreement, Edge, Finality, StableView, Valuation } from './evaluation.ts'
import type { Policy } from '../policy/policy.ts'
import type { Coverage } from '../rules/coverage.ts'
import type { Worth } from '../rules/priceJump.ts'
import type { Rejection } from '../rules/reasons.ts'

/** The value of Y, or the rule that failed when Y has none. */
export type Anchor = {
  readonly usd: Fraction | null
  /** Microdollars per smallest unit of Y; null without a price. */
  readonly unitMicrousd: Fraction | null
  /** The least number of units of Y whose value reaches the depth floor; null without a price. */
  readonly leastY: bigint | null
  readonly stable: StableView | null
  readonly rule: Rejection | null
}

export type Moment = {
  readonly state: State
  readonly atMs: Ms
  readonly policy: Policy
  readonly ttlMs: Ms
  readonly feed: { readonly score: Score; readonly status: FeedStatus }
  readonly finalizedNumber: Count
  /** Pools that the caller of an on-demand quote excludes. */
  readonly excluded: ReadonlySet<Address>
  /** The depth below which a hop does not count. */
  readonly leastMicrousd: bigint
  /** The policy itself may give score 0 to a hop that passes every guard. */
  readonly mayScoreZero: boolean
  readonly valuations: Map<Address, Valuation>
  /** Null when the token is not one of the chain's stables. */
  stable(token: Address): StableView | null
  /** The value of a hop's Y. */
  anchor(to: Address): Anchor
  /** The value of a unit of an anchor by its marginal price; while it has none, by the chain alone. */
  readonly worth: (anchor: Address) => Worth | null
  /** How well the pools of its pair agree. */
  agreement(pool: Pool): Agreement
  edge(pool: Pool): Edge
  /** The same hop with one more component: the coverage of the asset's market by its anchors. */
  coveredEdge(edge: Edge, coverage: Coverage): Edge
}

/** Finality of the block at which something last changed or was read. */
export const finalityAt = (moment: Moment, blockNumber: Count): Finality =>
  blockNumber <= moment.finalizedNumber ? 'finalized' : 'canonical'

/** The block an evaluation is based on. */
export function tipOf(moment: Moment): BlockRef {
  const { tip } = moment.state.chain
  assert(tip !== null, 'an evaluation needs a block')
  return tip
}
