/**
 * The few quantities that are machine numbers. Everything measured on chain is a bigint; what is left is
 * small, counted and exact below 2^53, and each kind has a brand so that a tick never becomes a score.
 *
 * The tidy test refuses the bare annotation `number` anywhere else in the engine.
 */

declare const unit: unique symbol
type Branded<Name extends string> = number & { readonly [unit]: Name }

/** Unix time or a duration, in milliseconds. */
export type Ms = Branded<'ms'>

/** A tick index of a concentrated-liquidity pool, or a distance between ticks. */
export type Tick = Branded<'tick'>

/** A confidence score or cap, 0 to 10. */
export type Score = Branded<'score'>

/** A count, an index, a block number, a chain id: a non-negative integer. */
export type Count = Branded<'count'>

/** A double that can distinguish two exact values that are far apart; nothing is ever computed from it. */
export type Approx = Branded<'approx'>

/** The sign of a comparison. */
export type Sign = -1 | 0 | 1

/** Microdollars in a dollar. */
export const MICRO = 1_000_000n
/** Basis points in a whole. */
export const BPS = 10_000n

export const ms = (value: number): Ms => value as Ms
export const tick = (value: number): Tick => value as Tick
export const score = (value: number): Score => value as Score
export const asApprox = (value: number): Approx => value as Approx
export const count = (value: number): Count => value as Count

/** The weaker of two scores: every combination of scores is this one. */
export const weaker = (a: Score, b: Score): Score => (a < b ? a : b)

/** The earlier of two times; null means never. */
export function soonest(a: Ms | null, b: Ms | null): Ms | null {
  if (a === null || b === null) return a ?? b
  return a < b ? a : b
}
