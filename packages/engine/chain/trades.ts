/** Renews the last trade of each pool from a block's swaps, once all of the block's pools have their final state. */
import { once } from '../exact/once.ts'
import type { Pool } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import { unitWorth } from '../price/hops/unitWorth.ts'
import { saleOf } from '../rules/evidence.ts'
import { isTrade, type Traded } from '../rules/lastTrade.ts'
import { referenceInput } from '../rules/referenceInput.ts'
import type { State } from '../state.ts'
import type { Ms } from '../units.ts'
import type { Address, BlockRef, PoolEvent } from './block.ts'
import { setPoolState } from './changes.ts'

type Trade = Traded & { readonly isSale: boolean }

export function renewTrades(
  state: State,
  byPool: ReadonlyMap<Address, readonly PoolEvent[]>,
  { timeMs }: BlockRef,
): void {
  const units = new Map<Address, Fraction | null>()
  const unitOf = (y: Address) => once(units, y, each => unitMicrousd(state, each, timeMs))
  for (const [address, events] of byPool) {
    const pool = state.pools.get(address)
    if (pool === undefined) continue
    const trades = tradesIn(state, pool, events, unitOf)
    if (trades.length === 0) continue
    const isSold = trades.some(({ isSale }) => isSale)
    const traded = { ...pool.state, lastTradeMs: timeMs }
    setPoolState(state, pool, isSold ? { ...traded, lastSaleMs: timeMs } : traded)
  }
}

/** Those of its swaps that count as trades. */
function tradesIn(
  { policyView: { policy } }: State,
  pool: Pool,
  events: readonly PoolEvent[],
  unitOf: (y: Address) => Fraction | null,
): readonly Trade[] {
  const trades: Trade[] = []
  for (const { event } of events) {
    if (event.kind !== 'SWAP') continue
    const { input, output } = saleOf(pool, event)
    trades.push({ x: sizeOf(input), y: sizeOf(output), isSale: input > 0n })
  }
  if (policy.revision === 1 || trades.length === 0) return trades
  const reference = referenceOf(pool, policy)
  if (reference === null) return []
  const unit = unitOf(pool.to)
  return trades.filter(traded => isTrade(traded, reference, unit, policy))
}

/** The value of a unit of Y at the block. */
function unitMicrousd(state: State, y: Address, timeMs: Ms): Fraction | null {
  const worth = unitWorth(state, y, timeMs)
  return worth === null ? null : { num: worth.num * 1_000_000n, den: worth.den }
}

/** Null without evidence: a pool that prices nothing has no size to measure a trade by. */
function referenceOf(pool: Pool, policy: State['policyView']['policy']): bigint | null {
  const { evidence, amm, depth } = pool.state
  if (evidence === null || depth === null) return null
  // A simulated sale already is a sale of the reference input.
  return evidence.kind === 'SIMULATED_SWAP' ? evidence.amountIn : referenceInput(pool, amm, depth, policy)
}

const sizeOf = (net: bigint): bigint => (net < 0n ? -net : net)
