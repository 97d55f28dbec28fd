import type { Side } from './states.ts'
import type { V3State, V3Terms } from './v3/kind.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases, natural } from '../testing/cases.ts'
import { type Tick, tick as toTick } from '../units.ts'
import { extremeLimit } from './priceLimit.ts'
import * as swapLoop from './swapLoop.ts'
import { build, farLimit, knownBetween, poolPlan } from '../testing/pools.ts'
import * as tickBook from './tickBook.ts'
import { sqrtRatioAtTick } from './tickMath.ts'
import { MAX_TICK, MIN_TICK } from './ticks.ts'

const side = fc.constantFrom<Side>(0, 1)
const order: fc.Arbitrary<swapLoop.Order> = fc.oneof(
  natural(120).map(amount => ({ kind: 'EXACT_IN' as const, amount })),
  natural(120).map(amount => ({ kind: 'EXACT_OUT' as const, amount })),
)
const distance = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 4000 }))

const clamp = (tick: number): Tick => toTick(Math.min(Math.max(tick, MIN_TICK), MAX_TICK))

const pool = (liquidity: bigint, lower: number, upper: number): { terms: V3Terms; state: V3State } => {
  const book = tickBook.fromLoaded(toTick(60), null)
  book.change({ lower: toTick(lower), upper: toTick(upper), delta: liquidity })
  return {
    terms: { family: 'amm_v3', feePpm: 3000n, tickSpacing: toTick(60), book },
    state: { family: 'amm_v3', sqrtPriceX96: 1n << 96n, tick: toTick(0), liquidity },
  }
}

describe('swap loop', () => {
  it('R-ticks-4: with fewer known ticks it gives the same answer or none, and one for any input that stays inside', () => {
    let known = 0
    fc.assert(
      fc.property(poolPlan, side, order, distance, distance, (plan, token, what, below, above) => {
        const { terms, state } = build(plan)
        const lowest = clamp(state.tick - below)
        const highest = clamp(state.tick + above)
        const partial = knownBetween(terms, lowest, highest)
        const full = swapLoop.swap(terms, state, token, what, farLimit(state, terms, token))
        const answer = swapLoop.swap(partial, state, token, what, farLimit(state, terms, token))
        if ('reason' in full) throw new Error('the whole range is known')
        const isInside =
          token === 0
            ? full.sqrtPriceX96 > sqrtRatioAtTick(lowest)
            : full.sqrtPriceX96 < sqrtRatioAtTick(highest) && state.tick < highest
        // An output that empties a segment to the unit moves the price to its end, which may not be known.
        const mustBeKnown = isInside && what.kind === 'EXACT_IN'
        if (mustBeKnown) known++
        if (mustBeKnown || !('reason' in answer)) expect(answer).toEqual(full)
      }),
      { numRuns: cases(2500) },
    )
    expect(known).toBeGreaterThan(200)
  })

  it('walks to a limit exactly when the limit is within the known ticks', () => {
    fc.assert(
      fc.property(poolPlan, side, distance, distance, distance, (plan, token, below, above, far) => {
        const { terms, state } = build(plan)
        const lowest = clamp(state.tick - below)
        const highest = clamp(state.tick + above)
        const limitTick = clamp(token === 0 ? state.tick - far : state.tick + 1 + far)
        const limit = sqrtRatioAtTick(limitTick)
        fc.pre(limitTick > MIN_TICK && limitTick < MAX_TICK && limit !== state.sqrtPriceX96)
        const answer = swapLoop.swap(
          knownBetween(terms, lowest, highest),
          state,
          token,
          swapLoop.TO_LIMIT,
          limit,
        )
        const isInside = token === 0 ? limitTick >= lowest : limitTick <= highest && state.tick < highest
        if (isInside) expect(answer).toEqual(swapLoop.swap(terms, state, token, swapLoop.TO_LIMIT, limit))
        else expect(answer).toHaveProperty('reason', 'INCOMPLETE')
      }),
      { numRuns: cases(2000) },
    )
  })

  it('more input never gives less output', () => {
    fc.assert(
      fc.property(poolPlan, side, natural(120), natural(40), (plan, token, amount, more) => {
        const { terms, state } = build(plan)
        const less = swapLoop.swap(
          terms,
          state,
          token,
          { kind: 'EXACT_IN', amount },
          farLimit(state, terms, token),
        )
        const order = { kind: 'EXACT_IN', amount: amount + more } as const
        const greater = swapLoop.swap(terms, state, token, order, farLimit(state, terms, token))
        if ('reason' in less || 'reason' in greater) throw new Error('the whole range is known')
        const [a, b] = token === 0 ? [less.amount1, greater.amount1] : [less.amount0, greater.amount0]
        expect(b <= a).toBe(true)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('takes all of an exact input unless the limit comes first', () => {
    fc.assert(
      fc.property(poolPlan, side, natural(120), (plan, token, amount) => {
        const { terms, state } = build(plan)
        const swap = swapLoop.swap(
          terms,
          state,
          token,
          { kind: 'EXACT_IN', amount },
          farLimit(state, terms, token),
        )
        if ('reason' in swap) throw new Error('the whole range is known')
        const taken = token === 0 ? swap.amount0 : swap.amount1
        if (swap.sqrtPriceX96 === farLimit(state, terms, token)) expect(taken <= amount).toBe(true)
        else expect(taken).toBe(amount)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('crosses a tick it ends on, so that the liquidity beyond it is in force', () => {
    const { terms, state } = pool(10n ** 18n, -60, 60)
    const limit = sqrtRatioAtTick(toTick(-60))
    const down = swapLoop.swap(terms, state, 0, swapLoop.TO_LIMIT, limit)
    expect(down).toMatchObject({ sqrtPriceX96: limit, tick: -61, liquidity: 0n })
    const up = swapLoop.swap(terms, state, 1, swapLoop.TO_LIMIT, sqrtRatioAtTick(toTick(60)))
    expect(up).toMatchObject({ tick: 60, liquidity: 0n })
  })

  it('ends on the last known tick as the contract does when that is a word edge', () => {
    const { terms, state } = pool(10n ** 18n, -60_000, 60_000)
    // The words of spacing 60 begin at multiples of 15,360 and end 60 before them.
    const words = knownBetween(terms, toTick(-15_360), toTick(15_300))
    for (const [token, edge] of [
      [0, -15_360],
      [1, 15_300],
    ] as const) {
      const limit = sqrtRatioAtTick(toTick(edge))
      const full = swapLoop.swap(terms, state, token, swapLoop.TO_LIMIT, limit)
      if ('reason' in full) throw new Error('the whole range is known')
      expect(full.tick).toBe(token === 0 ? edge - 1 : edge)
      expect(swapLoop.swap(words, state, token, swapLoop.TO_LIMIT, limit)).toEqual(full)
      const amount = token === 0 ? full.amount0 : full.amount1
      const exact = { kind: 'EXACT_IN', amount } as const
      const extreme = extremeLimit(state.sqrtPriceX96, token)
      expect(swapLoop.swap(words, state, token, exact, extreme)).toEqual(full)
      const more = { kind: 'EXACT_IN', amount: amount + 10n } as const
      expect(swapLoop.swap(words, state, token, more, extreme)).toHaveProperty('reason', 'INCOMPLETE')
    }
  })

  it('returns Incomplete when the book removes more than there is', () => {
    const { terms, state } = pool(10n ** 18n, -60, 60)
    const wrong = { ...state, liquidity: 10n ** 17n }
    expect(
      swapLoop.swap(terms, wrong, 0, swapLoop.TO_LIMIT, extremeLimit(wrong.sqrtPriceX96, 0)),
    ).toHaveProperty('reason', 'INCOMPLETE')
  })

  it('refuses a limit behind the price', () => {
    const { terms, state } = pool(1n, -60, 60)
    expect(() => swapLoop.swap(terms, state, 0, swapLoop.TO_LIMIT, (1n << 96n) + 1n)).toThrow('behind')
    expect(() => swapLoop.swap(terms, state, 1, swapLoop.TO_LIMIT, (1n << 96n) - 1n)).toThrow('behind')
  })
})
