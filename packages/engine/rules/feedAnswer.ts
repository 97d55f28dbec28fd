/** The answer of a dollar feed, and how often the feed must answer. */
import type { Count, Ms } from '../units.ts'

/** An answer with the decimals of its feed, and the time the feed published it. */
export type Answer = { readonly value: bigint; readonly decimals: Count; readonly updatedAtMs: Ms }

/** `complete` is false for an unfinished or non-positive round. */
export type Round = Answer & { readonly complete: boolean }

/** The longest time between two answers, and the delay tolerated beyond it. */
export type FeedTerms = { readonly heartbeatMs: Ms; readonly graceMs: Ms }

export const isGood = (answer: Round | null): answer is Round =>
  answer !== null && answer.complete && answer.value > 0n
