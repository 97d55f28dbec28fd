/**
 * Balances of pools, read at a block together with a probe (R-back-2): compared with the amounts the pool accounts
 * for at that block, and undone with it. A reading has no effect on a pool that has changed since.
 */
import { isPair } from '../amm/pair.ts'
import type { Pool } from '../entities.ts'
import type { PoolBalances } from '../sellabilityReading.ts'
import { type Backing, backingCap, hasExcess, type Holding } from '../rules/backing.ts'
import { roleOf } from '../setup.ts'
import type { State } from '../state.ts'
import { triggers } from '../triggers.ts'
import type { Work } from '../work.ts'
import type { BlockRef } from './block.ts'
import { placeOf, setPoolState } from './changes.ts'

export function applyBalances(
  state: State,
  block: BlockRef,
  read: readonly PoolBalances[],
  work: Work,
): void {
  const place = placeOf(state, block)
  if (place === null) return
  const { policy } = state.policyView
  for (const { pool: address, balances } of read) {
    const pool = state.pools.get(address)
    if (pool === undefined || roleOf(state.setup, pool.from) !== 'TOKEN') continue
    const before = pool.state.backing ?? null
    const isOlder = pool.state.changed.number > block.number || (before?.readMs ?? 0) > block.timeMs
    if (isOlder || pool.state.isBeforeGap || !pool.state.verified) continue
    const against = reckonedWith(pool)
    if (against === null) continue
    const holding = (side: 0 | 1): Holding => ({ balance: balances[side], against: against[side] })
    const holdings = [holding(0), holding(1)] as const
    const sinceMs = hasExcess(isPair(pool.state.amm), holdings, policy)
      ? (before?.excessSinceMs ?? block.timeMs)
      : null
    const next: Backing = { holdings, readMs: block.timeMs, excessSinceMs: sinceMs }
    setPoolState(state, pool, { ...pool.state, backing: next }, place.journal)
    const [was, is] = [before, next].map(each => backingCap(isPair(pool.state.amm), each, policy)?.cap)
    if (was !== is) triggers.liquidity(work, pool)
  }
}

/**
 * The accounted amount of each token: a pair's reserve, or the amount a pool would pay out until its price is 2%
 * away. Null when unknown.
 */
function reckonedWith({ terms, state, x, around }: Pool): readonly [bigint, bigint] | null {
  const { amm, depth } = state
  if (isPair(amm)) return [amm.reserve0, amm.reserve1]
  if (depth === null) return null
  const y = x === 0 ? 1 : 0
  const paid = (side: 0 | 1, amountIn: bigint): bigint | null => {
    if (amountIn === 0n) return 0n
    const swapped = around.adapter.swapExactIn(terms, amm, side, amountIn)
    return 'reason' in swapped ? null : swapped.amountOut
  }
  const [ofX, ofY] = [paid(y, depth.up), paid(x, depth.down)]
  if (ofX === null || ofY === null) return null
  return x === 0 ? [ofX, ofY] : [ofY, ofX]
}
