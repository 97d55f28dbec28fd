/**
 * A fraction in the wire format: reduced, with its display. Null stays null; a value longer than 4096 bits becomes
 * null too.
 */
import * as decimal from '../../exact/decimal.ts'
import * as ratio from '../../exact/ratio.ts'
import type { Fraction } from '../../exact/fraction.ts'
import type { ExactText } from '../../exact/decimal.ts'

export function exactText(value: Fraction | null): ExactText | null {
  if (value === null) return null
  const outcome = ratio.reduce(value.num, value.den)
  return ratio.isTooLarge(outcome) ? null : decimal.toText(outcome)
}
