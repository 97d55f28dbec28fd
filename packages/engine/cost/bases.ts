/**
 * The sets of pools that may carry a wanted price together: of each, the search decides which pools are pushed and how
 * far.
 */
import { once } from '../exact/once.ts'
import type { Address } from '../chain/block.ts'
import type { Pool } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Priced, Route } from '../price/evaluation.ts'
import type { Wanted } from './belief.ts'
import { Lever, type Onward, type Role, type UnitOf } from './lever.ts'
import type { Look } from './rehearsal.ts'

export type Bases = {
  /** The token's own pools; and for each asset, its pools with the token's own pools that lead elsewhere. */
  readonly whole: readonly (readonly Lever[])[]
  /** The token's own pools, and the pools that its routes go through next. */
  readonly mixed: readonly Lever[]
}

/** Assets, besides the token, whose own pools are tried: those with the heaviest routes. */
const MAX_ASSETS = 3

/** The most pools of a token, or of an asset, that may be pushed: those with the most weight. */
const MAX_LEVERS = 64

export function basesOf(
  { moment }: Look,
  priced: Priced,
  wantedOf: (priced: Priced) => Wanted,
  further: Fraction,
  unitOf: UnitOf,
): Bases {
  const { isUp, target } = wantedOf(priced)
  const aimOf = (price: Fraction, goal: Fraction): Fraction =>
    isUp
      ? { num: goal.num * further.num * price.den, den: goal.den * further.den * price.num }
      : { num: goal.num * further.den * price.den, den: goal.den * further.num * price.num }
  const leversOf = (routes: readonly Route[], goal: Fraction, role: Role): Lever[] =>
    heaviest(routes, role === 'next' ? nextOf : firstOf).map(
      ({ pool, onwards }) =>
        new Lever(pool, role, onwards, aimOf((onwards[0] as Onward).price, goal), unitOf),
    )
  const own = leversOf(priced.routes, target, 'own')
  const assets = assetsOf(priced.routes).flatMap(asset => {
    const evaluation = moment.valuations.get(asset)?.evaluation
    if (asset === priced.token || evaluation?.kind !== 'PRICED') return []
    const levers = leversOf(evaluation.routes, wantedOf(evaluation).target, 'asset')
    return [[...own.filter(({ pool }) => pool.to !== asset), ...levers]]
  })
  return { whole: [own, ...assets], mixed: [...own, ...leversOf(priced.routes, target, 'next')] }
}

const firstOf = ({ first }: Route): Pool => first.pool
const nextOf = ({ via }: Route): Pool | null => via?.route.first.pool ?? null

/** Pools of qualified routes, heaviest first, ties by address; each with its routes, heaviest first. */
function heaviest(
  routes: readonly Route[],
  poolOf: (route: Route) => Pool | null,
): { readonly pool: Pool; readonly onwards: readonly Onward[] }[] {
  const pools = new Map<Pool, { weight: bigint; readonly onwards: Onward[] }>()
  for (const route of routes) {
    const { price, failure, weight, capacity } = route
    const pool = poolOf(route)
    if (price === null || failure !== null || pool === null) continue
    const known = once(pools, pool, () => ({ weight: 0n, onwards: [] }))
    known.weight += weight
    known.onwards.push({ price, weight, capacity, next: nextOf(route) })
  }
  return [...pools]
    .sort(([a, x], [b, y]) =>
      x.weight !== y.weight ? (x.weight > y.weight ? -1 : 1) : a.address < b.address ? -1 : 1,
    )
    .slice(0, MAX_LEVERS)
    .map(([pool, { onwards }]) => ({
      pool,
      onwards: onwards.sort((a, b) => (a.weight < b.weight ? 1 : a.weight > b.weight ? -1 : 0)),
    }))
}

/** Assets that the first hops lead to, by the weight that goes through them. */
function assetsOf(routes: readonly Route[]): Address[] {
  const weights = new Map<Address, bigint>()
  for (const { via, weight, first } of routes)
    if (via !== null) weights.set(first.pool.to, (weights.get(first.pool.to) ?? 0n) + weight)
  return [...weights]
    .sort(([a, x], [b, y]) => (x !== y ? (x > y ? -1 : 1) : a < b ? -1 : 1))
    .slice(0, MAX_ASSETS)
    .map(([asset]) => asset)
}
