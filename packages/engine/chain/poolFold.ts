/**
 * One block's events folded into a pool's state. Only the state at the end of the block is kept: what a
 * pool was between two transactions is never priced and never published.
 */
import type { V2State, V3State } from '../amm/states.ts'
import type { Pool, PoolState } from '../entities.ts'
import type { Difference } from '../amm/adapter.ts'
import { DEPTH_BOUNDARY } from '../rules/depthBoundary.ts'
import * as depthAverage from '../rules/depthAverage.ts'
import { evidenceOf, type LastSwap } from '../rules/evidence.ts'
import * as jump from '../rules/magnitudeJump.ts'
import type { Policy } from '../policy/policy.ts'
import * as temporal from '../memory/temporalTape.ts'
import type { State } from '../state.ts'
import type { Ms } from '../units.ts'
import type { BlockRef, PoolEvent } from './block.ts'
import { noteBook } from './journal.ts'

/** Applies the events, in log order, of one pool in one block. */
export function foldEvents(
  state: State,
  pool: Pool,
  events: readonly PoolEvent[],
  block: BlockRef,
): PoolState {
  const { adapter } = pool.around
  const before = pool.state
  let amm = before.amm
  let prior = amm
  let swap: LastSwap | null = null
  let { verified, incomplete } = before
  let differences: readonly Difference[] = before.differences
  let isRead = false
  for (const { event, logIndex, transactionHash } of events) {
    if (event.kind === 'CREATED') continue
    const applied = adapter.apply(pool.terms, amm, prior, event)
    if (applied.tickChange !== null)
      noteBook(state, { kind: 'change', pool: pool.address, change: applied.tickChange })
    if (applied.verdict === 'incomplete') incomplete = true
    if (applied.verdict === 'unverified' && verified) {
      verified = false
      differences = applied.differences
    }
    if (event.kind === 'SWAP')
      swap = { event, base: pool.terms.family === 'amm_v2' ? prior : amm, logIndex, transactionHash }
    if (event.kind === 'SWAP' || event.kind === 'SYNC' || event.kind === 'INITIALIZE') isRead = true
    prior = amm
    amm = applied.state
  }
  // A Swap, Sync or Initialize states the whole price; a Mint alone only tells what was added.
  const read = isRead ? { verifiedNumber: block.number, verifiedMs: block.timeMs } : {}
  const lastTradeMs = swap === null ? before.lastTradeMs : block.timeMs
  return settle(
    pool,
    { ...before, ...read, amm, verified, differences, incomplete, lastTradeMs },
    block,
    swap,
    state.policyView.policy,
  )
}

/** Everything derived from a changed pool: marginal, depth, evidence, average, history, jump. */
export function settle(
  pool: Pool,
  next: PoolState,
  block: BlockRef,
  swap: LastSwap | null,
  policy: Policy,
): PoolState {
  const { adapter } = pool.around
  const { amm } = next
  const changed = { number: block.number, hash: block.hash, timeMs: block.timeMs }
  if (!adapter.isLive(pool.terms, amm))
    return {
      ...next,
      changed,
      marginal: null,
      depth: null,
      depthY: 0n,
      evidence: null,
      average: averaged(pool, next, 0n, block.timeMs),
    }

  const price = adapter.marginal(amm)
  const marginal = pool.x === 0 ? price : { num: price.den, den: price.num }
  const answer = adapter.depth(pool.terms, amm, pool.x, DEPTH_BOUNDARY)
  // Once the price has left the known ticks they are not trusted again before they are read anew.
  const depth = next.incomplete || 'reason' in answer ? null : answer
  const depthY = depth === null ? null : lesser(depth.up, (depth.down * marginal.num) / marginal.den)
  return {
    ...next,
    changed,
    incomplete: next.incomplete || depth === null,
    marginal,
    depth,
    depthY,
    evidence: depth === null ? null : evidenceOf(pool, { amm, marginal, depth }, swap, changed, policy),
    // An unknown depth says nothing: the average waits for the next known one.
    average: depthY === null ? next.average : averaged(pool, next, depthY, block.timeMs),
    history: temporal.append(next.history, block.timeMs, marginal),
    jump: next.jump === null ? jump.start(marginal) : jump.observe(next.jump, marginal, block.timeMs, policy),
  }
}

/** The state of a pool before anything was ever known of it. */
export function newbornState(amm: V2State | V3State, block: BlockRef, lastTradeMs: Ms | null): PoolState {
  return {
    amm,
    changed: block,
    verifiedNumber: block.number,
    verifiedMs: block.timeMs,
    verified: true,
    differences: [],
    incomplete: false,
    marginal: null,
    depth: null,
    depthY: 0n,
    evidence: null,
    average: null,
    history: temporal.EMPTY,
    jump: null,
    lastTradeMs,
    trackedSinceMs: block.timeMs,
    isBeforeGap: false,
  }
}

function averaged(pool: Pool, next: PoolState, depthY: bigint, timeMs: Ms): depthAverage.DepthAverage {
  if (next.average !== null) return depthAverage.change(next.average, depthY, timeMs)
  return pool.createdMs === null
    ? depthAverage.start(depthY, timeMs)
    : depthAverage.startAt(depthY, pool.createdMs, timeMs)
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)
