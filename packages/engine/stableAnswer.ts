/** One Chainlink answer, as a feed gives it. `complete` is false for an unfinished or non-positive round. */
import type { Count, Ms } from './units.ts'

export type StableAnswer = {
  readonly value: bigint
  readonly decimals: Count
  readonly updatedAtMs: Ms
  readonly complete: boolean
}
