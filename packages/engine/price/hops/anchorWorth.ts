/**
 * The value of a unit of an anchor at one moment, without fee: it converts the ratios of a token's past into dollars.
 */
import type { Address } from '../../chain/block.ts'
import { powerOfTen } from '../../exact/decimal.ts'
import * as fraction from '../../exact/fraction.ts'
import type { Worth } from '../../rules/priceJump.ts'
import { type Moment, tipOf } from '../moment.ts'
import { unitWorth } from './unitWorth.ts'

/**
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
  return { ...unit, near: fraction.near(unit) }
}
