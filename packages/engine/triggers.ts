/**
 * The eight reasons to evaluate a price again, by name (R-trigger). Each states which tokens are evaluated, and how.
 * *As its own*: publish any difference that a reader would see. *Quietly*: publish only what the rules for quiet
 * tokens require.
 */
import type { Pool, Token } from './entities.ts'
import type { Address } from './chain/block.ts'
import type { Undone } from './chain/undo.ts'
import * as fraction from './exact/fraction.ts'
import type { Evaluation } from './price/evaluation.ts'
import type { Moment } from './price/moment.ts'
import type { CompactPriced } from './record.ts'
import { anchorChange, anchorView } from './rules/anchorView.ts'
import { DEPTH_FROM } from './rules/depthScore.ts'
import { stateScore } from './rules/feedAndState.ts'
import type { RetractReason } from './rules/reasons.ts'
import { roleOf } from './setup.ts'
import type { State } from './state.ts'
import type { Ms, Approx } from './units.ts'
import type { Work } from './work.ts'

export const triggers = {
  /** R-trigger-1: events of a block changed a pool. It prices its X, which is evaluated as its own. */
  price: poolChanged,

  /**
   * R-trigger-2: a load, or a re-check that differs, does the same; one that confirms the known state does it
   * quietly.
   */
  liquidity: poolChanged,
  verified: (work: Work, pool: Pool): void => void work.look.add(pool.from),
  decimals(state: State, work: Work, token: Address): void {
    work.own.add(token)
    for (const dependent of dependentsOf(state, token)) work.own.add(dependent)
  },

  /** R-trigger-3: a block was undone. Everything that rested on it is evaluated as its own. */
  retraction(work: Work, undone: Undone): void {
    for (const { from } of undone.removedPools.values()) work.own.add(from)
    for (const token of undone.tokens) work.own.add(token)
    for (const stable of undone.stables) work.own.add(stable)
  },

  /** R-trigger-4: a change of status affects every token; a feed that returns has every token published again. */
  health(work: Work, isOther: boolean, isBack: boolean): void {
    work.again = isBack
    work.everyone = isBack || isOther
  },

  /**
   * R-trigger-5: a pool's last change is final, or the block at which something was read. Quietly, if it may raise a
   * score.
   */
  finality(state: State, work: Work, pools: Iterable<Pool>, read: Iterable<Address>): void {
    const look = (token: Address) => {
      if (mayRise(state.tokens.get(token))) work.look.add(token)
    }
    for (const pool of pools) {
      work.pools.add(pool)
      look(pool.from)
    }
    for (const token of read) for (const each of [token, ...dependentsOf(state, token)]) look(each)
  },

  /**
   * R-trigger-6: time itself. Tokens that are due and, after a proven block, tokens whose freshness improves;
   * quietly.
   */
  timer({ index, chain }: State, work: Work, atMs: Ms): void {
    for (const token of index.dues.take(atMs)) work.look.add(token)
    if (chain.tip !== null && chain.proven.at(-1)?.last === chain.tip.number)
      for (const token of index.aged) work.look.add(token)
  },

  /** R-trigger-7: the operator has made a decision about every token, or about one. */
  policy(work: Work, retractAs: RetractReason): void {
    work.everyone = true
    work.retractAs = retractAs
  },
  enrolment: (work: Work, token: Address): void => void work.own.add(token),

  /**
   * R-trigger-8: an answer, a sequencer or a report changed; then its effect on an anchor, and on the tokens priced
   * through it.
   */
  external(work: Work, anchors: Iterable<Address>): void {
    for (const anchor of anchors) work.own.add(anchor)
  },
  sellability: (work: Work, token: Address): void => void work.own.add(token),
  answer(state: State, work: Work, token: Address): void {
    if (roleOf(state.setup, token) === 'STABLE') work.own.add(token)
    else work.look.add(token)
  },
  externalAnchor(moment: Moment, work: Work, anchor: Address, evaluation: Evaluation): void {
    noteView(moment, work, anchor, evaluation)
    if (evaluation.kind === 'UNPRICED') return
    notePrice(moment, work, anchor, fraction.approx(evaluation.price))
    const bps = BigInt(moment.policy.republish.move_bps)
    const watch = moment.state.index.watches.get(anchor)
    for (const token of watch?.takeMoved(evaluation.marginalUsd, bps) ?? []) work.look.add(token)
  },
} as const

function poolChanged(work: Work, pool: Pool): void {
  work.pools.add(pool)
  work.own.add(pool.from)
}

/** Every token priced through `anchor`. */
function dependentsOf(state: State, anchor: Address): Set<Address> {
  const dependents = new Set<Address>()
  for (const pool of state.index.poolsInto.get(anchor) ?? []) dependents.add(pool.from)
  return dependents
}

/** Finality raises a state score above that of canonical: a price whose weakest link is lower stays as it is. */
function mayRise(token: Token | undefined): boolean {
  const compact = token?.published?.compact
  return compact?.state === 'PRICED' && compact.confidence.score >= stateScore('canonical')
}

/** A change of an anchor's state, score or caps affects all its dependents. */
function noteView({ state, valuations }: Moment, work: Work, anchor: Address, evaluation: Evaluation): void {
  const now = anchorView(evaluation, valuations.get(anchor)?.onward ?? [])
  const change = anchorChange(state.chain.anchors[anchor], now)
  if (change === null) return
  state.chain = { ...state.chain, anchors: { ...state.chain.anchors, [anchor]: now } }
  state.index.changed.add('chain')
  const ends = [...change.minorIds].map(id => `-${id}`)
  const isConcerned = ({ selected }: CompactPriced) =>
    change.isMain || (selected !== null && ends.some(end => selected.route_id.endsWith(end)))
  // While the anchor keeps a price, a token without one for reasons of its own still has none.
  const dependents = change.isStillPriced ? pricedBy(state, anchor, isConcerned) : dependentsOf(state, anchor)
  for (const dependent of dependents) work.look.add(dependent)
}

/** Of the tokens with a hop into `anchor`, those with such a price. */
function* pricedBy(
  { index }: State,
  anchor: Address,
  isSuch: (compact: CompactPriced) => boolean,
): Generator<Address> {
  for (const { address, published } of index.priced) {
    const compact = published?.compact
    if (compact?.state !== 'PRICED' || !isSuch(compact)) continue
    if (index.ownPools.get(address)?.anchored.some(({ to }) => to === anchor)) yield address
  }
}

/** A new price of an anchor changes the depth of every hop into it: evaluate the tokens that enter another band. */
function notePrice({ state, leastMicrousd }: Moment, work: Work, anchor: Address, now: Approx): void {
  const before = state.chain.anchorUsd[anchor]
  if (before === now) return
  state.chain = { ...state.chain, anchorUsd: { ...state.chain.anchorUsd, [anchor]: now } }
  state.index.changed.add('chain')
  if (before === undefined) return
  const passed = state.index.depths.get(anchor)?.passed(before, now, [leastMicrousd, ...DEPTH_FROM]) ?? []
  for (const pool of passed) work.look.add(pool.from)
}
