/** A fraction as the wire shows it: reduced, with its display. Null stays null, as does what 4096 bits cannot hold. */
import * as ratio from '../../exact/ratio.ts'
import type { ExactText, Fraction } from '../../exact/ratio.ts'

export function exactText(value: Fraction | null): ExactText | null {
  if (value === null) return null
  const outcome = ratio.reduce(value.num, value.den)
  return ratio.isTooLarge(outcome) ? null : ratio.toText(outcome)
}
