/**
 * The effects of a block on the pools of a simulated chain: trades around the initial price of a pool, liquidity that
 * is added and removed, and an occasional rug. Nothing drifts away, however long a chain lives.
 */
import { adapterOf, type AmmState } from '../../packages/engine/amm/families.ts'
import type { Family } from '../../packages/engine/amm/familyNames.ts'
import type { Slot } from '../../packages/engine/amm/states.ts'
import type { V2State } from '../../packages/engine/amm/v2/kind.ts'
import type { Address } from '../../packages/engine/index.ts'
import type { ChainSim } from '../../packages/engine/testing/chainSim.ts'
import type { PoolSpec, Random } from '../../packages/engine/testing/randomMarket.ts'

/** Positions to remove later, by pool. */
export type Positions = ReadonlyMap<
  Address,
  { readonly lower: number; readonly upper: number; readonly amount: bigint }
>

/** The most trades in a block. */
const MOST = 4
/** The distance in ticks from a pool's initial price at which trades reverse: far inside its liquidity. */
const FAR_TICKS = 250
const POSITION_TICKS = 60
/** Where the fee of a pool changes that has none of its own, and from what on: a protocol's is at most 1,000. */
const FEE_TICKS = 5
const LEAST_FEE_PPM = 100

/** Trades, and the resulting positions. `origins` are the initial states of the pools. */
export function trade(
  random: Random,
  sim: ChainSim,
  pools: readonly PoolSpec[],
  origins: ReadonlyMap<Address, AmmState>,
  before: Positions,
): Positions {
  const positions = new Map(before)
  for (let n = random.below(MOST + 1); n > 0; n--) {
    const { address } = random.pick(pools)
    const origin = origins.get(address)
    const amm = sim.amm(address)
    if (origin === undefined) continue
    if ('reserve0' in amm && 'reserve0' in origin) tradePair(random, sim, address, amm, origin)
    else if ('tick' in amm && 'tick' in origin) tradeTicks(random, sim, address, amm, origin, positions)
  }
  return positions
}

function tradePair(random: Random, sim: ChainSim, pool: Address, amm: V2State, origin: V2State): void {
  const isDust = amm.reserve0 * 1000n < origin.reserve0 || amm.reserve1 * 1000n < origin.reserve1
  if (isDust || random.chance(0.08)) {
    const halves = BigInt(1 + random.below(3))
    sim.reserves(pool, (origin.reserve0 * halves) / 2n, (origin.reserve1 * halves) / 2n)
  } else if (random.chance(0.02))
    sim.reserves(pool, amm.reserve0 / 1_000_000n + 1n, amm.reserve1 / 1_000_000n + 1n)
  else {
    const side = random.pick([0, 1] as const)
    const reserve = side === 0 ? amm.reserve0 : amm.reserve1
    if (reserve > 1_000_000n)
      sim.swap(pool, side, reserve / BigInt(random.pick([20_000, 2_000, 300, 40, 9])) + 1n)
  }
}

function tradeTicks(
  random: Random,
  sim: ChainSim,
  pool: Address,
  amm: AmmState & Slot,
  origin: Slot,
  positions: Map<Address, { lower: number; upper: number; amount: bigint }>,
): void {
  if (random.chance(0.2)) {
    const held = positions.get(pool)
    if (held !== undefined) {
      sim.liquidity(pool, held.lower, held.upper, -held.amount)
      positions.delete(pool)
      return
    }
    const lower = (Math.floor(amm.tick / POSITION_TICKS) - 1 - random.below(5)) * POSITION_TICKS
    const upper = lower + POSITION_TICKS * (2 + random.below(8))
    const amount = amm.liquidity / 3n + 1n
    sim.liquidity(pool, lower, upper, amount)
    positions.set(pool, { lower, upper, amount })
    return
  }
  // Without a draw, so that lives of old seeds stay what they were.
  const away = amm.tick - origin.tick
  if (adapterOf<Family>(amm.family).feeNow !== null && away % FEE_TICKS === 0)
    sim.fee(pool, LEAST_FEE_PPM + Math.abs(away))
  const side = away > FAR_TICKS ? 0 : away < -FAR_TICKS ? 1 : random.pick([0, 1] as const)
  const inRange =
    side === 0 ? (amm.liquidity << 96n) / amm.sqrtPriceX96 : (amm.liquidity * amm.sqrtPriceX96) >> 96n
  if (inRange > 1_000_000n)
    sim.swap(pool, side, inRange / BigInt(random.pick([30_000, 2_000, 400, 150])) + 1n)
}
