/**
 * A fresh start at the head after a long stop (R-rebase-1). The blocks in between are not walked. They become a
 * recorded gap, the sequence of steps and records continues, and everything read from the chain before the gap counts
 * as unknown until it is loaded again.
 *
 * Only two facts about a pool survive a gap: when it was created and when it was last seen to trade.
 */
import type { Pool, PoolState, Token } from '../entities.ts'
import { assert } from '../assert.ts'
import type { Input } from '../input.ts'
import * as temporal from '../memory/temporalTape.ts'
import type { State } from '../state.ts'
import { count } from '../units.ts'
import { triggers } from '../triggers.ts'
import type { Work } from '../work.ts'
import type { BlockRef } from './block.ts'
import { noteNeeds, takeBack } from './blocks.ts'
import { setPoolState } from './changes.ts'
import { openJournal } from './journal.ts'

/** Gaps are remembered for readers of history. A chain with more of them has been down more often than up. */
const MAX_GAPS = 64

export function applyRebase(state: State, input: Extract<Input, { kind: 'rebase_head' }>, work: Work): void {
  const { block, ancestor, atMs } = input
  const [oldest] = state.journals
  if (ancestor !== state.chain.tip?.hash) {
    // It is unknown whether these blocks are still on the chain, so every record that rested on them is withdrawn.
    for (const journal of state.journals) work.orphaned.add(journal.block.hash)
    takeBack(state, ancestor, work)
    for (const pool of work.removed.keys()) work.needs.push({ kind: 'load', pool, why: 'ORPHANED' })
  }
  // Without a tip, even the very first block was undone; its parent is where we stopped.
  const stopped = {
    hash: ancestor,
    number: state.chain.tip?.number ?? count((oldest?.block.number ?? 1) - 1),
  }
  assert(
    block.number > stopped.number,
    () => `block ${block.number} ${block.hash} is not ahead of ${stopped.number} ${stopped.hash}`,
  )
  for (const journal of state.journals.splice(0)) state.index.changed.add(journal.key)
  noteGap(state, stopped, block, atMs)
  for (const pool of state.pools.values()) {
    forget(state, pool)
    triggers.liquidity(work, pool)
    noteNeeds(pool, work)
  }
  for (const token of state.tokens.values()) forgetPast(state, token)
  const journal = openJournal(block, stopped.hash, state.chain)
  state.journals.push(journal)
  state.index.changed.add('chain').add(journal.key)
  state.chain = {
    ...state.chain,
    tip: { number: block.number, hash: block.hash, timeMs: block.timeMs },
    proven: [],
  }
  work.everyone = true
}

/** A gap that ended at an undone block becomes part of the new one. */
function noteGap(
  { gaps, index }: State,
  stopped: Pick<BlockRef, 'number' | 'hash'>,
  block: BlockRef,
  atMs: Input['atMs'],
): void {
  while ((gaps.at(-1)?.toBlock ?? -1) > stopped.number) index.changed.add(`gap/${gaps.pop()?.toBlock}`)
  gaps.push({
    fromBlock: count(stopped.number + 1),
    toBlock: block.number,
    afterHash: stopped.hash,
    atMs,
  })
  index.changed.add(`gap/${block.number}`)
  for (const { toBlock } of gaps.splice(0, Math.max(0, gaps.length - MAX_GAPS)))
    index.changed.add(`gap/${toBlock}`)
}

/** Nothing is known about the values held during the gap. */
function forgetPast({ index }: State, token: Token): void {
  if (token.past === null) return
  token.past = null
  index.changed.add(`past/${token.address}`).add(`minutes/${token.address}`)
}

/** What is kept of a pool until it is loaded again. */
function forget(state: State, pool: Pool): void {
  const { adapter } = pool.around
  if (adapter.book(pool.terms) !== null) {
    pool.terms = adapter.terms(adapter.born(pool.terms), null)
    state.index.changed.add(`ticks/${pool.address}`)
  }
  const unknown: PoolState = {
    ...pool.state,
    isBeforeGap: true,
    verified: false,
    differences: [],
    incomplete: false,
    marginal: null,
    depth: null,
    depthY: null,
    evidence: null,
    average: null,
    history: temporal.EMPTY,
    visit: null,
    jump: null,
  }
  setPoolState(state, pool, unknown)
}
