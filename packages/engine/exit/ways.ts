/**
 * The ways out of a token: its accepted routes as chains of pools to sell through, and the values of their stables.
 *
 * Every hop sells the pool's X for its Y, so the pools form a graph without cycles: the token first, then routing
 * assets from the last listed to the first. A plan in this order visits each pool once.
 */
import { once } from '../exact/once.ts'
import type { AmmState } from '../amm/families.ts'
import type { Address } from '../chain/block.ts'
import type { Pool } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Edge, Priced, Route, StableView } from '../price/evaluation.ts'
import type { State } from '../state.ts'
import { BPS, MICRO, type Count, count } from '../units.ts'

export type Amm = AmmState

export type Way = {
  readonly id: string
  /** Its index among the ways. */
  readonly at: Count
  readonly pools: readonly Pool[]
  readonly stable: StableView
  /** Microdollars per smallest unit of the stable. */
  readonly unitMicrousd: Fraction
}

/** The amount of the token given to each way; a missing way gets nothing. */
export type Shares = ReadonlyMap<Way, bigint>

/** A pool, and the ways through it. */
export type Stop = { readonly pool: Pool; readonly through: readonly Way[] }

export type WaysOut = {
  readonly ways: readonly Way[]
  /** In the order in which a plan sells through them. */
  readonly stops: readonly Stop[]
  /** The token's tax on an amount sent to a pool, in bps. */
  readonly taxBps: bigint
}

export function waysOut(state: State, { routes }: Priced, taxBps = 0n): WaysOut {
  const ways = routes
    .filter(route => route.exclusion === null)
    .map((route, at) => wayOf(state, route, count(at)))
  const ranks = new Map(state.setup.routingAssets.map((asset, rank) => [asset, rank]))
  const rankOf = ({ from }: Pool): number => ranks.get(from) ?? ranks.size
  const firsts = new Set(ways.map(({ pools }) => pools[0] as Pool))
  const behind = new Set(ways.flatMap(({ pools }) => pools.slice(1)))
  const pools = [
    ...[...firsts].sort(byAddress),
    ...[...behind].sort((a, b) => rankOf(b) - rankOf(a) || byAddress(a, b)),
  ]
  const stops = pools.map(pool => ({ pool, through: ways.filter(way => way.pools.includes(pool)) }))
  return { ways, stops, taxBps }
}

/** The amount that arrives in a first pool, rounded down: a token that rounds its tax down leaves more. */
export const arriving = (amount: bigint, taxBps: bigint): bigint =>
  taxBps === 0n ? amount : (amount * (BPS - taxBps)) / BPS

/** The proceeds of selling an amount in a first pool, shared by the ways that begin with that pool. */
export type FirstSales = Map<Pool, Sold | null>

/** The proceeds of one way alone for all of it, in its stable; null when the way does not hold that much. */
export function sellAlong({ pools }: Way, amount: bigint, taxBps: bigint, firsts: FirstSales): bigint | null {
  const [first, ...behind] = pools as readonly [Pool, ...Pool[]]
  const known = once(firsts, first, pool => sell(pool, pool.state.amm, arriving(amount, taxBps)))
  if (known === null) return null
  let held = known.amountOut
  for (const pool of behind) {
    const sold = sell(pool, pool.state.amm, held)
    if (sold === null) return null
    held = sold.amountOut
  }
  return held
}

export type Sold = { readonly amountOut: bigint; readonly state: Amm }

/**
 * The output in Y for `amount` of a pool's X, and the state after; null when liquidity or the known range ends first.
 */
export function sell(pool: Pool, amm: Amm, amount: bigint): Sold | null {
  const swapped = pool.around.adapter.swapExactIn(pool.terms, amm, pool.x, amount)
  return 'reason' in swapped || swapped.amountIn < amount ? null : swapped
}

function wayOf(state: State, { id, edges, stable }: Route, at: Count): Way {
  const { token, usd } = stable as StableView
  const decimals = state.tokens.get(token)?.decimals?.value ?? 0
  return {
    id,
    at,
    pools: edges.map(({ pool }: Edge) => pool),
    stable: stable as StableView,
    unitMicrousd: { num: usd.num * MICRO, den: usd.den * 10n ** BigInt(decimals) },
  }
}

const byAddress = (a: { readonly address: Address }, b: { readonly address: Address }): number =>
  a.address < b.address ? -1 : 1
