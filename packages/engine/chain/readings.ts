/**
 * Data that the worker reads from the chain in addition to blocks: whole pools, re-checks of quiet ones, and
 * decimals. Each reading is made at a block and is undone if that block is orphaned.
 *
 * A whole pool is accepted only at the tip: the worker brings it forward. The others may have been read at any block
 * still on our chain, because blocks continue while a node answers; an older reading never replaces a newer one.
 */
import type { Pool } from '../entities.ts'
import type { LoadedPool, RecheckedPool, TokenFacts } from '../input.ts'
import { decimalsAfter } from '../rules/decimals.ts'
import type { State } from '../state.ts'
import { triggers } from '../triggers.ts'
import type { Work } from '../work.ts'
import type { Address, BlockRef } from './block.ts'
import { noteNeeds } from './blocks.ts'
import { isReplacedAbove, isTip, placeOf, setDecimals, setPoolState, tipJournal } from './changes.ts'
import { notePasts } from './ownPast.ts'
import { withPast } from './pastOf.ts'
import { newbornState, settle } from './poolFold.ts'
import { reload } from './reload.ts'
import { addPool, knownToken, poolsOf, termsOf } from './registry.ts'

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
    // A reading that confirms the known state of a sound pool touches nothing.
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
  const pool = addPool(state, loaded.pool, termsOf(state, loaded.pool, loaded.ticks), birth, newborn)
  tipJournal(state)?.created.add(pool.address)
  const settled = settle(pool, newborn, block, null, null, state.policyView.policy)
  setPoolState(state, pool, withPast(state, loaded, block, settled))
  return pool
}

/** A re-check proves nothing about a pool that has changed or was verified after the block of the re-check. */
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
    const differences = pool.around.adapter.differences(pool.terms, before.amm, seen)
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
    // The values these pools show are scaled by the decimals.
    for (const pools of [poolsOf(state, token.address), state.index.poolsInto.get(token.address) ?? []])
      for (const pool of pools) if (pool.published !== null) work.pools.add(pool)
  }
}
