/** A plan of `cost/` carried out on a scenario: its swaps in the next block, then blocks in which nobody trades. */
import type { CostToMove, Found, Move } from '../cost/cost.ts'
import { costToMove } from '../cost/computeCost.ts'
import { isBelievable, MOVES } from '../cost/cost.ts'
import type { Push } from '../cost/push.ts'
import type { Side } from '../amm/states.ts'
import { T } from './cast.ts'
import type { Scenario } from './scenario.ts'
import { type SmallMarket, smallMarket } from './smallMarket.ts'
import { assert } from '../assert.ts'

type Searched = {
  readonly market: SmallMarket
  readonly cost: CostToMove
  readonly move: Move
  /** Null: no way was found. */
  readonly found: Found | null
}
export type FoundIn = Searched & { readonly found: Found }

export function foundIn(seed: number): FoundIn | null {
  const searched = searchedIn(seed)
  return searched === null || searched.found === null ? null : { ...searched, found: searched.found }
}

/** The seed's move in a small market; null if its price is not believed as it is. */
export function searchedIn(seed: number): Searched | null {
  const market = smallMarket(seed)
  const cost = costToMove(market.s.state, T, market.s.nowMs)
  const { evaluation } = cost.present
  if (!isBelievable(evaluation)) return null
  const move = MOVES[seed % MOVES.length] as Move
  return { market, cost, move, found: cost.of(move, evaluation) }
}

/** Swaps as stated: a chain that gives anything else is a fault. */
export function pushAll(s: Scenario, pushes: readonly Push[]): void {
  for (const { pool, side, swaps } of pushes)
    for (const { amountIn, amountOut } of swaps) swapExactly(s, pool.address, side, amountIn, amountOut)
}

export function swapExactly(
  s: Scenario,
  pool: Push['pool']['address'],
  side: Side,
  amountIn: bigint,
  amountOut: bigint,
): void {
  const paid = s.sim.quote(pool, side, amountIn).amountOut
  assert(paid === amountOut, () => `${amountIn} into ${pool} gives ${paid}, not ${amountOut}`)
  s.sim.swap(pool, side, amountIn)
}

/** Empty blocks, and timers when they are due, until so long after the block of the push. */
export function hold(s: Scenario, blockMs: number, forMs: number): void {
  const untilMs = s.tip.timeMs + forMs
  const blockDueMs = () => s.tip.timeMs + blockMs
  for (;;) {
    const timerMs = s.result.nextTimerMs
    if (timerMs !== null && timerMs > s.nowMs && timerMs < Math.min(blockDueMs(), untilMs)) s.timer()
    else if (blockDueMs() <= untilMs) s.mine({ afterMs: blockMs })
    else break
  }
  if (s.nowMs < untilMs) s.wait(untilMs - s.nowMs)
}
