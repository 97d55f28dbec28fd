/** A pool on the engine stage: a pair, or a pool of any family with ticks. Both make the same moves. */
import { type Band, POOL_FAMILIES, type PoolSpec, type PoolTerms, sizes } from '@assay/world'
import type { AmmState } from '../../packages/engine/amm/families.ts'
import type { TickFamily } from '../../packages/engine/testing/tickFamilies.ts'
import { assert } from '../../packages/engine/assert.ts'
import type { Address } from '../../packages/engine/chain/block.ts'
import type { Scenario } from '../../packages/engine/testing/scenario.ts'
import type { Ms } from '../../packages/engine/units.ts'

const { liquidityOf, pairOf, snap, tickOf } = sizes
/** Without a band of its own, liquidity reaches from a quarter of the price to four times it. */
const WIDE: Band = [0.25, 4]
const Q96 = 2 ** 96

export type Asset = sizes.Coin & { readonly address: Address }
export type Side = 0 | 1
export type Pool = {
  readonly address: Address
  readonly of: Asset
  readonly other: Asset
  readonly spec: PoolSpec
  /** The side of the pool that is the token. */
  readonly side: Side
  readonly held: Map<number, Held>
  readonly moves: Moves
}

/** Shares of a pair, or liquidity between two ticks. */
type Held = { readonly amount: bigint; readonly ticks: Ticks | null }
type Ticks = readonly [lower: number, upper: number]

type Moves = {
  create(s: Scenario, pool: Pool, lastTradeMs: Ms): Held
  add(s: Scenario, pool: Pool, depth: number, band: Band): Held
  take(s: Scenario, pool: Pool, held: Held, amount: bigint): void
}

export function movesOf({ family = 'v2', feePpm = 3000 }: PoolSpec): Moves {
  const { name, termsOf } = POOL_FAMILIES[family]
  return termsOf === null ? pair : banded(name as TickFamily, termsOf(feePpm))
}

export const bandOf = ({ spec }: Pool, band?: Band): Band => band ?? spec.band ?? WIDE

export const other = (side: Side): Side => (side === 0 ? 1 : 0)

/** Dollars per token at a pool's marginal price, with the other side at its planned value. */
export function usdOf({ side, of, other: against }: Pool, state: AmmState): number {
  const raw =
    'reserve0' in state
      ? Number(state.reserve1) / Number(state.reserve0)
      : (Number(state.sqrtPriceX96) / Q96) ** 2
  const atomic = side === 0 ? raw : 1 / raw
  return atomic * 10 ** (of.decimals - against.decimals) * against.usd
}

/** A pair's reserves of the token and of the other side; null for any other pool. */
export function reservesOf(s: Scenario, { address, side }: Pool): readonly [bigint, bigint] | null {
  const state = s.sim.amm(address)
  if (!('reserve0' in state)) return null
  return inOrder(side, state.reserve0, state.reserve1)
}

/** From the token's orientation to the pool's, and back. */
export const inOrder = (side: Side, x: bigint, y: bigint): readonly [bigint, bigint] =>
  side === 0 ? [x, y] : [y, x]

const optionsOf = ({ spec: { family = 'v2', factory = 'a' } }: Pool, lastTradeMs: Ms) => ({
  deployment: `${family}-${factory}`,
  lastTradeMs,
})

const pair: Moves = {
  create(s, pool, lastTradeMs) {
    const { of, other: against, spec } = pool
    const [x, y] = pairOf(of, against, spec.depth)
    const sides = [
      [of.address, x],
      [against.address, y],
    ] as const
    const options = optionsOf(pool, lastTradeMs)
    if (spec.isNew === true) s.bornV2(pool.address, ...sides, options)
    else s.v2(pool.address, ...sides, options)
    return { amount: x, ticks: null }
  },

  add(s, pool, depth) {
    const [x, y] = pairReserves(s, pool)
    const [dx] = pairOf({ ...pool.of, usd: usdNow(s, pool) }, pool.other, depth)
    const shares = (dx * sharesOf(pool)) / x
    setReserves(s, pool, x + dx, y + (dx * y) / x)
    return { amount: shares, ticks: null }
  },

  take(s, pool, _held, amount) {
    const [x, y] = pairReserves(s, pool)
    const all = sharesOf(pool)
    const left = all - amount
    setReserves(s, pool, (x * left) / all, (y * left) / all)
  },
}

function banded(family: TickFamily, { feePpm, tickSpacing }: PoolTerms): Moves {
  const ticksOf = (pool: Pool, usd: number, [low, high]: Band): Ticks => {
    const ticks = [low, high].map(times => snap(tickOf(rawOf(pool, usd * times)), tickSpacing))
    const [lower, upper] = ticks.toSorted((a, b) => a - b) as [number, number]
    return [lower, upper === lower ? lower + tickSpacing : upper]
  }
  const heldAt = (pool: Pool, usd: number, depth: number, band: Band) => {
    const paidIn = pool.side === 0 ? pool.other : { ...pool.of, usd }
    return { amount: liquidityOf(paidIn, rawOf(pool, usd), depth), ticks: ticksOf(pool, usd, band) }
  }
  return {
    create(s, pool, lastTradeMs) {
      const { of, other: against, spec } = pool
      const held = heldAt(pool, of.usd, spec.depth, bandOf(pool))
      const options = {
        ...optionsOf(pool, lastTradeMs),
        family,
        feePpm: BigInt(feePpm),
        tickSpacing,
        tick: Math.round(tickOf(rawOf(pool, of.usd))),
        positions: [[...held.ticks, held.amount]] as const,
      }
      if (spec.isNew === true) s.bornV3(pool.address, of.address, against.address, options)
      else s.v3(pool.address, of.address, against.address, options)
      return held
    },

    add(s, pool, depth, band) {
      const held = heldAt(pool, usdNow(s, pool), depth, band)
      s.sim.liquidity(pool.address, ...held.ticks, held.amount)
      return held
    },

    take(s, pool, { ticks }, amount) {
      s.sim.liquidity(pool.address, ...(ticks as Ticks), -amount)
    },
  }
}

const usdNow = (s: Scenario, pool: Pool): number => usdOf(pool, s.sim.amm(pool.address))

function rawOf({ side, of, other: against }: Pool, usd: number): number {
  const token = { ...of, usd }
  return side === 0 ? sizes.rawPrice(token, against) : sizes.rawPrice(against, token)
}

/** All shares are held by somebody. */
const sharesOf = ({ held }: Pool): bigint => [...held.values()].reduce((sum, { amount }) => sum + amount, 0n)

function pairReserves(s: Scenario, pool: Pool): readonly [bigint, bigint] {
  const reserves = reservesOf(s, pool)
  assert(reserves !== null, () => `${pool.address} is not a pair`)
  return reserves
}

function setReserves(s: Scenario, { address, side }: Pool, x: bigint, y: bigint): void {
  s.sim.reserves(address, ...inOrder(side, x, y))
}
