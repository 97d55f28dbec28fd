/**
 * What it would cost to make the service publish another price of a token at a score that readers accept (R-cost):
 * for each move, the cheapest plan found, tried on a rehearsal by the live rules. This is an upper bound: cheaper
 * attacks may exist.
 */
import type { Address } from '../chain/block.ts'
import { powerOfTen } from '../exact/decimal.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Ratio } from '../exact/ratio.ts'
import type { Pool } from '../entities.ts'
import type { Evaluation, Priced, Route } from '../price/evaluation.ts'
import { type Count, count, type Ms, ms, type Score } from '../units.ts'
import { BELIEVED, heldFor, type Wanted } from './belief.ts'
import { Lever, type Onward, type UnitOf } from './lever.ts'
import type { Push } from './push.ts'
import type { Look, Rehearsal } from './rehearsal.ts'
import { restoredLoss } from './restored.ts'
import { type FoundPlan, Search } from './search.ts'

/** A change of the published price. */
export type Move = { readonly isUp: boolean; readonly bps: Count }

export const MOVES: readonly Move[] = [100, 500, 1000].flatMap(bps => [
  { isUp: true, bps: count(bps) },
  { isUp: false, bps: count(bps) },
])

export type Found = {
  /** The price published in the end. */
  readonly price: Ratio
  readonly score: Score
  /** Microdollars. */
  readonly capital: bigint
  readonly loss: bigint
  /** Null: while others restore the pools in every block, the price is never accepted. */
  readonly lossRestored: bigint | null
  readonly holdMs: Ms
  readonly holdBlocks: Count
  readonly pushes: readonly Push[]
}

/**
 * Pools are pushed this much further than required: amounts are whole units, and the evidence is the average of a
 * small sale. The second value is for pools with few units.
 */
const FURTHER: readonly Fraction[] = [
  { num: 50_001n, den: 50_000n },
  { num: 1_001n, den: 1_000n },
]

/** Assets, besides the token, whose own pools are tried: those with the heaviest routes. */
const MAX_ASSETS = 3

/** The most pools of a token, or of an asset, that may be pushed: those with the most weight. */
const MAX_LEVERS = 64

const MICRO = 1_000_000n
const BPS = 10_000n

export class CostToMove {
  readonly rehearsal: Rehearsal
  /** The state at the next block if nobody acts. */
  readonly present: Look
  readonly #republishMs: Ms

  constructor(rehearsal: Rehearsal, atMs: Ms) {
    this.rehearsal = rehearsal
    this.present = rehearsal.look(atMs)
    this.#republishMs = rehearsal.policy.republish.interval_ms
  }

  /** Null when no plan was found. Only for a token that is priced at an accepted score. */
  of(move: Move, priced: Priced): Found | null {
    const { rehearsal } = this
    const unitOf = this.#unitOf(priced)
    const wanted = wantedOf(move, priced)
    let plan: FoundPlan | null = null
    for (const further of FURTHER)
      plan ??= new Search(rehearsal, wanted).run(basesOf(this.present, priced, move, wanted, further, unitOf))
    if (plan === null) return null
    const { pushes, costs } = plan
    const isOwn = pushes.some(({ pool }) => pool.from === rehearsal.token)
    // The shortest interval at which a token is published again while its own pools do not move.
    const { holdMs, look } = heldFor(rehearsal, wanted, pushes, isOwn ? ms(0) : this.#republishMs)
    const said = look.evaluation as Priced
    return {
      price: said.price,
      score: said.score,
      capital: costs.capital,
      loss: costs.loss,
      lossRestored: restoredLoss(rehearsal, wanted, pushes, unitOf),
      holdMs,
      holdBlocks: count(Math.ceil(holdMs / rehearsal.blockMs)),
      pushes,
    }
  }

  #unitOf(priced: Priced): UnitOf {
    const { moment } = this.present
    const { token } = this.rehearsal
    return address => {
      if (address !== token) {
        const worth = moment.worth(address)
        return worth === null ? NOTHING : { num: worth.num * MICRO, den: worth.den }
      }
      const digits = moment.state.tokens.get(token)?.decimals?.value ?? count(0)
      const { num, den } = priced.marginalUsd
      return { num: num * MICRO, den: den * powerOfTen(digits) }
    }
  }
}

const NOTHING: Fraction = { num: 0n, den: 1n }

export const isBelievable = (evaluation: Evaluation): evaluation is Priced =>
  evaluation.kind === 'PRICED' && evaluation.score >= BELIEVED

function wantedOf({ isUp, bps }: Move, { price }: Priced): Wanted {
  const parts = isUp ? BPS + BigInt(bps) : BPS - BigInt(bps)
  const target = { num: price.num * parts, den: price.den * BPS }
  return { isUp, target, millionths: BigInt(bps) * (MICRO / BPS) }
}

/**
 * The token's own pools; and for each asset its price comes through, the pools of that asset instead of the token's
 * own pools into it.
 */
function basesOf(
  { moment }: Look,
  priced: Priced,
  move: Move,
  wanted: Wanted,
  further: Fraction,
  unitOf: UnitOf,
): (readonly Lever[])[] {
  const { isUp } = wanted
  const aimOf = (price: Fraction, goal: Fraction): Fraction =>
    isUp
      ? { num: goal.num * further.num * price.den, den: goal.den * further.den * price.num }
      : { num: goal.num * further.den * price.den, den: goal.den * further.num * price.num }
  const leversOf = (routes: readonly Route[], goal: Fraction, isOwn: boolean): Lever[] =>
    heaviest(routes).map(
      ({ pool, onwards }) =>
        new Lever(pool, onwards, isOwn, aimOf((onwards[0] as Onward).price, goal), unitOf),
    )
  const own = leversOf(priced.routes, wanted.target, true)
  const assets = assetsOf(priced.routes).flatMap(asset => {
    const evaluation = moment.valuations.get(asset)?.evaluation
    if (asset === priced.token || evaluation?.kind !== 'PRICED') return []
    const levers = leversOf(evaluation.routes, wantedOf(move, evaluation).target, false)
    return [[...own.filter(({ pool }) => pool.to !== asset), ...levers]]
  })
  return [own, ...assets]
}

/** First-hop pools of qualified routes, heaviest first, ties by address; each with its routes, heaviest first. */
function heaviest(routes: readonly Route[]): { readonly pool: Pool; readonly onwards: readonly Onward[] }[] {
  const pools = new Map<Pool, { weight: bigint; readonly onwards: Onward[] }>()
  for (const { price, failure, weight, capacity, first } of routes) {
    if (price === null || failure !== null) continue
    let known = pools.get(first.pool)
    if (known === undefined) pools.set(first.pool, (known = { weight: 0n, onwards: [] }))
    known.weight += weight
    known.onwards.push({ price, weight, capacity })
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
