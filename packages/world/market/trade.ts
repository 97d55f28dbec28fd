/**
 * Actions on a pool, by the adapters' own rules: each changes the pool and returns the events its contract would
 * emit, or null when it would have had no effect.
 */
import type { Side } from '../../engine/amm/states.ts'
import type { V2State, V2Terms } from '../../engine/amm/v2/kind.ts'
import { v2 } from '../../engine/amm/v2/v2.ts'
import type { V3State, V3Terms } from '../../engine/amm/v3/kind.ts'
import { adapterOf } from '../../engine/amm/families.ts'
import { amount0Down, amount0Up, amount1Down, amount1Up } from '../../engine/amm/sqrtPriceMath.ts'
import * as swapLoop from '../../engine/amm/swapLoop.ts'
import { isSqrtPrice, MAX_SQRT_RATIO, MIN_SQRT_RATIO, sqrtRatioAtTick } from '../../engine/amm/tickMath.ts'
import type { NewPool } from '../../engine/chain/block.ts'
import type { Tick } from '../../engine/units.ts'
import type { Draft } from './chainClock.ts'
import { toUnits } from './liquidity.ts'

const v3 = adapterOf('amm_v3')

/** A tradable pool with its state. */
export type Tradable = { readonly born: NewPool } & (
  | { readonly terms: V2Terms; amm: V2State }
  | { readonly terms: V3Terms; amm: V3State }
)

type TradableV2 = Extract<Tradable, { readonly terms: V2Terms }>
type TradableV3 = Extract<Tradable, { readonly terms: V3Terms }>

export type Order = { readonly kind: 'EXACT_IN' | 'EXACT_OUT'; readonly amount: bigint }

/** Liquidity between two ticks; the whole liquidity for a pair. */
export type Position = { readonly lower: Tick; readonly upper: Tick; readonly liquidity: bigint }

const Q96 = 2 ** 96

export const isV3 = (pool: Tradable): pool is TradableV3 => pool.terms.family === 'amm_v3'

/** Atomic units of each token at the price: the reserves, or the amounts of a pair with this liquidity. */
export function reservesOf(pool: Tradable): readonly [number, number] {
  if (!isV3(pool)) return [Number(pool.amm.reserve0), Number(pool.amm.reserve1)]
  const root = Number(pool.amm.sqrtPriceX96) / Q96
  const liquidity = Number(pool.amm.liquidity)
  return [liquidity / root, liquidity * root]
}

/** Token1 per token0, atomic units. */
export function priceOf(pool: Tradable): number {
  if (isV3(pool)) return (Number(pool.amm.sqrtPriceX96) / Q96) ** 2
  return Number(pool.amm.reserve1) / Number(pool.amm.reserve0)
}

/** Swaps token `side` in. */
export function swap(pool: Tradable, side: Side, order: Order): Draft[] | null {
  if (isV3(pool)) return settleV3(pool, side, order, side === 0 ? MIN_SQRT_RATIO + 1n : MAX_SQRT_RATIO - 1n)
  if (order.kind === 'EXACT_IN') return swapInV2(pool, side, order.amount, null)
  const input = v2.smallestInput(pool.terms, pool.amm, side, order.amount)
  return typeof input === 'bigint' ? swapInV2(pool, side, input, order.amount) : null
}

/** Swaps the amount that brings the price to `price`, token1 per token0, as an arbitrageur would. */
export function swapTo(pool: Tradable, price: number): Draft[] | null {
  const side: Side = price < priceOf(pool) ? 0 : 1
  if (isV3(pool)) {
    const limitX96 = toUnits(Math.sqrt(price) * Q96)
    const { sqrtPriceX96 } = pool.amm
    const isAhead = side === 0 ? limitX96 < sqrtPriceX96 : limitX96 > sqrtPriceX96
    return isAhead && isSqrtPrice(limitX96) ? settleV3(pool, side, swapLoop.TO_LIMIT, limitX96) : null
  }
  const [reserve0, reserve1] = reservesOf(pool)
  const product = reserve0 * reserve1
  const input = side === 0 ? Math.sqrt(product / price) - reserve0 : Math.sqrt(product * price) - reserve1
  const { numerator, denominator } = pool.terms.fee
  return swapInV2(pool, side, toUnits((input * Number(denominator)) / Number(numerator)), null)
}

/** `asked` is the output an exact-output trader takes, even if the input would have paid for slightly more. */
function swapInV2(pool: TradableV2, side: Side, amountIn: bigint, asked: bigint | null): Draft[] | null {
  const swapped = v2.swapExactIn(pool.terms, pool.amm, side, amountIn)
  if ('reason' in swapped || swapped.amountIn < amountIn) return null
  const out = asked ?? swapped.amountOut
  if (out === 0n || out > swapped.amountOut) return null
  const [change0, change1] = side === 0 ? [amountIn, -out] : [-out, amountIn]
  const sync = syncBy(pool, change0, change1)
  const [amount0In, amount1In] = side === 0 ? [amountIn, 0n] : [0n, amountIn]
  const [amount0Out, amount1Out] = side === 0 ? [0n, out] : [out, 0n]
  const event = { kind: 'SWAP', amount0In, amount1In, amount0Out, amount1Out } as const
  return [sync, { pool: pool.born.address, family: 'amm_v2', event }]
}

function settleV3(pool: TradableV3, side: Side, order: swapLoop.Order, limitX96: bigint): Draft[] | null {
  const result = swapLoop.swap(pool.terms, pool.amm, side, order, limitX96)
  if ('reason' in result || result.liquidity === 0n) return null
  const { amount0, amount1, sqrtPriceX96, tick, liquidity } = result
  const moved = side === 0 ? -amount1 : -amount0
  if (moved <= 0n) return null
  pool.amm = { family: 'amm_v3', sqrtPriceX96, tick, liquidity }
  const event = { kind: 'SWAP', amount0, amount1, sqrtPriceX96, liquidity, tick } as const
  return [{ pool: pool.born.address, family: 'amm_v3', event }]
}

/** Adds this share of a pair's holdings, or withdraws it if negative. */
export function resizeV2(pool: TradableV2, partPpm: bigint): Draft[] | null {
  const { reserve0, reserve1 } = pool.amm
  const [change0, change1] = [(reserve0 * partPpm) / 1_000_000n, (reserve1 * partPpm) / 1_000_000n]
  if (change0 === 0n || change1 === 0n) return null
  const sync = syncBy(pool, change0, change1)
  const event =
    partPpm > 0n
      ? ({ kind: 'MINT', amount0: change0, amount1: change1 } as const)
      : ({ kind: 'BURN', amount0: -change0, amount1: -change1 } as const)
  return [sync, { pool: pool.born.address, family: 'amm_v2', event }]
}

/** Opens or closes a whole position of a concentrated pool. */
export function place(pool: TradableV3, kind: 'MINT' | 'BURN', position: Position): Draft[] | null {
  const { lower, upper, liquidity } = position
  const amounts = amountsOf(pool.amm, kind, position)
  const event = { kind, tickLower: lower, tickUpper: upper, liquidity, ...amounts } as const
  const applied = v3.apply(pool.terms, pool.amm, pool.amm, event)
  if (applied.verdict !== 'verified') return null
  pool.amm = applied.state
  return [{ pool: pool.born.address, family: 'amm_v3', event }]
}

function syncBy(pool: TradableV2, change0: bigint, change1: bigint): Draft {
  const reserve0 = pool.amm.reserve0 + change0
  const reserve1 = pool.amm.reserve1 + change1
  pool.amm = { family: 'amm_v2', reserve0, reserve1 }
  return { pool: pool.born.address, family: 'amm_v2', event: { kind: 'SYNC', reserve0, reserve1 } }
}

/** The amounts of a position: rounded up for a deposit, down for a withdrawal, as in the contract. */
function amountsOf(state: V3State, kind: 'MINT' | 'BURN', { lower, upper, liquidity }: Position) {
  const [low, high] = [sqrtRatioAtTick(lower), sqrtRatioAtTick(upper)]
  const [of0, of1] = kind === 'MINT' ? [amount0Up, amount1Up] : [amount0Down, amount1Down]
  if (state.tick < lower) return { amount0: of0(low, high, liquidity), amount1: 0n }
  if (state.tick >= upper) return { amount0: 0n, amount1: of1(low, high, liquidity) }
  const price = state.sqrtPriceX96
  return { amount0: of0(price, high, liquidity), amount1: of1(low, price, liquidity) }
}
