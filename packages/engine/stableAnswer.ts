/** One answer of a Chainlink feed. `complete` is false for an unfinished or non-positive round. */
import type { Count, Ms } from './units.ts'

export type StableAnswer = {
  readonly value: bigint
  readonly decimals: Count
  readonly updatedAtMs: Ms
  readonly complete: boolean
}
