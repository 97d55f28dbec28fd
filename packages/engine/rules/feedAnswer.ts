/** What a dollar feed says, and how often it has to. */
import type { Count, Ms } from '../units.ts'

/** An answer with the decimals of its feed, and when the feed made it. */
export type Answer = { readonly value: bigint; readonly decimals: Count; readonly updatedAtMs: Ms }

/** `complete` is false for an unfinished round. */
export type Round = Answer & { readonly complete: boolean }

/** The longest time between two answers, and how late one may be beyond it. */
export type FeedTerms = { readonly heartbeatMs: Ms; readonly graceMs: Ms }

export const isGood = (answer: Round | null): answer is Round =>
  answer !== null && answer.complete && answer.value > 0n
