/**
 * Applies blocks to the state: creates pools, folds events per pool, moves the position. A block extends the tip by
 * hash; anything else is a fault of the worker that the engine does not repair.
 */
import type { AmmEvent } from '../amm/families.ts'
import type { Pool } from '../entities.ts'
import { assert } from '../assert.ts'
import * as depthAverage from '../rules/depthAverage.ts'
import type { SwapObserved } from '../record.ts'
import type { State } from '../state.ts'
import type { Count } from '../units.ts'
import { triggers } from '../triggers.ts'
import type { Work } from '../work.ts'
import type { Address, Block, Hex, LogPosition, PoolEvent, ProvenRun } from './block.ts'
import { setPoolState, tipJournal } from './changes.ts'
import { undoTo } from './undo.ts'
import { isStableSettling, notePasts, pricedTokens } from './ownPast.ts'
import { foldEvents, newbornState } from './poolFold.ts'
import { addPool, removePool, termsOf } from './registry.ts'
import { renewTrades } from './trades.ts'
import { openJournal } from './journal.ts'

type SwapEvent = Extract<AmmEvent, { kind: 'SWAP' }>

export function applyBlock(state: State, block: Block, work: Work): void {
  const { tip } = state.chain
  assert(
    tip === null || (block.parentHash === tip.hash && block.number === tip.number + 1),
    () => `block ${block.number} ${block.hash} does not extend ${tip?.number} ${tip?.hash}`,
  )
  state.journals.push(openJournal(block, block.parentHash, state.chain))
  state.index.changed.add('chain').add(`undo/${block.number}`)
  state.chain = {
    ...state.chain,
    tip: { number: block.number, hash: block.hash, timeMs: block.timeMs },
    proven: extendRuns(state.chain.proven, block),
  }
  const groups = Map.groupBy(block.events, ({ pool }) => pool)
  const touched = new Set(isStableSettling(state, tip, block) ? pricedTokens(state) : [])
  for (const [address, events] of groups) {
    applyToPool(state, address, events, block, work)
    const pool = state.pools.get(address)
    if (pool !== undefined && !pool.state.isBeforeGap) touched.add(pool.from)
  }
  notePasts(state, touched, block.timeMs, work)
  // The value of a routing asset at the block is in its past.
  renewTrades(state, groups, block)
  boundJournals(state)
}

/** Undoes to the ancestor and applies the replacement branch. */
export function applyReorg(state: State, ancestor: Hex, blocks: readonly Block[], work: Work): void {
  takeBack(state, ancestor, work)
  for (const block of blocks) applyBlock(state, block, work)
  for (const address of work.removed.keys())
    if (!state.pools.has(address)) work.needs.push({ kind: 'load', pool: address, why: 'ORPHANED' })
}

/** Undoes blocks down to the ancestor, and notes everything this affects. */
export function takeBack(state: State, ancestor: Hex, work: Work): void {
  const undone = undoTo(state, ancestor, pool => removePool(state, pool))
  for (const hash of undone.blocks) {
    work.orphaned.add(hash)
    work.undone.add(hash)
  }
  for (const { pool: address, payload } of undone.swaps) {
    const pool = state.pools.get(address) ?? undone.removedPools.get(address)
    if (pool !== undefined) work.swaps.push({ pool, payload: { ...payload, finality: 'orphaned' } })
  }
  for (const address of undone.pools) {
    const pool = state.pools.get(address)
    if (pool === undefined) continue
    triggers.price(work, pool)
    if (pool.state.isBeforeGap) noteNeeds(pool, work)
  }
  for (const [address, pool] of undone.removedPools) work.removed.set(address, pool)
  triggers.retraction(work, undone)
  for (const token of undone.decimals)
    if (state.tokens.get(token)?.decimals === null) work.needs.push({ kind: 'token_facts', token })
}

function applyToPool(
  state: State,
  address: Address,
  events: readonly PoolEvent[],
  block: Block,
  work: Work,
): void {
  let pool = state.pools.get(address)
  if (pool === undefined) {
    pool = bornIn(state, events, block)
    if (pool === undefined) return
    pool.published = work.removed.get(address)?.published ?? null
  }
  for (const logged of events)
    if (logged.event.kind === 'SWAP') {
      const payload = swapObserved(state, pool, logged.event, logged, block)
      work.swaps.push({ pool, payload })
      tipJournal(state)?.swaps.push({ pool: pool.address, payload })
    }
  if (!pool.state.isBeforeGap) {
    setPoolState(state, pool, foldEvents(state, pool, events, block))
    triggers.price(work, pool)
  }
  noteNeeds(pool, work)
}

/** The reads that a changed pool needs from the chain. */
export function noteNeeds(pool: Pool, work: Work): void {
  if (pool.state.isBeforeGap) work.needs.push({ kind: 'load', pool: pool.address, why: 'REBASED' })
  else if (!pool.state.verified) work.needs.push({ kind: 'load', pool: pool.address, why: 'UNVERIFIED' })
  else if (pool.state.incomplete) work.needs.push({ kind: 'load', pool: pool.address, why: 'INCOMPLETE' })
}

/** A pool whose factory log is in this block: complete from its first moment, and empty. */
function bornIn(state: State, events: readonly PoolEvent[], block: Block): Pool | undefined {
  const creation = events.find(event => event.event.kind === 'CREATED')?.event
  if (creation?.kind !== 'CREATED') return undefined
  const empty = state.adapterOf(creation.pool.fee.family).empty(creation.pool.fee)
  const newborn = { ...newbornState(empty, block, null), average: depthAverage.start(0n, block.timeMs) }
  const pool = addPool(
    state,
    creation.pool,
    termsOf(state, creation.pool, null),
    { block: block.number, ms: block.timeMs },
    newborn,
  )
  tipJournal(state)?.created.add(pool.address)
  return pool
}

/** No more runs than this are kept; each one was ended by a block that could not be proven. */
const MAX_RUNS = 64

/** A proven block extends the run that ends just before it, or starts a new run; an unproven block ends it. */
function extendRuns(runs: readonly ProvenRun[], block: Block): readonly ProvenRun[] {
  if (block.proof === 'none') return runs
  const last = runs.at(-1)
  const isNext = last !== undefined && last.last === block.number - 1
  const run = { first: isNext ? last.first : block.number, last: block.number, lastMs: block.timeMs }
  return [...(isNext ? runs.slice(0, -1) : runs.slice(1 - MAX_RUNS)), run]
}

/**
 * While finality is behind, undo data is kept for a bounded number of blocks; a deeper reorganisation halts the
 * engine.
 */
function boundJournals(state: State): void {
  const excess = state.journals.length - state.policyView.policy.max_undo_blocks
  for (const { block } of state.journals.splice(0, Math.max(0, excess)))
    state.index.changed.add(`undo/${block.number}`)
}

function swapObserved(
  state: State,
  pool: Pool,
  swap: SwapEvent,
  { transactionHash, logIndex }: LogPosition,
  block: Block,
): SwapObserved {
  return {
    chain_id: state.setup.chainId,
    pool_id: pool.id,
    kind: 'SWAP',
    block_number: block.number,
    block_hash: block.hash,
    block_time_ms: block.timeMs,
    transaction_hash: transactionHash,
    log_index: logIndex,
    finality: 'canonical',
    proof: block.proof,
    ...pool.around.adapter.swapText(swap),
  }
}

/** Blocks up to `number` are final: they can no longer be undone, and the state of their pools is settled. */
export function applyFinality(state: State, number: Count, hash: Hex, work: Work): void {
  const known = state.chain.finalized
  if (known !== null && number <= known.number) return
  const own = state.journals.find(({ block }) => block.number === number)
  assert(
    own === undefined || own.block.hash === hash,
    () => `finalized ${number} ${hash} is not on our chain`,
  )
  state.chain = { ...state.chain, finalized: { number, hash } }
  state.index.changed.add('chain')
  const settled = state.journals.findIndex(({ block }) => block.number > number)
  for (const journal of state.journals.splice(0, settled < 0 ? state.journals.length : settled)) {
    state.index.changed.add(`undo/${journal.block.number}`)
    const pools = [...new Set([...journal.pools.keys(), ...journal.created])]
      .map(address => state.pools.get(address))
      .filter(pool => pool !== undefined && pool.state.changed.number <= number) as Pool[]
    triggers.finality(state, work, pools, [...journal.stables.keys(), ...journal.decimals.keys()])
  }
}
