/**
 * A price close to every value in its token's past cannot have a distant reference, whatever the time. Law: then
 * `priceJump` never finds a cap. Gain: most prices are checked against an hour of ratios by a few comparisons of
 * doubles.
 */
import { once } from '../exact/once.ts'
import { apartApprox } from '../exact/apart.ts'
import * as fraction from '../exact/fraction.ts'
import type { Kept, TokenPast } from '../rules/ownPast.ts'
import { NEAREST } from '../rules/pastWindow.ts'
import type { Worth, WorthOf } from '../rules/priceJump.ts'
import type { Address } from '../chain/block.ts'
import { asApprox, type Approx } from '../units.ts'
import { memory } from './switch.ts'

/** The least and the greatest ratio into a Y. */
type Bounds = { readonly y: Address; least: Approx; most: Approx }

/** Bounds of the full minutes, which stay the same until a minute ends. */
const known = new WeakMap<readonly Kept[], readonly Bounds[]>()

/** Whether floats are certain that every ratio of the past, at the value of its Y, is close to the price. */
export function isSurelyNear({ minutes, open }: TokenPast, worthOf: WorthOf, price: Approx): boolean {
  if (!memory.isOn) return false
  let last: Address | null = null
  let worth: Worth | null = null
  for (const { y, approx } of open) {
    // Most ratios of a minute are into one Y.
    if (y !== last) worth = worthOf(y)
    last = y
    if (!isNear(approx, worth, price)) return false
  }
  for (const { y, least, most } of once(known, minutes, boundsOf)) {
    const now = worthOf(y)
    if (!isNear(least, now, price) || !isNear(most, now, price)) return false
  }
  return true
}

const isNear = (ratio: Approx, worth: Worth | null, price: Approx): boolean =>
  worth !== null && apartApprox(asApprox(ratio * worth.approx), price, NEAREST) < 0

/** As stored: without the floats. */
export const keptFrom = <Stored extends Omit<Kept, 'approx'>>(stored: Stored): Stored & Kept => ({
  ...stored,
  approx: fraction.approx(stored.ratio),
})

function boundsOf(minutes: readonly Kept[]): readonly Bounds[] {
  const bounds: Bounds[] = []
  for (const { y, approx } of minutes) {
    const own = bounds.find(each => each.y === y)
    if (own === undefined) bounds.push({ y, least: approx, most: approx })
    // A NaN compares with nothing, and remains as a bound that no price is close to.
    else if (approx < own.least || Number.isNaN(approx)) own.least = approx
    else if (approx > own.most) own.most = approx
  }
  return bounds
}
