/** The value of a hop's Y at one moment, or the rule that failed when it has none. */
import type { Address } from '../../chain/block.ts'
import { powerOfTen } from '../../exact/decimal.ts'
import * as fraction from '../../exact/fraction.ts'
import type { Fraction } from '../../exact/fraction.ts'
import { unitsOf } from '../../rules/hopCapacity.ts'
import type { Worth } from '../../rules/priceJump.ts'
import type { Rejection } from '../../rules/reasons.ts'
import type { StableView } from '../evaluation.ts'
import { type Anchor, type Moment, tipOf } from '../moment.ts'
import { unitWorth } from './unitWorth.ts'
import { MICRO } from '../../units.ts'

const without = (rule: Rejection, stable: StableView | null = null): Anchor => ({
  usd: null,
  unitMicrousd: null,
  leastY: null,
  stable,
  rule,
})

const CIRCULAR = without('CIRCULAR')
const NO_ANCHOR = without('NO_ANCHOR')
const UNPRICED = without('ANCHOR_UNPRICED')

export function anchorOf(moment: Moment, to: Address): Anchor {
  const stable = moment.stable(to)
  if (stable !== null)
    return stable.status === 'SUSPENDED'
      ? without('STABLE_SUSPENDED', stable)
      : anchorAt(moment, to, stable.usd, stable)
  const valuation = moment.valuations.get(to)
  if (valuation === undefined) return moment.state.setup.routingAssets.includes(to) ? CIRCULAR : NO_ANCHOR
  const { evaluation } = valuation
  return evaluation.kind === 'PRICED' ? anchorAt(moment, to, evaluation.price, null) : UNPRICED
}

function anchorAt(
  { state, leastMicrousd }: Moment,
  to: Address,
  usd: Fraction,
  stable: StableView | null,
): Anchor {
  const decimals = state.tokens.get(to)?.decimals?.value ?? null
  if (decimals === null) return { usd, unitMicrousd: null, leastY: null, stable, rule: null }
  const unitMicrousd = { num: usd.num * MICRO, den: usd.den * powerOfTen(decimals) }
  return { usd, unitMicrousd, leastY: unitsOf(leastMicrousd, unitMicrousd), stable, rule: null }
}

/**
 * The value of a unit of an anchor, without fee: it converts the ratios of a token's past into dollars.
 *
 * A routing asset is valued before the assets priced in it. One without a price counts at its value from the chain
 * alone.
 */
export function worthOf(moment: Moment, anchor: Address): Worth | null {
  const { state, valuations } = moment
  const evaluation = valuations.get(anchor)?.evaluation
  const stable = moment.stable(anchor)
  const usd = stable?.usd ?? (evaluation?.kind === 'PRICED' ? evaluation.marginalUsd : null)
  const digits = state.tokens.get(anchor)?.decimals?.value ?? null
  if (usd === null || digits === null) return unitWorth(state, anchor, tipOf(moment).timeMs)
  const unit = { num: usd.num, den: usd.den * powerOfTen(digits) }
  return { ...unit, approx: fraction.approx(unit) }
}
