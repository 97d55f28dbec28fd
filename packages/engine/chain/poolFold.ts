/**
 * One block's events folded into a pool's state. Only the state at the end of the block is priced and published. Of
 * the states between two events, the average and the history keep the least depth and the closest ratio (R-visit).
 */
import type { Difference, GrossDepth } from '../amm/adapter.ts'
import type { AmmState } from '../amm/families.ts'
import type { Pool, PoolState, Visit } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import { DEPTH_BOUNDARY } from '../rules/depthBoundary.ts'
import * as depthAverage from '../rules/depthAverage.ts'
import { evidenceOf, type LastSwap } from '../rules/evidence.ts'
import * as jump from '../rules/magnitudeJump.ts'
import type { Policy } from '../policy/policy.ts'
import { scalingOf } from '../rules/decimals.ts'
import * as temporal from '../memory/temporalTape.ts'
import type { State } from '../state.ts'
import type { Ms } from '../units.ts'
import type { BlockRef, PoolEvent } from './block.ts'
import { noteBook } from './changes.ts'
import { passed, visitAt, visited } from './visit.ts'

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
  let isChanged = false
  let visit = visitAt(before, block.timeMs, state.setup.blockTimeMs)
  for (const { event, logIndex, transactionHash } of events) {
    if (event.kind === 'CREATED') continue
    const explains = adapter.explains(event)
    if (!explains) {
      // Ticks change in place, so record the state after the last event before the next one is applied.
      if (isChanged) {
        const { depthY, marginal } = derive(pool, amm, incomplete)
        visit = visited(visit, depthY, marginal)
      }
      isChanged = true
    }
    const applied = adapter.apply(pool.terms, amm, prior, event)
    if (applied.tickChange !== null)
      noteBook(state, { kind: 'change', pool: pool.address, change: applied.tickChange })
    if (applied.verdict === 'incomplete') incomplete = true
    if (applied.verdict === 'unverified' && verified) {
      verified = false
      differences = applied.differences
    }
    if (event.kind === 'SWAP') swap = { event, base: explains ? prior : amm, logIndex, transactionHash }
    if (event.kind === 'SWAP' || event.kind === 'SYNC' || event.kind === 'INITIALIZE') isRead = true
    prior = amm
    amm = applied.state
  }
  // A Swap, Sync or Initialize states the whole price; a Mint only states the added amount.
  const verifiedNumber = isRead ? block.number : before.verifiedNumber
  const verifiedMs = isRead ? block.timeMs : before.verifiedMs
  const next = { ...before, verifiedNumber, verifiedMs, amm, verified, differences, incomplete }
  return settle(pool, next, block, visit, swap, state.policyView.policy)
}

/**
 * Everything derived from a changed pool: marginal, depth, evidence, average, history, jump. Without a visit, its
 * past begins here.
 */
export function settle(
  pool: Pool,
  next: PoolState,
  block: BlockRef,
  visit: Visit | null,
  swap: LastSwap | null,
  policy: Policy,
): PoolState {
  const changed = { number: block.number, hash: block.hash, timeMs: block.timeMs }
  const { amm } = next
  const { marginal, depth, depthY, isShort } = derive(pool, amm, next.incomplete)
  const { createdMs } = pool
  const start = (known: bigint, timeMs: Ms) =>
    createdMs === null ? depthAverage.start(known, timeMs) : depthAverage.startAt(known, createdMs, timeMs)
  const past =
    visit === null
      ? {
          average: depthY === null ? null : start(depthY, block.timeMs),
          history:
            marginal === null ? temporal.EMPTY : temporal.append(temporal.EMPTY, block.timeMs, marginal),
          visit,
        }
      : passed(visit, next.history, depthY, marginal, start)
  return {
    // A second spread would copy property by property.
    ...next,
    average: past.average,
    history: past.history,
    visit: past.visit,
    changed,
    incomplete: next.incomplete || isShort,
    marginal,
    depth,
    depthY,
    evidence:
      marginal === null || depth === null
        ? null
        : evidenceOf(pool, { amm, marginal, depth }, swap, changed, policy),
    jump: marginal === null ? next.jump : jumpAfter(pool, next.jump, marginal, block.timeMs, policy),
  }
}

type Derived = {
  readonly marginal: Fraction | null
  readonly depth: GrossDepth | null
  readonly depthY: bigint | null
  /** The known ticks do not reach as far as the boundary. */
  readonly isShort: boolean
}

/** Values derived from a state alone. A pool that is not live has no ratio and a depth of zero. */
function derive(pool: Pool, amm: AmmState, isIncomplete: boolean): Derived {
  const { adapter } = pool.around
  if (!adapter.isLive(pool.terms, amm)) return { marginal: null, depth: null, depthY: 0n, isShort: false }
  const price = adapter.marginal(amm)
  const marginal = pool.x === 0 ? price : { num: price.den, den: price.num }
  const answer = adapter.depth(pool.terms, amm, pool.x, DEPTH_BOUNDARY)
  const isShort = 'reason' in answer
  // Once the price has left the known ticks, do not trust them until the pool is reloaded.
  const depth = isIncomplete || isShort ? null : answer
  const depthY = depth === null ? null : lesser(depth.up, (depth.down * marginal.num) / marginal.den)
  return { marginal, depth, depthY, isShort }
}

function jumpAfter(
  { around: { from, to } }: Pool,
  before: jump.JumpState | null,
  marginal: Fraction,
  timeMs: Ms,
  policy: Policy,
): jump.JumpState {
  const scaling = scalingOf(from.decimals, to.decimals)
  if (before === null) return jump.start(marginal, scaling.digits)
  return jump.observe(jump.scaled(before, scaling, policy), marginal, timeMs, policy)
}

/** The state of a pool about which nothing is known yet. */
export function newbornState(amm: AmmState, block: BlockRef, lastTradeMs: Ms | null): PoolState {
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
    visit: null,
    jump: null,
    lastTradeMs,
    trackedSinceMs: block.timeMs,
    past: null,
    isBeforeGap: false,
  }
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)
