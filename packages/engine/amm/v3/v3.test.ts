import type { Boundary } from '../adapter.ts'
import { adapterOf } from '../families.ts'
import type { Side } from '../states.ts'
import type { V3Event, V3State, V3Terms } from './kind.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases, natural } from '../../testing/cases.ts'
import { type Tick, tick as toTick } from '../../units.ts'
import * as priceLimit from '../priceLimit.ts'
import * as swapLoop from '../swapLoop.ts'
import {
  build,
  changeOf,
  DENSE,
  farLimit,
  knownBetween,
  poolPlan,
  positionPlan,
} from '../../testing/pools.ts'
import * as tickBook from '../tickBook.ts'
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO, sqrtRatioAtTick } from '../tickMath.ts'
import { MAX_TICK, MIN_TICK } from '../ticks.ts'

const v3 = adapterOf('amm_v3')
const Q96 = 1n << 96n
const percent = (points: bigint): Boundary => ({
  up: { num: 100n + points, den: 100n },
  down: { num: 100n - points, den: 100n },
})
const TWO_PERCENT = percent(2n)

const side = fc.constantFrom<Side>(0, 1)
const order: fc.Arbitrary<swapLoop.Order> = fc.oneof(
  natural(120).map(amount => ({ kind: 'EXACT_IN' as const, amount })),
  natural(120).map(amount => ({ kind: 'EXACT_OUT' as const, amount })),
  fc.constant(swapLoop.TO_LIMIT),
)
/** Where a swap that is not stopped by its amount ends: beside a tick, and sometimes on it. */
const end = fc.tuple(fc.integer({ min: 0, max: 900 }), fc.constantFrom(-1n, 0n, 1n, 12_345n))

const clamp = (tick: number): Tick => toTick(Math.min(Math.max(tick, MIN_TICK + 1), MAX_TICK - 1))
const stateOf = ({ sqrtPriceX96, tick, liquidity }: swapLoop.Swap): V3State => ({
  family: 'amm_v3',
  sqrtPriceX96,
  tick,
  liquidity,
})

/** A pool of fee 3000 at price 1 with one position. */
function onePosition(liquidity: bigint, lower = -600, upper = 600): { terms: V3Terms; state: V3State } {
  const book = tickBook.fromLoaded(toTick(60), null)
  book.change({ lower: toTick(lower), upper: toTick(upper), delta: liquidity })
  return {
    terms: { family: 'amm_v3', feePpm: 3000n, tickSpacing: toTick(60), book },
    state: { family: 'amm_v3', sqrtPriceX96: Q96, tick: toTick(0), liquidity },
  }
}

/** A swap that could have happened, or null when the drawn limit is not ahead of the price. */
function happened(
  terms: V3Terms,
  state: V3State,
  token: Side,
  what: swapLoop.Order,
  [distance, offset]: readonly [number, bigint],
): swapLoop.Swap | null {
  const limit = sqrtRatioAtTick(clamp(state.tick + (token === 0 ? -distance : distance))) + offset
  const isAhead = token === 0 ? limit < state.sqrtPriceX96 : limit > state.sqrtPriceX96
  if (!isAhead || limit <= MIN_SQRT_RATIO || limit >= MAX_SQRT_RATIO) return null
  const swap = swapLoop.swap(terms, state, token, what, limit)
  return 'reason' in swap ? null : swap
}

describe('a v3 Swap event', () => {
  it('R-ticks-2: is verified when it happened, whatever was requested, and becomes the state', () => {
    fc.assert(
      fc.property(poolPlan, side, order, end, (plan, token, what, where) => {
        const { terms, state } = build(plan)
        const swap = happened(terms, state, token, what, where)
        fc.pre(swap !== null)
        const applied = v3.apply(terms, state, state, { kind: 'SWAP', ...swap })
        expect(applied).toEqual({
          state: stateOf(swap),
          verdict: 'verified',
          differences: [],
          tickChange: null,
        })
      }),
      { numRuns: cases(3000) },
    )
  })

  it('R-ticks-4: with fewer known ticks is verified or incomplete, never unverified', () => {
    const seen = { verified: 0, incomplete: 0, unverified: 0 }
    fc.assert(
      fc.property(
        poolPlan,
        side,
        order,
        end,
        fc.nat(900),
        fc.nat(900),
        (plan, token, what, where, below, above) => {
          const { terms, state } = build(plan)
          const swap = happened(terms, state, token, what, where)
          fc.pre(swap !== null)
          const partial = knownBetween(terms, clamp(state.tick - below), clamp(state.tick + above))
          const applied = v3.apply(partial, state, state, { kind: 'SWAP', ...swap })
          seen[applied.verdict]++
          expect(applied.verdict).not.toBe('unverified')
          expect(applied.state).toEqual(stateOf(swap))
        },
      ),
      { numRuns: cases(2000) },
    )
    expect(Math.min(seen.verified, seen.incomplete)).toBeGreaterThan(100)
  })

  it('with a tick or liquidity that does not match its price is unverified', () => {
    fc.assert(
      fc.property(
        poolPlan,
        side,
        order,
        end,
        fc.constantFrom('tick', 'liquidity'),
        (plan, token, what, where, field) => {
          const { terms, state } = build(plan)
          const swap = happened(terms, state, token, what, where)
          fc.pre(swap !== null)
          const wrong =
            field === 'tick'
              ? { ...swap, tick: toTick(swap.tick + 1) }
              : { ...swap, liquidity: swap.liquidity + 1n }
          const applied = v3.apply(terms, state, state, { kind: 'SWAP', ...wrong })
          expect(applied.verdict).toBe('unverified')
          // Another way may miss by one field too, never by none.
          expect(applied.differences).toHaveLength(1)
          expect(applied.state).toEqual(stateOf(wrong))
        },
      ),
      { numRuns: cases(1000) },
    )
  })

  it('that paid half the input it needed is unverified', () => {
    const amount = fc.bigInt({ min: 10n ** 6n, max: 10n ** 15n })
    fc.assert(
      fc.property(amount, side, fc.boolean(), (value, token, isInput) => {
        const { terms, state } = onePosition(10n ** 18n)
        const what = { kind: isInput ? 'EXACT_IN' : 'EXACT_OUT', amount: value } as const
        const swap = happened(terms, state, token, what, [590, 0n])
        if (swap === null) throw new Error('the whole range is known')
        const wrong =
          token === 0 ? { ...swap, amount0: swap.amount0 / 2n } : { ...swap, amount1: swap.amount1 / 2n }
        const { verdict, differences } = v3.apply(terms, state, state, { kind: 'SWAP', ...wrong })
        expect(verdict).toBe('unverified')
        expect(differences.map(one => one.field)).toEqual([token === 0 ? 'amount0' : 'amount1'])
      }),
      { numRuns: cases(500) },
    )
  })

  it('never makes the adapter throw, whatever it contains', () => {
    const wild = fc.bigInt({ min: -(1n << 255n), max: (1n << 255n) - 1n })
    fc.assert(
      fc.property(
        poolPlan,
        wild,
        wild,
        natural(161),
        natural(130),
        fc.integer(),
        (plan, amount0, amount1, price, liquidity, at) => {
          const { terms, state } = build(plan)
          const tick = toTick(at % (1 << 23))
          const event: V3Event = { kind: 'SWAP', amount0, amount1, sqrtPriceX96: price - 1n, liquidity, tick }
          // No limit of the test's own: keep to pools in which the way to the end of the range is short.
          fc.pre(terms.tickSpacing >= 60)
          const after = v3.apply(terms, state, state, event)
          expect(after.verdict).not.toBe('verified')
          const next = v3.apply(terms, after.state, state, event)
          expect(['unverified', 'incomplete', 'verified']).toContain(next.verdict)
          v3.depth(terms, after.state, 0, TWO_PERCENT)
          v3.swapExactIn(terms, after.state, 0, 1000n)
          v3.smallestInput(terms, after.state, 1, 1000n)
          expect(v3.isLive(terms, after.state)).toBe(price > 1n)
        },
      ),
      { numRuns: cases(600) },
    )
  })

  it('on a pool that has no price yet is unverified', () => {
    const { terms } = onePosition(1000n)
    const state: V3State = { family: 'amm_v3', sqrtPriceX96: 0n, tick: toTick(0), liquidity: 0n }
    const event: V3Event = {
      kind: 'SWAP',
      amount0: 1n,
      amount1: 0n,
      sqrtPriceX96: Q96,
      liquidity: 0n,
      tick: toTick(0),
    }
    const { verdict, differences } = v3.apply(terms, state, state, event)
    expect(verdict).toBe('unverified')
    expect(differences).toContainEqual({ field: 'sqrtPriceX96', event: Q96, computed: 0n })
  })

  it('that ended on the first unknown price is incomplete, not unverified', () => {
    // So much liquidity that one unit more than the way to -30 takes does not move the price.
    const { terms, state } = onePosition(1n << 110n)
    const end = sqrtRatioAtTick(toTick(-30))
    const walk = swapLoop.swap(terms, state, 0, swapLoop.TO_LIMIT, end)
    if ('reason' in walk) throw new Error('the whole range is known')
    const swap = swapLoop.swap(terms, state, 0, { kind: 'EXACT_IN', amount: walk.amount0 + 1n }, end - 1n)
    if ('reason' in swap) throw new Error('the whole range is known')
    expect(swap).toMatchObject({ sqrtPriceX96: end, amount0: walk.amount0 + 1n })
    const event = { kind: 'SWAP', ...swap } as const
    expect(v3.apply(terms, state, state, event).verdict).toBe('verified')
    const partial = knownBetween(terms, toTick(-30), toTick(600))
    expect(v3.apply(partial, state, state, event).verdict).toBe('incomplete')
  })

  it('that crossed an unknown tick without moving the price is incomplete', () => {
    const book = tickBook.fromLoaded(toTick(1), null)
    book.change({ lower: toTick(0), upper: toTick(1), delta: 1n })
    const terms: V3Terms = { family: 'amm_v3', feePpm: 100n, tickSpacing: toTick(1), book }
    const state: V3State = { family: 'amm_v3', sqrtPriceX96: Q96, tick: toTick(-1), liquidity: 0n }
    const event: V3Event = {
      kind: 'SWAP',
      amount0: 0n,
      amount1: 1n,
      sqrtPriceX96: Q96,
      liquidity: 1n,
      tick: toTick(0),
    }
    expect(v3.apply(terms, state, state, event).verdict).toBe('verified')
    const partial = knownBetween(terms, toTick(-1), toTick(-1))
    expect(v3.apply(partial, state, state, event).verdict).toBe('incomplete')
    const down: V3Event = { ...event, amount0: 1n, amount1: 0n, liquidity: 0n }
    expect(v3.apply(partial, { ...state, tick: toTick(0), liquidity: 1n }, state, down).verdict).toBe(
      'incomplete',
    )
  })

  it('over a book that contradicts the liquidity before it is incomplete', () => {
    const { terms, state } = onePosition(10n ** 18n)
    const swap = happened(terms, state, 0, swapLoop.TO_LIMIT, [900, 0n])
    if (swap === null) throw new Error('the whole range is known')
    const wrong = { ...state, liquidity: 10n ** 17n }
    expect(v3.apply(terms, wrong, wrong, { kind: 'SWAP', ...swap }).verdict).toBe('incomplete')
    const torn = { ...state, tick: toTick(5000) }
    expect(v3.apply(terms, torn, torn, { kind: 'SWAP', ...swap }).verdict).toBe('incomplete')
  })

  it('reports the nearest of the three explanations', () => {
    const { terms, state } = onePosition(10n ** 18n)
    const swap = happened(terms, state, 0, { kind: 'EXACT_IN', amount: 10n ** 15n }, [500, 0n])
    if (swap === null) throw new Error('the whole range is known')
    const short = { ...swap, amount1: swap.amount1 + 1n }
    const { differences } = v3.apply(terms, state, state, { kind: 'SWAP', ...short })
    expect(differences).toEqual([{ field: 'amount1', event: short.amount1, computed: swap.amount1 }])
  })
})

describe('v3 Initialize, Mint and Burn', () => {
  const uninitialised: V3State = { family: 'amm_v3', sqrtPriceX96: 0n, tick: toTick(0), liquidity: 0n }

  it('R-ticks-3: an Initialize sets the price, once and with its own tick', () => {
    const { terms } = onePosition(1n)
    const event: V3Event = { kind: 'INITIALIZE', sqrtPriceX96: Q96, tick: toTick(0) }
    const first = v3.apply(terms, uninitialised, uninitialised, event)
    expect(first).toMatchObject({ verdict: 'verified', state: { sqrtPriceX96: Q96, tick: 0, liquidity: 0n } })
    expect(v3.apply(terms, first.state, uninitialised, event).verdict).toBe('unverified')
    const wrongTick = v3.apply(terms, uninitialised, uninitialised, { ...event, tick: toTick(1) })
    expect(wrongTick.differences).toEqual([{ field: 'tick', event: 1n, computed: 0n }])
    const wrongPrice = v3.apply(terms, uninitialised, uninitialised, {
      ...event,
      sqrtPriceX96: MAX_SQRT_RATIO,
    })
    expect(wrongPrice.verdict).toBe('unverified')
    // The contract lets a pool start at the very bottom, one below where a swap can go.
    const lowest = { ...event, sqrtPriceX96: MIN_SQRT_RATIO, tick: MIN_TICK }
    expect(v3.apply(terms, uninitialised, uninitialised, lowest).verdict).toBe('verified')
  })

  it('a Mint at price 1 pays the same of both tokens rounded up, and a Burn gets it rounded down', () => {
    const { terms, state } = onePosition(10n ** 18n)
    const ticks = { tickLower: toTick(-600), tickUpper: toTick(600) }
    // python3 -c "from decimal import *; getcontext().prec=60; print(10**18*(1-1/Decimal('1.0001')**300))"
    const [floor, ceiling] = [29553010879137169n, 29553010879137170n]
    const mint: V3Event = {
      kind: 'MINT',
      ...ticks,
      liquidity: 10n ** 18n,
      amount0: ceiling,
      amount1: ceiling,
    }
    const minted = v3.apply(terms, state, state, mint)
    expect(minted).toMatchObject({ verdict: 'verified', state: { liquidity: 2n * 10n ** 18n } })
    const burn: V3Event = { ...mint, kind: 'BURN', amount0: floor, amount1: floor }
    expect(v3.apply(terms, minted.state, state, burn)).toMatchObject({ verdict: 'verified', state })
    const wrong = v3.apply(terms, state, state, { ...mint, amount0: floor })
    expect(wrong.differences).toEqual([{ field: 'amount0', event: floor, computed: ceiling }])
  })

  it('changes the book, and the active liquidity only around the price; the inverse undoes it', () => {
    fc.assert(
      fc.property(poolPlan, positionPlan, (plan, position) => {
        const { terms, state } = build(plan)
        const change = changeOf(plan, position)
        fc.pre(change !== null)
        const before = terms.book.entries()
        const ticks = { tickLower: change.lower, tickUpper: change.upper }
        const event = { kind: 'MINT', ...ticks, liquidity: change.delta, amount0: 0n, amount1: 0n } as const
        const minted = v3.apply(terms, state, state, event)
        fc.pre(minted.tickChange !== null)
        expect(minted.tickChange).toEqual(change)
        const isInside = change.lower <= state.tick && state.tick < change.upper
        expect(minted.state.liquidity - state.liquidity).toBe(isInside ? change.delta : 0n)
        const burnt = v3.apply(terms, minted.state, state, { ...event, kind: 'BURN' })
        expect(burnt.state).toEqual(state)
        expect(terms.book.entries()).toEqual(before)
        const again = v3.apply(terms, state, state, event)
        expect(terms.book.change({ ...change, delta: -change.delta })).toBe(true)
        expect(again.state).toEqual(minted.state)
        expect(terms.book.entries()).toEqual(before)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('R-ticks-3: a Mint and a Burn are checked against the exact value of the position, rounded up and down', () => {
    fc.assert(
      fc.property(poolPlan, positionPlan, (plan, position) => {
        const { terms, state } = build(plan)
        const change = changeOf(plan, position)
        fc.pre(change !== null && terms.book.change(change) && state.liquidity + change.delta < 1n << 128n)
        const [lower, upper] = [sqrtRatioAtTick(change.lower), sqrtRatioAtTick(change.upper)]
        const price = state.sqrtPriceX96
        const at = price < lower ? lower : price > upper ? upper : price
        // L * 2^96 * (1/at - 1/upper) and L * (at - lower) / 2^96 as fractions.
        const exact0 = { num: change.delta * Q96 * (upper - at), den: at * upper }
        const exact1 = { num: change.delta * (at - lower), den: Q96 }
        const ticks = { tickLower: change.lower, tickUpper: change.upper, liquidity: change.delta }
        const inForce = change.lower <= state.tick && state.tick < change.upper ? change.delta : 0n
        const before = { ...state, liquidity: state.liquidity + inForce }
        const out = { amount0: exact0.num / exact0.den, amount1: exact1.num / exact1.den }
        const burnt = v3.apply(terms, before, before, { kind: 'BURN', ...ticks, ...out })
        expect(burnt).toMatchObject({ verdict: 'verified', state })
        const up = { ...out }
        if (exact0.num % exact0.den > 0n) up.amount0 += 1n
        if (exact1.num % exact1.den > 0n) up.amount1 += 1n
        const minted = v3.apply(terms, burnt.state, before, { kind: 'MINT', ...ticks, ...up })
        expect(minted).toMatchObject({ verdict: 'verified', state: before })
      }),
      { numRuns: cases(1500) },
    )
  })

  it('a Mint pays what the position is worth on withdrawal, rounded up', () => {
    // A position bought at the price and swapped through from end to end is worth what goes in and comes out.
    fc.assert(
      fc.property(
        natural(100),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        (liquidity, down, up) => {
          const { terms, state } = onePosition(liquidity, -60 * down, 60 * up)
          const probe: V3Event = {
            kind: 'BURN',
            tickLower: toTick(-60 * down),
            tickUpper: toTick(60 * up),
            liquidity,
            amount0: -1n,
            amount1: -1n,
          }
          const out1 = swapLoop.swap(terms, state, 0, swapLoop.TO_LIMIT, sqrtRatioAtTick(toTick(-60 * down)))
          const out0 = swapLoop.swap(terms, state, 1, swapLoop.TO_LIMIT, sqrtRatioAtTick(toTick(60 * up)))
          if ('reason' in out0 || 'reason' in out1) throw new Error('the whole range is known')
          const burnt = v3.apply(terms, state, state, probe)
          const worth0 = paid(burnt, 'amount0', -1n)
          const worth1 = paid(burnt, 'amount1', -1n)
          // Leaving in one step it is the same floor; an edge on the way takes at most one unit more.
          expect(worth0 + out0.amount0 <= 1n && worth0 + out0.amount0 >= 0n).toBe(true)
          expect(worth1 + out1.amount1 <= 1n && worth1 + out1.amount1 >= 0n).toBe(true)
        },
      ),
      { numRuns: cases(500) },
    )
  })

  it('a Burn of more than there is is unverified and changes nothing', () => {
    const { terms, state } = onePosition(1000n)
    const before = terms.book.entries()
    const burn: V3Event = {
      kind: 'BURN',
      tickLower: toTick(-600),
      tickUpper: toTick(600),
      liquidity: 1001n,
      amount0: 0n,
      amount1: 0n,
    }
    const applied = v3.apply(terms, state, state, burn)
    expect(applied).toEqual({
      state,
      verdict: 'unverified',
      differences: [{ field: 'liquidity', event: 1001n, computed: 1000n }],
      tickChange: null,
    })
    const elsewhere = { ...burn, tickLower: toTick(-1200), liquidity: 1n }
    expect(v3.apply(terms, state, state, elsewhere).verdict).toBe('unverified')
    const unusable = { ...burn, kind: 'MINT' as const, tickLower: toTick(-601), liquidity: 1n }
    expect(v3.apply(terms, state, state, unusable).verdict).toBe('unverified')
    expect(terms.book.entries()).toEqual(before)
  })

  it('a Mint past 128 bits of active liquidity is unverified', () => {
    const { terms, state } = onePosition(1n << 127n)
    const event: V3Event = {
      kind: 'MINT',
      tickLower: toTick(-1200),
      tickUpper: toTick(1200),
      liquidity: 1n << 127n,
      amount0: 0n,
      amount1: 0n,
    }
    const before = terms.book.entries()
    expect(v3.apply(terms, state, state, event)).toMatchObject({
      state,
      verdict: 'unverified',
      tickChange: null,
    })
    expect(terms.book.entries()).toEqual(before)
  })

  it('a Burn of nothing is the poke that collects fees', () => {
    const { terms, state } = onePosition(1000n)
    const poke: V3Event = {
      kind: 'BURN',
      tickLower: toTick(-600),
      tickUpper: toTick(600),
      liquidity: 0n,
      amount0: 0n,
      amount1: 0n,
    }
    expect(v3.apply(terms, state, state, poke)).toEqual({
      state,
      verdict: 'verified',
      differences: [],
      tickChange: null,
    })
  })
})

describe('v3 depth', () => {
  it('R-ticks-5, R-depth-1: is what the swap loop takes in up to the limit, in both orientations', () => {
    fc.assert(
      fc.property(poolPlan, side, fc.constantFrom(1n, 2n, 5n, 10n), (plan, x, points) => {
        const { terms, state } = build(plan)
        const boundary = percent(points)
        const depth = v3.depth(terms, state, x, boundary)
        if ('reason' in depth) throw new Error('the whole range is known')
        const { below, above } = priceLimit.rootsOf(boundary, x)
        const token0 = walk(terms, state, 0, priceLimit.limitBelow(state.sqrtPriceX96, below))
        const token1 = walk(terms, state, 1, priceLimit.limitAbove(state.sqrtPriceX96, above))
        expect(depth).toEqual(x === 0 ? { up: token1, down: token0 } : { up: token0, down: token1 })
      }),
      { numRuns: cases(1500) },
    )
  })

  it('does not fall when the boundary widens or liquidity is added', () => {
    fc.assert(
      fc.property(poolPlan, positionPlan, side, (plan, position, x) => {
        const { terms, state } = build(plan)
        const depths = [1n, 2n, 5n, 10n].map(points => v3.depth(terms, state, x, percent(points)))
        for (const [i, wider] of depths.entries()) {
          const narrower = depths[i - 1]
          if (narrower === undefined || 'reason' in narrower || 'reason' in wider) continue
          expect(wider.up >= narrower.up && wider.down >= narrower.down).toBe(true)
        }
        const change = changeOf(plan, position)
        fc.pre(change !== null && terms.book.change(change))
        const isInside = change.lower <= state.tick && state.tick < change.upper
        const liquidity = state.liquidity + (isInside ? change.delta : 0n)
        const before = depths[1]
        const after = v3.depth(terms, { ...state, liquidity }, x, TWO_PERCENT)
        if (before === undefined || 'reason' in before || 'reason' in after)
          throw new Error('the whole range is known')
        // A new tick splits a segment and both parts round up; nothing makes it less.
        expect(after.up >= before.up && after.down >= before.down).toBe(true)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('is the smallest input that reaches the last price inside the boundary', () => {
    const { terms, state } = build(DENSE)
    const depth = v3.depth(terms, state, 0, TWO_PERCENT)
    if ('reason' in depth) throw new Error('the whole range is known')
    const start = state.sqrtPriceX96 * state.sqrtPriceX96
    const priceAfter = (token: Side, amount: bigint): bigint => {
      const swap = v3.swapExactIn(terms, state, token, amount)
      return 'reason' in swap ? expect.unreachable() : swap.state.sqrtPriceX96
    }
    const isInsideDown = (price: bigint): boolean => price * price * 100n >= start * 98n
    const isInsideUp = (price: bigint): boolean => price * price * 100n <= start * 102n
    // One unit less stays short of the limit; with it the price is there, or past it by what rounding gave.
    expect(isInsideDown(priceAfter(0, depth.down - 1n) - 1n)).toBe(true)
    expect(isInsideDown(priceAfter(0, depth.down) - 1n)).toBe(false)
    expect(isInsideUp(priceAfter(1, depth.up - 1n) + 1n)).toBe(true)
    expect(isInsideUp(priceAfter(1, depth.up) + 1n)).toBe(false)
    expect(terms.book.hasDepthIndex).toBe(true)
  })

  it('R-ticks-4: is unknown when the known ticks end inside the boundary', () => {
    const { terms, state } = build(DENSE)
    const near = knownBetween(terms, toTick(state.tick - 250), toTick(state.tick + 150))
    expect(v3.depth(near, state, 0, TWO_PERCENT)).toHaveProperty('reason', 'INCOMPLETE')
    const enough = knownBetween(terms, toTick(state.tick - 210), toTick(state.tick + 210))
    expect(v3.depth(enough, state, 0, TWO_PERCENT)).toEqual(v3.depth(terms, state, 0, TWO_PERCENT))
  })

  it('of a pool at either end of the price range is exact, and of one without a price zero', () => {
    const { terms } = onePosition(1n)
    const book = tickBook.fromLoaded(toTick(60), null)
    book.change({ lower: toTick(-887220), upper: toTick(887220), delta: 10n ** 30n })
    const full = { ...terms, book }
    const ends = [MIN_SQRT_RATIO, MIN_SQRT_RATIO + 1n, MAX_SQRT_RATIO - 1n, MAX_SQRT_RATIO - 2n]
    for (const sqrtPriceX96 of ends) {
      const tick = sqrtPriceX96 < Q96 ? MIN_TICK : toTick(MAX_TICK - 1)
      const state: V3State = { family: 'amm_v3', sqrtPriceX96, tick, liquidity: 0n }
      const depth = v3.depth(full, state, 0, TWO_PERCENT)
      if ('reason' in depth) throw new Error('the whole range is known')
      expect(depth.down > 0n).toBe(sqrtPriceX96 > Q96)
      expect(depth.up > 0n).toBe(sqrtPriceX96 < Q96)
      const back = v3.swapExactIn(full, state, sqrtPriceX96 < Q96 ? 0 : 1, 1000n)
      expect(back).toMatchObject({ amountIn: 0n, amountOut: 0n })
    }
    const none: V3State = { family: 'amm_v3', sqrtPriceX96: 0n, tick: toTick(0), liquidity: 0n }
    expect(v3.depth(full, none, 0, TWO_PERCENT)).toEqual({ up: 0n, down: 0n })
    expect(v3.isLive(full, none)).toBe(false)
    expect(v3.swapExactIn(full, none, 0, 5n)).toEqual({ amountIn: 0n, amountOut: 0n, state: none })
    expect(v3.smallestInput(full, none, 0, 5n)).toBeNull()
    expect(() => v3.marginal(none)).toThrow('without a price')
  })
})

describe('v3 inputs', () => {
  it('R-ticks-6: the smallest input gives the output, and one unit less does not', () => {
    const seen = { some: 0, none: 0 }
    fc.assert(
      fc.property(poolPlan, side, natural(100), (plan, token, amountOut) => {
        const { terms, state } = build({
          ...plan,
          tier: { feePpm: plan.tier.feePpm, tickSpacing: wide(plan.tier.tickSpacing) },
        })
        const input = v3.smallestInput(terms, state, token, amountOut)
        if (typeof input !== 'bigint') {
          seen.none++
          expect(input).toBeNull()
          const all = v3.swapExactIn(terms, state, token, 1n << 240n)
          expect('reason' in all || all.amountOut < amountOut).toBe(true)
          return
        }
        seen.some++
        expect(output(terms, state, token, input) >= amountOut).toBe(true)
        if (input > 0n) expect(output(terms, state, token, input - 1n) < amountOut).toBe(true)
      }),
      { numRuns: cases(1500) },
    )
    expect(Math.min(seen.some, seen.none)).toBeGreaterThan(100)
  })

  it('the smallest input for all that a segment holds is found below the exact-output price', () => {
    // 10 units of liquidity pay their last unit well before the tick ends.
    const { terms, state } = onePosition(1000n, -60, 60)
    const all = swapLoop.swap(terms, state, 0, swapLoop.TO_LIMIT, sqrtRatioAtTick(toTick(-60)))
    if ('reason' in all) throw new Error('the whole range is known')
    const smallest = v3.smallestInput(terms, state, 0, -all.amount1)
    expect(smallest).toBeLessThan(all.amount0)
    expect(output(terms, state, 0, smallest as bigint)).toBe(-all.amount1)
    expect(output(terms, state, 0, (smallest as bigint) - 1n)).toBe(-all.amount1 - 1n)
    expect(v3.smallestInput(terms, state, 0, 0n)).toBe(0n)
  })

  it('an exact input gives the state that its own event leaves', () => {
    fc.assert(
      fc.property(poolPlan, side, natural(110), (plan, token, amount) => {
        const { terms, state } = build(plan)
        const limit = farLimit(state, terms, token)
        const swap = swapLoop.swap(terms, state, token, { kind: 'EXACT_IN', amount }, limit)
        fc.pre(!('reason' in swap) && swap.sqrtPriceX96 !== limit)
        const simulated = v3.swapExactIn(terms, state, token, amount)
        if ('reason' in simulated) throw new Error('the whole range is known')
        const amountOut = token === 0 ? -swap.amount1 : -swap.amount0
        expect(simulated).toEqual({ amountIn: amount, amountOut, state: stateOf(swap) })
      }),
      { numRuns: cases(1000) },
    )
  })

  it('the marginal price is the square of the square root', () => {
    const { state } = onePosition(1n)
    expect(v3.marginal(state)).toEqual({ num: 1n << 192n, den: 1n << 192n })
  })
})

/** The narrow spacings have thousands of words to the end of the range; these properties go there often. */
function wide(spacing: Tick): Tick {
  return spacing < 60 ? toTick(60) : spacing
}

function output(terms: V3Terms, state: V3State, token: Side, amountIn: bigint): bigint {
  const swap = v3.swapExactIn(terms, state, token, amountIn)
  if ('reason' in swap) throw new Error('the whole range is known')
  return swap.amountOut
}

function walk(terms: V3Terms, state: V3State, token: Side, limit: bigint): bigint {
  const isAhead = token === 0 ? limit < state.sqrtPriceX96 : limit > state.sqrtPriceX96
  if (!isAhead) return 0n
  const swap = swapLoop.swap(terms, state, token, swapLoop.TO_LIMIT, limit)
  if ('reason' in swap) throw new Error('the whole range is known')
  return token === 0 ? swap.amount0 : swap.amount1
}

/** What the adapter says should have been paid: its difference, or the event's own amount. */
function paid(applied: ReturnType<typeof v3.apply>, field: string, stated: bigint): bigint {
  return applied.differences.find(one => one.field === field)?.computed ?? stated
}
