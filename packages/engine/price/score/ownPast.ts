/** The published price against the token's own past, at the present values of the anchors of that past (R-past-5). */
import type { Address } from '../../chain/block.ts'
import { powerOfTen } from '../../exact/decimal.ts'
import type { Fraction } from '../../exact/fraction.ts'
import * as fraction from '../../exact/fraction.ts'
import { isSurelyNear } from '../../memory/pastBounds.ts'
import { readAt } from '../../rules/ownPast.ts'
import { type OwnPast, priceJump, type PriceJump } from '../../rules/priceJump.ts'
import type { Cap } from '../../rules/reasons.ts'
import { FOREVER, type Timed } from '../../rules/timed.ts'
import { asApprox, type Count, type Approx } from '../../units.ts'
import type { Route } from '../evaluation.ts'
import type { Moment } from '../moment.ts'
import { marginalUsdOf } from '../routes/routes.ts'

const NONE: Timed<Cap | null> = { value: null, untilMs: FOREVER }

/**
 * The cap on a price along this route; none when a fresh feed of a routing asset is close to the price, or in
 * revision 1.
 */
export function pastCap(
  moment: Moment,
  token: Address,
  selected: Route,
  isConfirmed: boolean,
): Timed<Cap | null> {
  if (isConfirmed || moment.policy.revision === 1) return NONE
  const past = moment.state.tokens.get(token)?.past ?? null
  if (past === null || past.open.length === 0) return NONE
  const digits = decimalsOf(moment, token)
  if (digits === null || isSurelyNear(past, moment.worth, approxUnit(moment, selected, digits))) return NONE
  const { value, untilMs } = jumpAt(moment, token, selected, digits) as Timed<PriceJump>
  return { value: value.cap, untilMs }
}

/** The inputs of the cap, for the full quote. */
export function ownPastOf(moment: Moment, token: Address, selected: Route): OwnPast | null {
  if (moment.policy.revision === 1) return null
  const digits = decimalsOf(moment, token)
  const jump = digits === null ? null : jumpAt(moment, token, selected, digits)
  if (jump === null || digits === null) return null
  const { value, coveredMs } = jump.value.reference
  return {
    coveredMs,
    reference: value === null ? null : { num: value.num * powerOfTen(digits), den: value.den },
    marginalUsd: marginalUsdOf(selected),
  }
}

function jumpAt(moment: Moment, token: Address, selected: Route, digits: Count): Timed<PriceJump> | null {
  const past = moment.state.tokens.get(token)?.past ?? null
  if (past === null || past.open.length === 0) return null
  const { num, den } = marginalUsdOf(selected)
  const unit: Fraction = { num, den: den * powerOfTen(digits) }
  return priceJump(readAt(past, moment.atMs), moment.worth, unit)
}

const decimalsOf = ({ state }: Moment, token: Address): Count | null =>
  state.tokens.get(token)?.decimals?.value ?? null

/** The approximate value of a unit of the token, without a fee. */
function approxUnit(moment: Moment, { edges, stable }: Route, digits: Count): Approx {
  const anchor = stable === null ? null : moment.worth(stable.token)
  const ofStable = stable === null ? null : decimalsOf(moment, stable.token)
  if (anchor === null || ofStable === null) return asApprox(Number.NaN)
  let approx = fraction.approxProduct(anchor.approx, asApprox(10 ** (ofStable - digits)))
  for (const { derived } of edges) approx = fraction.approxProduct(approx, derived.approxMarginal)
  return approx
}
