/**
 * What the worker reads from the chain beside the blocks: whole pools, re-checks of quiet ones, and decimals. Each reading is made at a block and goes with it if that block is orphaned.
 *
 * A whole pool is only taken at the tip: the worker brings it forward. The others may have been read at any block
 * still on our chain, because blocks go on while a node answers; an older reading never replaces a newer one.
 */
import type { V2State, V3State } from '../amm/states.ts'
import type { Pool } from '../entities.ts'
import type { Difference } from '../amm/adapter.ts'
import type { LoadedPool, RecheckedPool, TokenFacts } from '../input.ts'
import { decimalsAfter } from '../rules/decimals.ts'
import type { State } from '../state.ts'
import { triggers } from '../triggers.ts'
import type { Work } from '../work.ts'
import type { Address, BlockRef } from './block.ts'
import { noteNeeds } from './blocks.ts'
import { isReplacedAbove, noteBook, placeOf, setDecimals, setPoolState, tipJournal } from './journal.ts'
import { notePasts } from './ownPast.ts'
import { newbornState, settle } from './poolFold.ts'
import { addPool, knownToken, poolsOf, termsOf } from './registry.ts'
import { visitAt } from './visit.ts'

const isTip = (state: State, block: BlockRef): boolean => state.chain.tip?.hash === block.hash

export function applyLoad(state: State, block: BlockRef, pools: readonly LoadedPool[], work: Work): void {
  const touched = new Set<Address>()
  for (const loaded of pools) {
    if (!isTip(state, block)) {
      work.needs.push({ kind: 'load', pool: loaded.pool.address, why: 'NOT_AT_TIP' })
      continue
    }
    const known = state.pools.get(loaded.pool.address)
    const before = known?.state
    const pool = known === undefined ? firstLoad(state, loaded, block) : reload(state, known, loaded, block)
    // One that said what was known of a sound pool has touched nothing.
    if (
      before === undefined ||
      !before.verified ||
      before.incomplete ||
      before.changed !== pool.state.changed
    )
      touched.add(pool.from)
    triggers.liquidity(work, pool)
    noteNeeds(pool, work)
  }
  notePasts(state, touched, block.timeMs, work)
}

function firstLoad(state: State, loaded: LoadedPool, block: BlockRef): Pool {
  const birth = { block: loaded.createdBlock, ms: loaded.createdMs }
  const newborn = newbornState(loaded.state, block, loaded.lastTradeMs)
  const pool = addPool(state, loaded.pool, termsOf(loaded.pool, loaded.ticks), birth, newborn)
  tipJournal(state)?.created.add(pool.address)
  setPoolState(state, pool, settle(pool, newborn, block, null, null, state.policyView.policy))
  return pool
}

/** A reload replaces what is known. Where the chain says the same, the block that last changed it stands. */
function reload(state: State, pool: Pool, loaded: LoadedPool, block: BlockRef): Pool {
  noteBook(state, { kind: 'reload', pool: pool.address, terms: pool.terms })
  pool.terms = termsOf(loaded.pool, loaded.ticks)
  const { state: before } = pool
  const read = {
    ...before,
    amm: loaded.state,
    verifiedNumber: block.number,
    verifiedMs: block.timeMs,
    verified: true,
    differences: [],
    incomplete: false,
    // Across a gap nothing is known of its past: it is taken up like a pool that was just found.
    trackedSinceMs: before.isBeforeGap ? block.timeMs : before.trackedSinceMs,
    isBeforeGap: false,
  }
  const isSame = !before.isBeforeGap && differencesOf(before.amm, loaded.state).length === 0
  // Another state than ours was visited like that of an event. Across a gap there is nothing to enter it with.
  const visit = before.isBeforeGap ? null : visitAt(before, block.timeMs, state.setup.blockTimeMs)
  const settled = settle(pool, read, block, visit, null, state.policyView.policy)
  const isKept = isSame && before.depthY === settled.depthY && before.evidence !== null
  setPoolState(
    state,
    pool,
    isKept
      ? { ...read, incomplete: settled.incomplete }
      : isSame
        ? { ...settled, changed: before.changed }
        : settled,
  )
  return pool
}

/** Of a pool that changed or was verified since the block it was read at, a re-check says nothing. */
export function applyRecheck(
  state: State,
  block: BlockRef,
  pools: readonly RecheckedPool[],
  work: Work,
): void {
  const place = placeOf(state, block)
  if (place === null) return
  for (const { address, state: seen } of pools) {
    const pool = state.pools.get(address)
    if (pool === undefined) continue
    const { state: before } = pool
    if (before.changed.number > block.number || before.verifiedNumber > block.number) continue
    const differences = differencesOf(before.amm, seen)
    if (differences.length === 0) {
      const verified = { ...before, verifiedNumber: block.number, verifiedMs: block.timeMs }
      setPoolState(state, pool, verified, place.journal)
      triggers.verified(work, pool)
      continue
    }
    setPoolState(state, pool, { ...before, verified: false, differences, changed: block }, place.journal)
    triggers.liquidity(work, pool)
    noteNeeds(pool, work)
  }
}

/** Where our state and the chain's differ: `event` is the chain's word. */
function differencesOf(ours: V2State | V3State, chain: V2State | V3State): Difference[] {
  const fields: [string, bigint, bigint][] =
    ours.family === 'amm_v2' && chain.family === 'amm_v2'
      ? [
          ['reserve0', chain.reserve0, ours.reserve0],
          ['reserve1', chain.reserve1, ours.reserve1],
        ]
      : ours.family === 'amm_v3' && chain.family === 'amm_v3'
        ? [
            ['sqrt_price_x96', chain.sqrtPriceX96, ours.sqrtPriceX96],
            ['tick', BigInt(chain.tick), BigInt(ours.tick)],
            ['liquidity', chain.liquidity, ours.liquidity],
          ]
        : []
  return fields
    .filter(([, theirs, own]) => theirs !== own)
    .map(([field, event, computed]) => ({ field, event, computed }))
}

export function applyFacts(state: State, block: BlockRef, facts: readonly TokenFacts[], work: Work): void {
  const place = placeOf(state, block)
  for (const each of facts) {
    const token = knownToken(state, each.token)
    if (place === null) {
      work.needs.push({ kind: 'token_facts', token: token.address })
      continue
    }
    const isOlder =
      (token.decimals?.block.number ?? 0) > block.number ||
      isReplacedAbove(state, block, 'decimals', token.address)
    if (isOlder) continue
    token.symbol = each.symbol
    token.name = each.name
    state.index.changed.add(`token/${token.address}`)
    const next = decimalsAfter(token.decimals, each, block)
    if (next === token.decimals) continue
    setDecimals(state, token, next, place.journal)
    triggers.decimals(state, work, token.address)
    // What they show is scaled by it.
    for (const pools of [poolsOf(state, token.address), state.index.poolsInto.get(token.address) ?? []])
      for (const pool of pools) if (pool.published !== null) work.pools.add(pool)
  }
}
