/**
 * One moment: the state, the time of the input being applied, and everything already worked out for them.
 *
 * Edges, pair agreements, stables and valuations are computed at most once per moment and shared by every
 * route that needs them. A moment ends with its step; nothing in it outlives a change of the state.
 */
import { assert } from '../assert.ts'
import type { Address, BlockRef } from '../chain/block.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { FeedStatus } from '../input.ts'
import type { Pool, State } from '../state.ts'
import { type Count, count, type Ms, type Score, score } from '../units.ts'
import { feedScore } from '../rules/feedAndState.ts'
import type { Agreement, Edge, Finality, StableView, Valuation } from './evaluation.ts'
import type { Policy } from '../policy/policy.ts'
import type { Rejection } from '../rules/reasons.ts'

/** What Y is worth, and the rule that failed where it is worth nothing. */
export type Anchor = {
  readonly usd: Fraction | null
  /** Microdollars for the least unit of Y; null without a price. */
  readonly unitMicrousd: Fraction | null
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
  /** Pools a caller of an on-demand quote wants left out. */
  readonly excluded: ReadonlySet<Address>
  readonly edges: Map<Pool, Edge>
  /** The depth below which a hop does not count. */
  readonly leastMicrousd: bigint
  /** The policy itself may leave a hop nothing that passes every guard. */
  readonly mayScoreZero: boolean
  /** By the pools of a pair, as the index lists them. */
  readonly agreements: Map<readonly Pool[], ReadonlyMap<Pool, Agreement>>
  /** Of a pool without another of its pair, once it was asked for. */
  readonly lone: { agreement: Agreement | null }
  readonly stables: Map<Address, StableView>
  /** What a hop's Y is worth, of those that are known by now. */
  readonly anchors: Map<Address, Anchor>
  readonly valuations: Map<Address, Valuation>
}

/** What a caller may narrow an on-demand quote by; never published. */
export type Narrowing = { readonly policy?: Policy; readonly excluded?: ReadonlySet<Address> }

const NOTHING: ReadonlySet<Address> = new Set()

const MICRO = 1_000_000n

export function momentOf(state: State, atMs: Ms, narrowing: Narrowing = {}): Moment {
  const policy = narrowing.policy ?? state.policyView.policy
  const status = state.chain.paused ? 'UNAVAILABLE' : (state.chain.health?.status ?? 'UNAVAILABLE')
  return {
    state,
    atMs,
    policy,
    ttlMs: policy.ttl_ms.by_chain[String(state.setup.chainId)] ?? policy.ttl_ms.default,
    feed: { score: feedScore(status), status },
    finalizedNumber: state.chain.finalized?.number ?? count(-1),
    excluded: narrowing.excluded ?? NOTHING,
    edges: new Map(),
    leastMicrousd: BigInt(policy.min_depth_usd) * MICRO,
    mayScoreZero: mayScoreZero(policy),
    agreements: new Map(),
    lone: { agreement: null },
    stables: new Map(),
    anchors: new Map(),
    valuations: new Map(),
  }
}

/** Bands of a policy never rise with the deviation: beyond them is the least. */
function mayScoreZero({ agreement, jump, trade_age_caps }: Policy): boolean {
  const { edge_sources, retained, spread } = agreement
  return [
    jump.cap,
    spread.beyond,
    ...edge_sources,
    ...retained.map(([, value]) => value),
    ...trade_age_caps.map(({ cap }) => cap),
  ].includes(score(0))
}

/** Finality of something last changed, or read, at a block. */
export const finalityAt = (moment: Moment, blockNumber: Count): Finality =>
  blockNumber <= moment.finalizedNumber ? 'finalized' : 'canonical'

/** The block an evaluation stands on. */
export function tipOf(moment: Moment): BlockRef {
  const { tip } = moment.state.chain
  assert(tip !== null, 'an evaluation needs a block to stand on')
  return tip
}
