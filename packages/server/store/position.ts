/**
 * The position of a chain in the store, and the rule for a commit: it builds on that position, or it was committed
 * before, or it is a conflict.
 */
import type { Checkpoint, Committed, Conflict, Sequence, StepCommit } from './port.ts'

/** The stored row. */
export type Position = {
  readonly step: number
  readonly tip_number: number | null
  readonly tip_hash: string | null
  readonly tip_time_ms: number | null
  readonly first_sequence: Sequence | null
  readonly last_sequence: Sequence
}

/** The answer to a commit that does not build on the stored position; null when it does. */
export function alreadyOrConflict(
  stored: Position | undefined,
  commit: StepCommit,
): Committed | Conflict | null {
  const storedStep = stored?.step ?? 0
  const storedTipHash = stored?.tip_hash ?? null
  if (storedStep === commit.step - 1 && storedTipHash === commit.previousTipHash) return null
  if (stored !== undefined && storedStep === commit.step && storedTipHash === (commit.tip?.hash ?? null))
    return { outcome: 'already', first: stored.first_sequence, last: stored.last_sequence }
  return { outcome: 'conflict', storedStep, storedTipHash }
}

export function tipOf({ tip_number, tip_hash, tip_time_ms }: Position): Checkpoint['tip'] {
  if (tip_number === null || tip_hash === null || tip_time_ms === null) return null
  return { number: tip_number, hash: tip_hash, timeMs: tip_time_ms }
}

/** The values of the row after a commit, in the order of the columns. */
export const positionRow = (
  { chainId, step, tip, atMs }: StepCommit,
  first: Sequence | null,
  last: Sequence | null,
) => [chainId, step, tip?.number ?? null, tip?.hash ?? null, tip?.timeMs ?? null, atMs, first, last] as const
