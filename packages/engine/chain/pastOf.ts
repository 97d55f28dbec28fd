/** The past of a whole pool that was read without its logs. */
import type { PoolState } from '../entities.ts'
import type { LoadedPool } from '../input.ts'
import * as depthAverage from '../rules/depthAverage.ts'
import { hasHistory } from '../rules/history.ts'
import { canonicalX } from '../setup.ts'
import type { State } from '../state.ts'
import type { BlockRef } from './block.ts'

/**
 * For a pool whose past could not be read (R-history-4). If other pools of its token have shown theirs, the pool has
 * to earn its weight beside them; if none has, there is nothing to prefer. `settled` is the pool as if its past had
 * never been requested.
 */
export function withPast(
  state: State,
  { pool, past, tradedByMs = null }: LoadedPool,
  { timeMs }: BlockRef,
  settled: PoolState,
): PoolState {
  if (past === undefined) return { ...settled, past: null }
  const token = canonicalX(state.setup, pool.token0, pool.token1) === 0 ? pool.token0 : pool.token1
  const { anchored = [], unanchored = [] } = state.index.ownPools.get(token) ?? {}
  const isBeside = [...anchored, ...unanchored].some(
    each => each.address !== pool.address && hasHistory(each.state, timeMs),
  )
  const unread = { kind: past, readMs: timeMs, isProven: false, times: 'EXACT', tradedByMs } as const
  const { depthY } = settled
  return isBeside && depthY !== null
    ? { ...settled, past: unread, average: depthAverage.startFromNothing(depthY, timeMs) }
    : { ...settled, past: unread }
}
