/**
 * The adapter of constant-product pairs.
 *
 * A Sync carries the reserves, so it is the state. The Swap, Mint or Burn after it explains the reserves, and is
 * checked against the reserves before that Sync.
 */
import { type Adapter, type Applied, checkOf, type Difference, differing, PLAIN } from '../adapter.ts'
import type { Side } from '../states.ts'
import type { V2, V2State, V2Terms } from './kind.ts'
import { assert, unreachable } from '../../assert.ts'
import type { Fraction } from '../../exact/fraction.ts'
import * as constantProduct from './constantProduct.ts'
import * as past from './past.ts'

export const v2: Adapter<V2> = {
  ...PLAIN,
  leastInput: 'amm_v2',
  book: () => null,
  tick: () => null,
  isPossible: () => true,
  differences: (_terms, ours, chain) => compare(chain, ours.reserve0, ours.reserve1),
  holdings: ({ reserve0, reserve1 }) => ({
    reserves: { reserve0: reserve0.toString(), reserve1: reserve1.toString() },
  }),
  explains: past.explains,
  tickChange: () => null,
  nets: ({ amount0In, amount1In, amount0Out, amount1Out }) => [
    amount0In - amount0Out,
    amount1In - amount1Out,
  ],
  swapped: (side, { amountIn, amountOut }, { reserve0, reserve1 }) => [
    { kind: 'SYNC', reserve0, reserve1 },
    {
      kind: 'SWAP',
      amount0In: side === 0 ? amountIn : 0n,
      amount1In: side === 1 ? amountIn : 0n,
      amount0Out: side === 1 ? amountOut : 0n,
      amount1Out: side === 0 ? amountOut : 0n,
    },
  ],
  swapText: ({ amount0In, amount1In, amount0Out, amount1Out }) => ({
    amount0_in: amount0In.toString(),
    amount1_in: amount1In.toString(),
    amount0_out: amount0Out.toString(),
    amount1_out: amount1Out.toString(),
  }),
  born: ({ fee: { numerator, denominator } }) => ({ family: 'amm_v2', numerator, denominator }),

  isLive: (_terms, state) => isLive(state),

  marginal: ({ reserve0, reserve1 }) => {
    assert(reserve0 > 0n && reserve1 > 0n, 'a pair with an empty side has no marginal price')
    return { num: reserve1, den: reserve0 }
  },

  swapExactIn(terms, state, side, amountIn) {
    assert(amountIn >= 0n, () => `an input of ${amountIn}`)
    if (!isLive(state)) return { amountIn: 0n, amountOut: 0n, state }
    const [reserveIn, reserveOut] = reservesFrom(state, side)
    const room = constantProduct.MAX_RESERVE - reserveIn
    const taken = amountIn < room ? amountIn : room
    const amountOut = constantProduct.amountOut(terms.fee, reserveIn, reserveOut, taken)
    return { amountIn: taken, amountOut, state: stateFrom(side, reserveIn + taken, reserveOut - amountOut) }
  },

  smallestInput(terms, state, side, amountOut) {
    if (amountOut === 0n) return 0n
    if (!isLive(state)) return null
    const [reserveIn, reserveOut] = reservesFrom(state, side)
    const input = constantProduct.smallestInput(terms.fee, reserveIn, reserveOut, amountOut)
    return input === null || reserveIn + input > constantProduct.MAX_RESERVE ? null : input
  },

  depth(terms, state, x, boundary) {
    if (!isLive(state)) return { up: 0n, down: 0n }
    const y: Side = x === 0 ? 1 : 0
    // Selling X lowers its price to 98/100, so the price of the output token rises to 100/98.
    const { up, down } = boundary
    return {
      up: inputInside(terms, state, y, up),
      down: inputInside(terms, state, x, { num: down.den, den: down.num }),
    }
  },

  family: 'amm_v2',
  feePpm: ({ numerator, denominator }) =>
    ((denominator - numerator) * 1_000_000n + denominator - 1n) / denominator,
  terms: ({ numerator, denominator }) => ({ family: 'amm_v2', fee: { numerator, denominator } }),
  restored: image => image,
  empty: () => ({ family: 'amm_v2', reserve0: 0n, reserve1: 0n }),

  apply(terms, state, prior, event) {
    switch (event.kind) {
      case 'SYNC': {
        const { reserve0, reserve1 } = event
        return applied({ family: 'amm_v2', reserve0, reserve1 }, [])
      }
      case 'SWAP': {
        const in0 = event.amount0In
        const in1 = event.amount1In
        const differences = compare(
          state,
          prior.reserve0 + in0 - event.amount0Out,
          prior.reserve1 + in1 - event.amount1Out,
        )
        return applied(state, [...differences, ...feeShortfall(terms, state, prior, in0, in1)])
      }
      case 'MINT':
        return applied(state, compare(state, prior.reserve0 + event.amount0, prior.reserve1 + event.amount1))
      case 'BURN':
        return applied(state, atLeast(state, prior.reserve0 - event.amount0, prior.reserve1 - event.amount1))
      default:
        return unreachable(event)
    }
  },
  before: past.before,
  after: past.after,
  first: past.first,
}

function isLive({ reserve0, reserve1 }: V2State): boolean {
  return reserve0 > 0n && reserve1 > 0n
}

function inputInside(terms: V2Terms, state: V2State, side: Side, boundary: Fraction): bigint {
  const [reserveIn, reserveOut] = reservesFrom(state, side)
  const input = constantProduct.greatestInside(terms.fee, reserveIn, reserveOut, boundary)
  const room = constantProduct.MAX_RESERVE - reserveIn
  return input < room ? input : room
}

function reservesFrom({ reserve0, reserve1 }: V2State, side: Side): readonly [bigint, bigint] {
  return side === 0 ? [reserve0, reserve1] : [reserve1, reserve0]
}

function stateFrom(side: Side, reserveIn: bigint, reserveOut: bigint): V2State {
  return side === 0
    ? { family: 'amm_v2', reserve0: reserveIn, reserve1: reserveOut }
    : { family: 'amm_v2', reserve0: reserveOut, reserve1: reserveIn }
}

/**
 * The contract's own condition, (x*d - in0*(d - n)) * (y*d - in1*(d - n)) >= x_before * y_before * d^2: the traded
 * amount paid this deployment's fee.
 */
function feeShortfall(
  { fee }: V2Terms,
  state: V2State,
  prior: V2State,
  in0: bigint,
  in1: bigint,
): readonly Difference[] {
  const { numerator, denominator } = fee
  const kept = denominator - numerator
  const adjusted0 = state.reserve0 * denominator - in0 * kept
  const adjusted1 = state.reserve1 * denominator - in1 * kept
  const product = adjusted0 * adjusted1
  const least = prior.reserve0 * prior.reserve1 * denominator * denominator
  return product >= least ? [] : [{ field: 'product', event: product, computed: least }]
}

const compare = (state: V2State, reserve0: bigint, reserve1: bigint): readonly Difference[] =>
  differing([
    ['reserve0', state.reserve0, reserve0],
    ['reserve1', state.reserve1, reserve1],
  ])

/** A burn pays from balances: tokens donated to the pair before it are in the reserves after it. */
function atLeast(state: V2State, reserve0: bigint, reserve1: bigint): readonly Difference[] {
  return compare(
    state,
    state.reserve0 > reserve0 ? state.reserve0 : reserve0,
    state.reserve1 > reserve1 ? state.reserve1 : reserve1,
  )
}

const applied = (state: V2State, differences: readonly Difference[]): Applied<V2State> => ({
  state,
  ...checkOf(differences),
  tickChange: null,
})
