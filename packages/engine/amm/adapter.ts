/**
 * What the engine asks of a pool family. One implementation per family; nothing outside `amm/` knows how
 * a constant-product or a concentrated-liquidity pool computes.
 *
 * A pool is two things. `Terms` never change after creation. `State` is an immutable value that is replaced
 * by each event, so a journal can keep the old one. Ticks are the exception: a v3 pool's book of ticks is
 * large and shared between states, so it changes in place and every change comes back as a `TickChange`
 * whose inverse undoes it.
 */
import type { Fraction } from '../exact/fraction.ts'
import type { Tick } from '../units.ts'
import type { Side, TickChange, V2Event, V2State, V3Event, V3State } from './states.ts'
import type { TickBook } from './tickBook.ts'

/** `fee` is the share of the input that trades: 997/1000 keeps 3 of 1000. */
export type V2Terms = {
  readonly family: 'amm_v2'
  readonly fee: { readonly numerator: bigint; readonly denominator: bigint }
}
/** `book` holds the known ticks; it is the one mutable part and belongs to this pool alone. */
export type V3Terms = {
  readonly family: 'amm_v3'
  readonly feePpm: bigint
  readonly tickSpacing: Tick
  readonly book: TickBook
}
/** One quantity the event states and we computed otherwise; shown with the `unverified` state. */
export type Difference = { readonly field: string; readonly event: bigint; readonly computed: bigint }

/**
 * What an event did. `verified`: it recomputes. `unverified`: it does not, and `differences` says where.
 * `incomplete`: the known ticks do not reach far enough to tell; reload, do not distrust.
 */
export type Applied<State> = {
  readonly state: State
  readonly verdict: 'verified' | 'unverified' | 'incomplete'
  readonly differences: readonly Difference[]
  readonly tickChange: TickChange | null
}

/** A simulated swap: what goes in gross of the fee, what comes out, and the state after. */
export type Swapped<State> = {
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly state: State
}

/** The known ticks do not cover what was asked. */
export type Incomplete = { readonly reason: 'INCOMPLETE' }
export const INCOMPLETE: Incomplete = { reason: 'INCOMPLETE' }

/**
 * 2% depth of a pool in one orientation X→Y, as gross inputs in atomic units: `up` units of Y raise the
 * price of X by just under 2%, `down` units of X lower it by just under 2%.
 */
export type GrossDepth = { readonly up: bigint; readonly down: bigint }

/** A boundary as a fraction of the marginal price: 102/100 up, 98/100 down. */
export type Boundary = { readonly up: Fraction; readonly down: Fraction }

export interface Adapter<Terms, State, Event> {
  /** True when the pool has a price and something to trade at it. */
  isLive(terms: Terms, state: State): boolean
  /** The fee-free price of token0 in token1, atomic units. Only for a live state. */
  marginal(state: State): Fraction
  /** The exact swap of `amountIn` gross units of token `side`; consumes less only if liquidity runs out. */
  swapExactIn(terms: Terms, state: State, side: Side, amountIn: bigint): Swapped<State> | Incomplete
  /** The smallest gross input of token `side` that gives at least `amountOut`, or null if none does. */
  smallestInput(terms: Terms, state: State, side: Side, amountOut: bigint): bigint | null | Incomplete
  /** Depth with X = token `x`. */
  depth(terms: Terms, state: State, x: Side, boundary: Boundary): GrossDepth | Incomplete
  /**
   * Applies one event. `prior` is the state before the pool's previous event: a v2 Swap follows the Sync
   * that already holds its result, so it is recomputed on `prior`. The book of a v3 pool is changed in
   * place; see `tickChange`.
   */
  apply(terms: Terms, state: State, prior: State, event: Event): Applied<State>
}

/** Of whichever family: terms, state and event must all be of it. */
export type AnyAdapter = Adapter<V2Terms | V3Terms, V2State | V3State, V2Event | V3Event>
