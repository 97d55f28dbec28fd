/**
 * A moment for a state and a time. Stables, anchors, agreements and hops are evaluated on first use and only once,
 * and shared by every route that needs them. A moment ends with its step; nothing in it outlives a change of the
 * state.
 */
import { once } from '../exact/once.ts'
import type { Pool } from '../entities.ts'
import type { Address } from '../chain/block.ts'
import type { Policy } from '../policy/policy.ts'
import { feedScore } from '../rules/feedAndState.ts'
import type { Worth } from '../rules/priceJump.ts'
import type { State } from '../state.ts'
import { MICRO, count, type Ms, score } from '../units.ts'
import type { Agreement, Edge, StableView } from './evaluation.ts'
import { anchorOf, worthOf } from './hops/anchor.ts'
import { PoolEdge } from './hops/edge.ts'
import { stableViews } from './hops/stableView.ts'
import type { Anchor, Moment } from './moment.ts'
import { agreementsOf, loneAgreement } from './vote/pairAgreement.ts'

/** How a caller may narrow an on-demand quote; such quotes are never published. */
export type Narrowing = { readonly policy?: Policy; readonly excluded?: ReadonlySet<Address> }

const NOTHING: ReadonlySet<Address> = new Set()

export function momentOf(state: State, atMs: Ms, narrowing: Narrowing = {}): Moment {
  const policy = narrowing.policy ?? state.policyView.policy
  const status = state.chain.paused ? 'UNAVAILABLE' : (state.chain.health?.status ?? 'UNAVAILABLE')
  let stables: ReadonlyMap<Address, StableView> | null = null
  const anchors = new Map<Address, Anchor>()
  const agreements = new Map<readonly Pool[], ReadonlyMap<Pool, Agreement>>()
  const edges = new Map<Pool, Edge>()
  const worths = new Map<Address, Worth | null>()
  let alone: Agreement | null = null
  // Made once: a hop is asked for at every route.
  const edgeOf = (pool: Pool): Edge => new PoolEdge(moment, pool)
  const agreedOf = (pair: readonly Pool[]) => agreementsOf(moment, pair)
  const unitOf = (token: Address) => worthOf(moment, token)
  const moment: Moment = {
    state,
    atMs,
    policy,
    ttlMs: policy.ttl_ms.by_chain[String(state.setup.chainId)] ?? policy.ttl_ms.default,
    feed: { score: feedScore(status), status },
    finalizedNumber: state.chain.finalized?.number ?? count(-1),
    excluded: narrowing.excluded ?? NOTHING,
    leastMicrousd: BigInt(policy.min_depth_usd) * MICRO,
    mayScoreZero: mayScoreZero(policy),
    valuations: new Map(),
    stable(token) {
      stables ??= stableViews(moment)
      return stables.get(token) ?? null
    },
    anchor(to) {
      let anchor = anchors.get(to)
      if (anchor === undefined) {
        anchor = anchorOf(moment, to)
        // An asset without a value yet gets one later in the step.
        if (anchor.rule !== 'CIRCULAR') anchors.set(to, anchor)
      }
      return anchor
    },
    worth: token => once(worths, token, unitOf),
    agreement(pool) {
      const { pair } = pool.around
      alone ??= loneAgreement(policy)
      if (pair.length === 1) return alone
      return once(agreements, pair, agreedOf).get(pool) ?? alone
    },
    edge: pool => once(edges, pool, edgeOf),
    coveredEdge: ({ pool }, coverage) => new PoolEdge(moment, pool, coverage),
  }
  return moment
}

/** The scores of policy bands never rise with the deviation, so the last one is the lowest. */
function mayScoreZero({ agreement, jump, trade, trade_age_caps }: Policy): boolean {
  const { edge_sources, retained, spread } = agreement
  return [
    jump.cap,
    trade.unknown_cap,
    spread.beyond,
    ...edge_sources,
    ...retained.map(([, value]) => value),
    ...trade_age_caps.map(({ cap }) => cap),
  ].includes(score(0))
}
