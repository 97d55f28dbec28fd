/** What a unit of an anchor is worth at one moment, without a fee: what the ratios of a token's past are turned into dollars by. */
import type { Address } from '../../chain/block.ts'
import { powerOfTen } from '../../exact/decimal.ts'
import * as fraction from '../../exact/fraction.ts'
import type { Worth } from '../../rules/priceJump.ts'
import { type Moment, tipOf } from '../moment.ts'
import { unitWorth } from './unitWorth.ts'

/** A routing asset is valued before those that are priced in it; one without a price counts as the chain alone has it. */
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
