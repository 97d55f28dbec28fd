/** The label of a score. */
import type { Score } from '../units.ts'

export type Label = 'Unusable' | 'Low' | 'Medium' | 'High' | 'Very high'

export function label(value: Score): Label {
  if (value <= 0) return 'Unusable'
  if (value <= 3) return 'Low'
  if (value <= 6) return 'Medium'
  return value <= 8 ? 'High' : 'Very high'
}
