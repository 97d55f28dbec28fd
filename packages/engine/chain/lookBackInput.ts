/**
 * Adds pools with the past that was folded for them, and pools whose past could not be read. A pool with an unbroken
 * history of its own keeps it: a look-back knows less.
 */
import type { Pool } from '../entities.ts'
import type { Input, LoadedPool, LookedBack, LookedPast } from '../input.ts'
import { joined } from '../rules/pastJoin.ts'
import type { State } from '../state.ts'
import { triggers } from '../triggers.ts'
import type { Work } from '../work.ts'
import type { Address, BlockRef } from './block.ts'
import { noteNeeds } from './blocks.ts'
import { isTip, noteBook, setPoolState, setTokenPast, tipJournal } from './changes.ts'
import { notePasts } from './ownPast.ts'
import { reload } from './reload.ts'
import { addPool, knownToken, termsOf } from './registry.ts'

export function applyLookBack(
  state: State,
  { block, pools, pasts = [] }: Extract<Input, { kind: 'look_back' }>,
  work: Work,
): void {
  const whole = isTip(state, block) ? takePasts(state, block, pasts) : new Set()
  const touched = new Set<Address>()
  for (const looked of pools) {
    const known = state.pools.get(looked.pool.address)
    if (!isTip(state, block)) {
      work.needs.push({ kind: 'load', pool: looked.pool.address, why: 'NOT_AT_TIP' })
      continue
    }
    const pool =
      known === undefined
        ? enter(state, looked)
        : known.state.isBeforeGap
          ? takeUp(state, known, looked)
          : reload(state, known, loadedOf(looked), block)
    // A past that was taken over whole already includes these pools.
    if (!whole.has(pool.from)) touched.add(pool.from)
    triggers.liquidity(work, pool)
    noteNeeds(pool, work)
  }
  notePasts(state, touched, block.timeMs, work)
}

/** Takes the folded past of tokens that had none. Returns the tokens whose past was taken over unchanged. */
function takePasts(state: State, block: BlockRef, pasts: readonly LookedPast[]): ReadonlySet<Address> {
  const whole = new Set<Address>()
  for (const { token: address, past: folded } of pasts) {
    const token = knownToken(state, address)
    const next = joined(token.past, folded, block.timeMs)
    if (next === token.past) continue
    if (next === folded) whole.add(address)
    setTokenPast(state, token, next)
  }
  // Some of them may have been touched in the moment of the tip.
  if (pasts.length > 0) state.index.touched = null
  return whole
}

function enter(
  state: State,
  { pool: born, createdBlock, createdMs, ticks, state: folded }: LookedBack,
): Pool {
  const birth = { block: createdBlock, ms: createdMs }
  const pool = addPool(state, born, termsOf(state, born, ticks), birth, folded)
  tipJournal(state)?.created.add(pool.address)
  setPoolState(state, pool, folded)
  return pool
}

/** A pool that is known by now: its state as read, without its past. */
const loadedOf = ({ state: { amm, lastTradeMs }, ...read }: LookedBack): LoadedPool => ({
  ...read,
  state: amm,
  lastTradeMs,
})

/** Takes up a pool after a gap. Its last trade before the gap still counts. */
function takeUp(state: State, pool: Pool, { pool: born, ticks, state: folded }: LookedBack): Pool {
  noteBook(state, { kind: 'reload', pool: pool.address, terms: pool.terms })
  pool.terms = termsOf(state, born, ticks)
  const { lastTradeMs, lastSaleMs } = pool.state
  const sold = folded.lastSaleMs ?? lastSaleMs
  const seen = {
    lastTradeMs: folded.lastTradeMs ?? lastTradeMs,
    ...(sold === undefined ? {} : { lastSaleMs: sold }),
  }
  setPoolState(state, pool, { ...folded, ...seen })
  return pool
}
