/**
 * What it would cost to make the service publish another price of a token at a score that readers accept (R-cost):
 * for each move, the cheapest plan found, tried on a rehearsal by the live rules. This is an upper bound: cheaper
 * attacks may exist.
 */
import { powerOfTen } from '../exact/decimal.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Ratio } from '../exact/ratio.ts'
import type { Evaluation, Priced } from '../price/evaluation.ts'
import { type Count, count, type Ms, ms, type Score } from '../units.ts'
import { basesOf } from './bases.ts'
import { BELIEVED, heldFor, type Wanted } from './belief.ts'
import type { UnitOf } from './lever.ts'
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
      plan ??= new Search(rehearsal, wanted).run(
        basesOf(this.present, priced, evaluation => wantedOf(move, evaluation), further, unitOf),
      )
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
