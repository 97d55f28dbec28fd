/**
 * A pool pushed until its marginal price is a given multiple of the old one, by the exact swaps of its own contract,
 * and the cost of the round trip. Amounts are units; X and Y are those of the pool's orientation.
 */
import type { Boundary } from '../amm/adapter.ts'
import type { AmmState } from '../amm/families.ts'
import type { Side } from '../amm/states.ts'
import type { Address, Hex, PoolEvent } from '../chain/block.ts'
import type { Pool } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import { count } from '../units.ts'

export type PushSwap = {
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly before: AmmState
  readonly after: AmmState
}

export type Push = {
  readonly pool: Pool
  /** The input token. */
  readonly side: Side
  readonly swaps: readonly PushSwap[]
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** The proceeds of selling the whole output back, if nobody has traded meanwhile. */
  readonly amountBack: bigint
}

/**
 * The last swap of a sale may become the evidence of the block, at its own average price (R-evidence-5). So a sale
 * ends with a swap of this share, which either is too small for that or has an average equal to the final price.
 */
const LAST_SHARE = 100_000n

/** The unused side of a boundary when only one side is requested. */
const ASIDE = { up: { num: 102n, den: 100n }, down: { num: 98n, den: 100n } }

/** Null when the known state does not allow the pool to be brought there, or when it would not move at all. */
export function pushTo(pool: Pool, amm: AmmState, factor: Fraction): Push | null {
  const isUp = factor.num > factor.den
  const boundary: Boundary = isUp ? { ...ASIDE, up: factor } : { ...ASIDE, down: factor }
  const depth = pool.around.adapter.depth(pool.terms, amm, pool.x, boundary)
  if ('reason' in depth) return null
  const amount = isUp ? depth.up : depth.down
  const side: Side = isUp ? other(pool.x) : pool.x
  const last = isUp ? 0n : amount / LAST_SHARE
  const swaps: PushSwap[] = []
  let state = amm
  for (const part of [amount - last, last]) {
    if (part === 0n) continue
    const swap = swapOf(pool, state, side, part)
    if (swap === null) return null
    // A pair refuses a swap without output.
    if (swap.amountOut === 0n) continue
    swaps.push(swap)
    state = swap.after
  }
  if (swaps.length === 0) return null
  const amountOut = sum(swaps.map(swap => swap.amountOut))
  const back = swapOf(pool, state, other(side), amountOut)
  return {
    pool,
    side,
    swaps,
    amountIn: sum(swaps.map(swap => swap.amountIn)),
    amountOut,
    amountBack: back?.amountOut ?? 0n,
  }
}

export const inputOf = ({ pool, side }: Push): Address => (side === 0 ? pool.token0 : pool.token1)
export const outputOf = ({ pool, side }: Push): Address => (side === 0 ? pool.token1 : pool.token0)

/** The logs of all swaps, in the order of the pushes. */
export function logsOf(pushes: readonly Push[], transactionHash: Hex): PoolEvent[] {
  const logs: PoolEvent[] = []
  for (const { pool, side, swaps } of pushes)
    for (const swap of swaps) {
      const { family } = pool.terms
      for (const event of pool.around.adapter.swapped(side, swap, swap.after))
        logs.push({
          pool: pool.address,
          family,
          event,
          transactionHash,
          logIndex: count(logs.length),
        } as PoolEvent)
    }
  return logs
}

function swapOf(pool: Pool, before: AmmState, side: Side, amountIn: bigint): PushSwap | null {
  const swapped = pool.around.adapter.swapExactIn(pool.terms, before, side, amountIn)
  return 'reason' in swapped || swapped.amountIn < amountIn
    ? null
    : { amountIn, amountOut: swapped.amountOut, before, after: swapped.state }
}

const other = (side: Side): Side => (side === 0 ? 1 : 0)
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n)
