/**
 * The interface between the engine and a pool family. Each family has one implementation. Nothing outside a family's
 * folder knows how its pools compute, what their events mean, or in which form they are stored and displayed.
 *
 * A pool has two parts. `terms` never change after creation. `state` is an immutable value that each event replaces,
 * so a journal can keep the old one. Ticks are the exception: a pool's book of ticks is large and shared between
 * states, so it changes in place, and every change is returned as a `TickChange` whose inverse undoes it.
 */
import type { Side, TickChange } from './states.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Count, Tick } from '../units.ts'
import type { LoadedTicks, TickBook } from './tickBook.ts'

/**
 * The types of a family. `born` is what a factory's log states about a new pool: plain values from which `terms`
 * follow.
 */
export type Kind = {
  readonly family: string
  readonly born: object
  readonly terms: object
  readonly state: object
  readonly event: { readonly kind: string }
}

/** A quantity for which the event states one value and we compute another; shown with the `unverified` state. */
export type Difference = { readonly field: string; readonly event: bigint; readonly computed: bigint }

/**
 * Whether an event is understood. `verified`: our computation gives the same values. `unverified`: it does not, and
 * `differences` lists where. `incomplete`: the known ticks do not reach far enough to decide; reload the pool, do not
 * distrust it.
 */
export type Check = {
  readonly verdict: 'verified' | 'unverified' | 'incomplete'
  readonly differences: readonly Difference[]
}

export const VERIFIED: Check = { verdict: 'verified', differences: [] }

/** The quantities in which an event, or the chain, and our computation differ. */
export const differing = (
  quantities: readonly (readonly [field: string, event: bigint, computed: bigint])[],
): Difference[] =>
  quantities
    .filter(([, event, computed]) => event !== computed)
    .map(([field, event, computed]) => ({ field, event, computed }))

export const checkOf = (differences: readonly Difference[]): Check =>
  differences.length === 0 ? VERIFIED : { verdict: 'unverified', differences }

/** The effect of an event. */
export type Applied<State> = Check & { readonly state: State; readonly tickChange: TickChange | null }

/** A simulated swap: the input with its fee, the output, and the state after. */
export type Swapped<State> = {
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly state: State
}

/** The known ticks do not cover the request. */
export type Incomplete = { readonly reason: 'INCOMPLETE' }
export const INCOMPLETE: Incomplete = { reason: 'INCOMPLETE' }

/**
 * 2% depth of a pool in one orientation X→Y, as gross inputs in atomic units: `up` units of Y raise the
 * price of X by just under 2%, `down` units of X lower it by just under 2%.
 */
export type GrossDepth = { readonly up: bigint; readonly down: bigint }

/** A boundary as a fraction of the marginal price: 102/100 up, 98/100 down. */
export type Boundary = { readonly up: Fraction; readonly down: Fraction }

type SwapOf<K extends Kind> = Extract<K['event'], { readonly kind: 'SWAP' }>

/**
 * `PLAIN`: no hook, or one that swaps never reach; swaps follow the pool's own curve and fee. `FEE`: the curve is the
 * pool's, but the hook sets the fee, or is called around the swap and may refuse it. `UNSUPPORTED`: the hook adds
 * amounts of its own to the swap, or replaces it entirely.
 */
export type HookClass = 'PLAIN' | 'FEE' | 'UNSUPPORTED'
export type Hook = { readonly address: string; readonly kind: HookClass }

/** The arithmetic of a family's pools. */
export type Maths<K extends Kind> = {
  /** True when the pool has a price and liquidity to trade at it. */
  isLive(terms: K['terms'], state: K['state']): boolean
  /** The fee-free price of token0 in token1, atomic units. Only for a live state. */
  marginal(state: K['state']): Fraction
  /** The exact swap of `amountIn` gross units of token `side`; consumes less only if liquidity runs out. */
  swapExactIn(
    terms: K['terms'],
    state: K['state'],
    side: Side,
    amountIn: bigint,
  ): Swapped<K['state']> | Incomplete
  /** The smallest gross input of token `side` that gives at least `amountOut`, or null if none does. */
  smallestInput(
    terms: K['terms'],
    state: K['state'],
    side: Side,
    amountOut: bigint,
  ): bigint | null | Incomplete
  /** Depth with X = token `x`. */
  depth(terms: K['terms'], state: K['state'], x: Side, boundary: Boundary): GrossDepth | Incomplete
  /**
   * Applies one event. `prior` is the state before the pool's previous event: a v2 Swap follows the Sync that already
   * holds its result, so it is recomputed on `prior`. A book of ticks changes in place; see `tickChange`.
   */
  apply(terms: K['terms'], state: K['state'], prior: K['state'], event: K['event']): Applied<K['state']>
}

/** The identity of a family's pools: their initial state, their stored form, and how they are displayed. */
export type Identity<K extends Kind> = {
  readonly family: K['family']
  /** Which of the policy's minimum inputs applies to a sale. */
  readonly leastInput: 'amm_v2' | 'amm_v3'
  /** The fee at creation in parts per million, rounded up, so that rounding cannot slip under a guard. */
  feePpm(born: K['born']): bigint
  /** The fee of selling token `side` in this state; null when the fee of a pool never changes. */
  readonly feeNow: ((state: K['state'], side: Side) => bigint) | null
  /** What another contract may do to the pool's swaps; null when there is no such contract. */
  readonly hook: ((terms: K['terms']) => Hook) | null
  /** `ticks` is null for a pool watched from its creation: every tick is known, and none is set. */
  terms(born: K['born'], ticks: LoadedTicks | null): K['terms']
  born(terms: K['terms']): K['born']
  /** Terms as stored: complete except for the book. */
  restored(image: Omit<K['terms'], 'book'>, ticks: LoadedTicks | null): K['terms']
  /** The state of a pool just created. */
  empty(born: K['born']): K['state']
  /** Null for a family without ticks. */
  book(terms: K['terms']): TickBook | null
  /** The tick of the current price. */
  tick(state: K['state']): Tick | null
  /**
   * False for a state that no pool can have, which shows that events were reverted from a state they did not lead to.
   */
  isPossible(state: K['state']): boolean
  /** Fields in which our state differs from the chain's; `event` is the chain's value. */
  differences(terms: K['terms'], ours: K['state'], chain: K['state']): readonly Difference[]
  /** The pool's holdings, in the wire format. */
  holdings(state: K['state']): Holdings
  /** Additional wire fields of a pool that is not a contract of its own; null for a pool that is. */
  readonly shown: ((terms: K['terms'], token0: string, token1: string) => object) | null
}

/** How to interpret the events of a family. */
export type Events<K extends Kind> = {
  /** True for an event that only explains the event before it and changes nothing. */
  explains(event: K['event']): boolean
  /** The change of liquidity in the event; null when there is none. */
  tickChange(event: K['event']): TickChange | null
  /** The net amounts of token0 and token1 in a swap, positive into the pool. */
  nets(swap: SwapOf<K>): readonly [bigint, bigint]
  /** The logs of a swap of token `side` that ended in `after`. */
  swapped(side: Side, amounts: SwapSizes, after: K['state']): readonly K['event'][]
  /** The amounts of a swap, in the fields of its log. */
  swapText(swap: SwapOf<K>): SwapAmounts
  /**
   * The state before the first of these events, given all events up to `state`. Null when none of them determines it.
   */
  before(state: K['state'], events: readonly K['event'][]): K['state'] | null
  /**
   * The state after these events, none missing between them; `now` is the latest state. Null when they do not
   * determine all of it.
   */
  after(events: readonly K['event'][], now: K['state']): K['state'] | null
  /** The first event at which the events so far determine the whole state, and that state. */
  first(
    events: readonly K['event'][],
    now: K['state'],
  ): { readonly at: Count; readonly state: K['state'] } | null
}

/** Amounts including the fee. */
export type SwapSizes = { readonly amountIn: bigint; readonly amountOut: bigint }

/** A pool whose fee never changes, which no other contract affects, and which is a contract of its own. */
export const PLAIN = { feeNow: null, hook: null, shown: null }

/**
 * All adapters list their members in the same order, so that they have one object shape whatever their family, and
 * property access on a pool's adapter stays fast.
 */
export type Adapter<K extends Kind> = Identity<K> & Maths<K> & Events<K>

/** Reserves or a slot, in the wire format. */
export type Holdings =
  | { readonly reserves: { readonly reserve0: string; readonly reserve1: string } }
  | {
      readonly slot: {
        readonly sqrt_price_x96: string
        readonly tick: Tick
        readonly liquidity: string
        readonly lp_fee_ppm?: Count
        readonly protocol_fee0_ppm?: Count
        readonly protocol_fee1_ppm?: Count
      }
    }

/** The amounts of the log itself, in the fields of its family. */
export type SwapAmounts =
  | {
      readonly amount0_in: string
      readonly amount1_in: string
      readonly amount0_out: string
      readonly amount1_out: string
    }
  | {
      readonly amount0: string
      readonly amount1: string
      readonly sqrt_price_x96: string
      readonly liquidity: string
      readonly tick: Tick
      readonly fee_ppm?: string
    }
