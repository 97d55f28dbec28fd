import type { Boundary } from '../adapter.ts'
import { adapterOf } from '../families.ts'
import type { Side } from '../states.ts'
import { MAX_RESERVE } from './constantProduct.ts'
import type { V2Event, V2State, V2Terms } from './kind.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases, natural } from '../../testing/cases.ts'

const v2 = adapterOf('amm_v2')
const TWO_PERCENT: Boundary = { up: { num: 102n, den: 100n }, down: { num: 98n, den: 100n } }

const terms = fc
  .constantFrom([997n, 1000n], [9975n, 10_000n], [998n, 1000n])
  .map(
    ([numerator = 1n, denominator = 1n]): V2Terms => ({ family: 'amm_v2', fee: { numerator, denominator } }),
  )
const pair = (reserve0: bigint, reserve1: bigint): V2State => ({ family: 'amm_v2', reserve0, reserve1 })
const pairs = fc.tuple(natural(112), natural(112)).map(([a, b]) => pair(a, b))
const side = fc.constantFrom<Side>(0, 1)
const UNISWAP: V2Terms = { family: 'amm_v2', fee: { numerator: 997n, denominator: 1000n } }

/** The event of a swap of token `side`, and the reserves it leaves. */
function swapEvent(
  t: V2Terms,
  state: V2State,
  token: Side,
  amountIn: bigint,
): { event: V2Event; after: V2State } {
  const swap = v2.swapExactIn(t, state, token, amountIn)
  if ('reason' in swap) throw new Error('a pair is always complete')
  const none = { amount0In: 0n, amount1In: 0n, amount0Out: 0n, amount1Out: 0n }
  const amounts =
    token === 0
      ? { amount0In: swap.amountIn, amount1Out: swap.amountOut }
      : { amount1In: swap.amountIn, amount0Out: swap.amountOut }
  return { event: { kind: 'SWAP', ...none, ...amounts }, after: swap.state }
}

describe('a v2 pair', () => {
  it('R-product-2: takes its reserves from a Sync and verifies the Swap after it', () => {
    fc.assert(
      fc.property(terms, pairs, side, natural(112), (t, state, token, amountIn) => {
        const { event, after } = swapEvent(t, state, token, amountIn)
        const { reserve0, reserve1 } = after
        const synced = v2.apply(t, state, state, { kind: 'SYNC', reserve0, reserve1 })
        expect(synced).toEqual({ state: after, verdict: 'verified', differences: [], tickChange: null })
        expect(v2.apply(t, synced.state, state, event)).toEqual({ ...synced, state: after })
      }),
      { numRuns: cases(1500) },
    )
  })

  it('does not verify a Swap that took one unit more than its input pays for', () => {
    fc.assert(
      fc.property(terms, pairs, side, natural(100), (t, state, token, amountIn) => {
        const { event, after } = swapEvent(t, state, token, amountIn)
        if (event.kind !== 'SWAP') throw new Error('the whole range is known')
        const taken =
          token === 0 ? pair(after.reserve0, after.reserve1 - 1n) : pair(after.reserve0 - 1n, after.reserve1)
        const greedy =
          token === 0
            ? { ...event, amount1Out: event.amount1Out + 1n }
            : { ...event, amount0Out: event.amount0Out + 1n }
        const applied = v2.apply(t, taken, state, greedy)
        expect(applied.verdict).toBe('unverified')
        expect(applied.differences.map(one => one.field)).toEqual(['product'])
      }),
      { numRuns: cases(1000) },
    )
  })

  it('names the reserve that does not follow', () => {
    const state = pair(1000n, 2000n)
    const event: V2Event = { kind: 'SWAP', amount0In: 100n, amount1In: 0n, amount0Out: 0n, amount1Out: 100n }
    const { verdict, differences } = v2.apply(UNISWAP, pair(1100n, 1899n), state, event)
    expect(verdict).toBe('unverified')
    expect(differences).toEqual([{ field: 'reserve1', event: 1899n, computed: 1900n }])
  })

  it('knows a fee by its deployment: what pays 0.25% does not pay 0.3%', () => {
    const cheap: V2Terms = { family: 'amm_v2', fee: { numerator: 9975n, denominator: 10_000n } }
    const state = pair(10n ** 18n, 10n ** 18n)
    const { event, after } = swapEvent(cheap, state, 0, 10n ** 16n)
    expect(v2.apply(cheap, after, state, event).verdict).toBe('verified')
    expect(v2.apply(UNISWAP, after, state, event).verdict).toBe('unverified')
  })

  it('verifies a Swap that leaves the product exactly as it was', () => {
    // 997 * 1000 = 1000 * 997: the input doubles what trades against half of the output side.
    const event: V2Event = { kind: 'SWAP', amount0In: 1000n, amount1In: 0n, amount0Out: 0n, amount1Out: 1n }
    expect(v2.apply(UNISWAP, pair(1997n, 1n), pair(997n, 2n), event).verdict).toBe('verified')
  })

  it('verifies flash swaps that pay in both tokens', () => {
    const state = pair(10_000n, 10_000n)
    const event: V2Event = {
      kind: 'SWAP',
      amount0In: 5016n,
      amount1In: 1004n,
      amount0Out: 5000n,
      amount1Out: 1000n,
    }
    expect(v2.apply(UNISWAP, pair(10_016n, 10_004n), state, event).verdict).toBe('verified')
    const short = { ...event, amount0In: 5014n, amount1In: 1003n }
    expect(v2.apply(UNISWAP, pair(10_014n, 10_003n), state, short).verdict).toBe('unverified')
  })

  it('R-product-2: checks a Mint to the unit, and a Burn up to unsolicited transfers to the pair', () => {
    const state = pair(1000n, 2000n)
    const mint: V2Event = { kind: 'MINT', amount0: 10n, amount1: 20n }
    expect(v2.apply(UNISWAP, pair(1010n, 2020n), state, mint).verdict).toBe('verified')
    expect(v2.apply(UNISWAP, pair(1011n, 2020n), state, mint).differences).toEqual([
      { field: 'reserve0', event: 1011n, computed: 1010n },
    ])
    const burn: V2Event = { kind: 'BURN', amount0: 10n, amount1: 20n }
    expect(v2.apply(UNISWAP, pair(990n, 1980n), state, burn).verdict).toBe('verified')
    expect(v2.apply(UNISWAP, pair(991n, 1980n), state, burn).verdict).toBe('verified')
    expect(v2.apply(UNISWAP, pair(990n, 1979n), state, burn).differences).toEqual([
      { field: 'reserve1', event: 1979n, computed: 1980n },
    ])
  })

  it('R-depth-1, R-product-3: has a depth that stays within the boundary, and one unit more does not', () => {
    fc.assert(
      fc.property(terms, pairs, side, (t, state, x) => {
        const depth = v2.depth(t, state, x, TWO_PERCENT)
        if ('reason' in depth) throw new Error('a pair is always complete')
        const y: Side = x === 0 ? 1 : 0
        /** The price of X in Y after `amount` of a token went in, against the bound, cross-multiplied. */
        const isInside = (token: Side, amount: bigint): boolean => {
          const { state: after } = swapOf(t, state, token, amount)
          const [x0, y0] = sides(state, x)
          const [x1, y1] = sides(after, x)
          return token === y ? y1 * x0 * 100n <= y0 * x1 * 102n : y1 * x0 * 100n >= y0 * x1 * 98n
        }
        expect(isInside(y, depth.up) && isInside(x, depth.down)).toBe(true)
        const [reserveX, reserveY] = sides(state, x)
        if (reserveY + depth.up < MAX_RESERVE) expect(isInside(y, depth.up + 1n)).toBe(false)
        if (reserveX + depth.down < MAX_RESERVE) expect(isInside(x, depth.down + 1n)).toBe(false)
      }),
      { numRuns: cases(2000) },
    )
  })

  it('has the same depths when its tokens are swapped', () => {
    const state = pair(10n ** 20n, 3n * 10n ** 20n)
    const mirrored = pair(state.reserve1, state.reserve0)
    expect(v2.depth(UNISWAP, state, 0, TWO_PERCENT)).toEqual(v2.depth(UNISWAP, mirrored, 1, TWO_PERCENT))
  })

  it('R-product-1: stops where the contract would overflow its reserves', () => {
    const full = pair(MAX_RESERVE, MAX_RESERVE - 10n)
    expect(v2.depth(UNISWAP, full, 0, TWO_PERCENT)).toEqual({ up: 10n, down: 0n })
    expect(v2.swapExactIn(UNISWAP, full, 1, 1000n)).toMatchObject({ amountIn: 10n })
    expect(v2.smallestInput(UNISWAP, full, 0, 1n)).toBeNull()
    expect(v2.smallestInput(UNISWAP, full, 1, 1n)).toBe(2n)
  })

  it('without reserves is not live and divides by nothing', () => {
    for (const state of [pair(0n, 0n), pair(0n, 5n), pair(5n, 0n)]) {
      expect(v2.isLive(UNISWAP, state)).toBe(false)
      expect(v2.depth(UNISWAP, state, 0, TWO_PERCENT)).toEqual({ up: 0n, down: 0n })
      expect(v2.swapExactIn(UNISWAP, state, 0, 7n)).toEqual({ amountIn: 0n, amountOut: 0n, state })
      expect(v2.smallestInput(UNISWAP, state, 0, 1n)).toBeNull()
      expect(() => v2.marginal(state)).toThrow('empty')
    }
    expect(v2.isLive(UNISWAP, pair(1n, 1n))).toBe(true)
    expect(v2.depth(UNISWAP, pair(1n, 1n), 0, TWO_PERCENT)).toEqual({ up: 0n, down: 0n })
    expect(v2.marginal(pair(2n, 3n))).toEqual({ num: 3n, den: 2n })
    expect(v2.smallestInput(UNISWAP, pair(2n, 3n), 0, 0n)).toBe(0n)
  })
})

function swapOf(t: V2Terms, state: V2State, token: Side, amount: bigint): { state: V2State } {
  const swap = v2.swapExactIn(t, state, token, amount)
  return 'reason' in swap ? expect.unreachable('a pair is always complete') : swap
}

function sides(state: V2State, x: Side): readonly [bigint, bigint] {
  return x === 0 ? [state.reserve0, state.reserve1] : [state.reserve1, state.reserve0]
}
