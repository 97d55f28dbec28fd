import type { Boundary } from './adapter.ts'
import type { Side, TickChange } from './states.ts'
import type { V3State, V3Terms } from './v3/kind.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases, natural } from '../testing/cases.ts'
import { type Tick, tick as toTick } from '../units.ts'
import { DepthIndex } from './depthIndex.ts'
import * as priceLimit from './priceLimit.ts'
import * as swapLoop from './swapLoop.ts'
import {
  build,
  changeOf,
  DENSE,
  farLimit,
  knownBetween,
  type PoolPlan,
  poolPlan,
  positionPlan,
} from '../testing/pools.ts'
import { sqrtRatioAtTick } from './tickMath.ts'
import { MAX_TICK, MIN_TICK } from './ticks.ts'

const percent = (points: bigint): Boundary => ({
  up: { num: 100n + points, den: 100n },
  down: { num: 100n - points, den: 100n },
})
const BOUNDARIES: readonly Boundary[] = [
  ...[1n, 2n, 5n, 10n].map(percent),
  { up: { num: 121n, den: 100n }, down: { num: 81n, den: 100n } },
  { up: { num: 40n, den: 1n }, down: { num: 1n, den: 40n } },
]

const side = fc.constantFrom<Side>(0, 1)
const boundary = fc.constantFrom(...BOUNDARIES)

const clamp = (tick: number): Tick => toTick(Math.min(Math.max(tick, MIN_TICK), MAX_TICK))

type Step =
  | { readonly kind: 'swap'; readonly side: Side; readonly amount: bigint }
  | { readonly kind: 'mint'; readonly position: Parameters<typeof changeOf>[1] }
  | { readonly kind: 'burn' | 'undo'; readonly which: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('swap' as const), side, amount: natural(118) }),
  fc.record({ kind: fc.constant('mint' as const), position: positionPlan }),
  fc.record({ kind: fc.constantFrom('burn' as const, 'undo' as const), which: fc.nat(100) }),
)
const query = fc.record({ side, x: side, boundary })

describe('R-ticks-5: depth index', () => {
  it('after any swaps, mints and burns equals the walk and a fresh index, to the unit', () => {
    fc.assert(
      fc.property(
        poolPlan,
        fc.array(fc.tuple(step, query), { minLength: 1, maxLength: 12 }),
        (plan, steps) => {
          runSteps(plan, steps)
        },
      ),
      { numRuns: cases(1000) },
    )
  })

  it('does so in a pool with a position at every tick', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, query), { minLength: 1, maxLength: 12 }), steps => {
        runSteps(DENSE, steps)
      }),
      { numRuns: cases(30) },
    )
  })

  it('answers at every price of a window, on its stops and next to them', () => {
    const { terms, state } = build(DENSE)
    const index = new DepthIndex(terms.book, terms.feePpm)
    for (let distance = -420; distance <= 420; distance++) {
      const token: Side = distance < 0 ? 0 : 1
      for (const offset of [-1n, 0n, 1n]) {
        const limit = sqrtRatioAtTick(toTick(state.tick + distance)) + offset
        if (isAhead(state, token, limit))
          expect(index.inputTo(state, token, limit, toTick(distance))).toBe(walk(terms, state, token, limit))
      }
    }
  })

  it('follows changes that begin or end where its window does', () => {
    for (const offset of [-2, -1, 0, 1, 2]) {
      for (const isLow of [true, false]) {
        // Liquidity under everything: what is missed shows as a wrong sum, not as an impossible one.
        const wide = { start: -5000n, width: 10_000n, liquidity: 10n ** 21n }
        const { terms, state } = build({ ...DENSE, positions: [...DENSE.positions, wide] })
        const { book, feePpm } = terms
        const index = book.depthIndex(0, feePpm)
        const reach = 400
        const far = (token: Side) => sqrtRatioAtTick(toTick(state.tick + (token === 0 ? -reach : reach)))
        // A hint of 200 makes a window of 402 ticks to either side.
        expect(index.inputTo(state, 0, far(0), toTick(200))).toBe(walk(terms, state, 0, far(0)))
        const edge = state.tick + (isLow ? -402 : 402) + offset
        const changes = [
          { lower: toTick(edge), upper: toTick(edge + 90), delta: 10n ** 18n },
          { lower: toTick(edge - 90), upper: toTick(edge), delta: 10n ** 19n },
          { lower: toTick(edge - 1000), upper: toTick(edge + 1000), delta: 10n ** 20n },
        ]
        let moved = state
        for (const change of changes) {
          expect(book.change(change)).toBe(true)
          const isInside = change.lower <= state.tick && state.tick < change.upper
          moved = { ...moved, liquidity: moved.liquidity + (isInside ? change.delta : 0n) }
          for (const token of [0, 1] as const) {
            expect(index.inputTo(moved, token, far(token), toTick(200))).toBe(
              walk(terms, moved, token, far(token)),
            )
          }
        }
      }
    }
  })

  it('answers for a price at the ends of its window', () => {
    const { terms, state } = build(DENSE)
    const end = {
      lower: toTick(state.tick - 700),
      upper: toTick(state.tick + 700),
      delta: 10n ** 18n + 12_345n,
    }
    expect(terms.book.change(end)).toBe(true)
    const middle = { ...state, liquidity: state.liquidity + end.delta }
    for (const distance of [-403, -402, -401, 401, 402, 403]) {
      for (const token of [0, 1] as const) {
        const index = new DepthIndex(terms.book, terms.feePpm)
        const near = sqrtRatioAtTick(toTick(state.tick - 100))
        expect(index.inputTo(middle, 0, near, toTick(200))).toBe(walk(terms, middle, 0, near))
        const tick = toTick(state.tick + distance)
        const sqrtPriceX96 = (sqrtRatioAtTick(tick) + sqrtRatioAtTick(toTick(tick + 1))) / 2n
        const moved: V3State = { family: 'amm_v3', sqrtPriceX96, tick, liquidity: end.delta }
        const limit = sqrtRatioAtTick(toTick(tick + (token === 0 ? -3 : 3)))
        expect(index.inputTo(moved, token, limit, toTick(3))).toBe(walk(terms, moved, token, limit))
      }
    }
  })

  it('finds the limit however wrong its distance hint is', () => {
    const { terms, state } = build(DENSE)
    const index = new DepthIndex(terms.book, terms.feePpm)
    fc.assert(
      fc.property(
        fc.integer({ min: -400, max: 400 }),
        fc.integer({ min: -900, max: 900 }),
        (distance, hint) => {
          fc.pre(distance !== 0)
          const token: Side = distance < 0 ? 0 : 1
          const limit = sqrtRatioAtTick(toTick(state.tick + distance))
          fc.pre(isAhead(state, token, limit))
          const answer = index.inputTo(state, token, limit, toTick(hint))
          if (answer === null) expect(2 * (Math.abs(hint) + 1)).toBeLessThan(Math.abs(distance))
          else expect(answer).toBe(walk(terms, state, token, limit))
        },
      ),
      { numRuns: cases(500) },
    )
  })

  it('with fewer known ticks gives the same answer, or none when the loop has none', () => {
    fc.assert(
      fc.property(
        poolPlan,
        query,
        fc.nat(400),
        fc.nat(400),
        (plan, { side: token, x, boundary }, below, above) => {
          const { terms, state } = build(plan)
          const partial = knownBetween(terms, clamp(state.tick - below), clamp(state.tick + above))
          const { limit, ticks } = limitOf(state, token, x, boundary)
          fc.pre(isAhead(state, token, limit))
          const answer = new DepthIndex(partial.book, terms.feePpm).inputTo(state, token, limit, ticks)
          const loop = swapLoop.swap(partial, state, token, swapLoop.TO_LIMIT, limit)
          if (answer !== null) expect(answer).toBe(walk(terms, state, token, limit))
          // It may leave a price at the very end of the range to the loop.
          else if (!('reason' in loop))
            expect([partial.book.lowest - 1, partial.book.highest]).toContain(state.tick)
        },
      ),
      { numRuns: cases(1500) },
    )
  })

  it('starts again from a state that contradicts it, and gives up when liquidity would be negative', () => {
    const { terms, state } = build(DENSE)
    const index = new DepthIndex(terms.book, terms.feePpm)
    const { limit, ticks } = limitOf(state, 0, 0, percent(2n))
    expect(index.inputTo(state, 0, limit, ticks)).toBe(walk(terms, state, 0, limit))
    const more = { ...state, liquidity: state.liquidity + 10n ** 20n }
    expect(index.inputTo(more, 0, limit, ticks)).toBe(walk(terms, more, 0, limit))
    const less = { ...state, liquidity: 1n }
    expect(index.inputTo(less, 0, limit, ticks)).toBeNull()
    expect(index.inputTo(state, 0, limit, ticks)).toBe(walk(terms, state, 0, limit))
  })
})

function runSteps(
  plan: PoolPlan,
  steps: readonly (readonly [Step, { side: Side; x: Side; boundary: Boundary }])[],
) {
  const { terms, state: start, changes } = build(plan)
  const { book, feePpm } = terms
  const live = book.depthIndex(0, feePpm)
  const open = [...changes]
  let last: TickChange | null = null
  let state: V3State = start
  const apply = (change: TickChange | null): void => {
    if (change === null || !book.change(change)) return
    last = change
    if (change.lower <= state.tick && state.tick < change.upper) {
      state = { ...state, liquidity: state.liquidity + change.delta }
    }
  }
  for (const [one, { side: token, x, boundary }] of steps) {
    if (one.kind === 'swap') state = swapped(terms, state, one.side, one.amount)
    else if (one.kind === 'mint') apply(changeOf(plan, one.position))
    else if (one.kind === 'burn' && open.length > 0) {
      const [burnt] = open.splice(one.which % open.length, 1)
      if (burnt !== undefined) apply({ ...burnt, delta: -burnt.delta })
    } else if (last !== null) {
      const { lower, upper, delta }: TickChange = last
      apply({ lower, upper, delta: -delta })
    }
    const { limit, ticks } = limitOf(state, token, x, boundary)
    if (!isAhead(state, token, limit)) continue
    const expected = walk(terms, state, token, limit)
    expect(new DepthIndex(book, feePpm).inputTo(state, token, limit, ticks)).toBe(expected)
    expect(live.inputTo(state, token, limit, ticks)).toBe(expected)
  }
}

function swapped(terms: V3Terms, state: V3State, token: Side, amount: bigint): V3State {
  const limit = farLimit(state, terms, token)
  const swap = swapLoop.swap(terms, state, token, { kind: 'EXACT_IN', amount }, limit)
  if ('reason' in swap) throw new Error('the whole range is known')
  return { family: 'amm_v3', sqrtPriceX96: swap.sqrtPriceX96, tick: swap.tick, liquidity: swap.liquidity }
}

function isAhead({ sqrtPriceX96 }: V3State, token: Side, limit: bigint): boolean {
  return token === 0 ? limit < sqrtPriceX96 : limit > sqrtPriceX96
}

function limitOf(state: V3State, token: Side, x: Side, boundary: Boundary): { limit: bigint; ticks: Tick } {
  const { below, above } = priceLimit.rootsOf(boundary, x)
  return token === 0
    ? { limit: priceLimit.limitBelow(state.sqrtPriceX96, below), ticks: below.ticks }
    : { limit: priceLimit.limitAbove(state.sqrtPriceX96, above), ticks: above.ticks }
}

function walk(terms: V3Terms, state: V3State, token: Side, limit: bigint): bigint {
  const result = swapLoop.swap(terms, state, token, swapLoop.TO_LIMIT, limit)
  if ('reason' in result) throw new Error('the whole range is known')
  return token === 0 ? result.amount0 : result.amount1
}
