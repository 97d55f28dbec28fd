import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { type Tick, tick as toTick } from '../units.ts'
import { isTickAt, MAX_SQRT_RATIO, MIN_SQRT_RATIO, sqrtRatioAtTick, tickAtSqrtRatio } from './tickMath.ts'
import { MAX_TICK, MIN_TICK } from './ticks.ts'

const anyTick = fc.integer({ min: MIN_TICK, max: MAX_TICK - 1 }).map(toTick)
const next = (tick: Tick): Tick => toTick(tick + 1)

describe('R-ticks-1: tick math', () => {
  it('starts and ends at the prices the contract names', () => {
    expect(sqrtRatioAtTick(MIN_TICK)).toBe(MIN_SQRT_RATIO)
    expect(sqrtRatioAtTick(MAX_TICK)).toBe(MAX_SQRT_RATIO)
    expect(sqrtRatioAtTick(toTick(0))).toBe(1n << 96n)
    expect(tickAtSqrtRatio(MIN_SQRT_RATIO)).toBe(MIN_TICK)
    expect(tickAtSqrtRatio(MAX_SQRT_RATIO - 1n)).toBe(MAX_TICK - 1)
  })

  it('refuses values outside the range', () => {
    expect(() => sqrtRatioAtTick(toTick(MAX_TICK + 1))).toThrow('outside')
    expect(() => sqrtRatioAtTick(toTick(MIN_TICK - 1))).toThrow('outside')
    expect(() => tickAtSqrtRatio(MIN_SQRT_RATIO - 1n)).toThrow('outside')
    expect(() => tickAtSqrtRatio(MAX_SQRT_RATIO)).toThrow('outside')
  })

  it('finds the tick of its own price, of the price below it and of the last before the next tick', () => {
    fc.assert(
      fc.property(anyTick, tick => {
        const price = sqrtRatioAtTick(tick)
        expect(tickAtSqrtRatio(price)).toBe(tick)
        expect(tickAtSqrtRatio(sqrtRatioAtTick(next(tick)) - 1n)).toBe(tick)
        if (tick > MIN_TICK) expect(tickAtSqrtRatio(price - 1n)).toBe(tick - 1)
      }),
      { numRuns: cases(3000) },
    )
  })

  it('is within one part in 2^31 of the square root of 1.0001^tick, squared and compared in integers', () => {
    // 1.0001^tick = 10001^tick / 10000^tick; small ticks keep the exact powers short.
    fc.assert(
      fc.property(fc.integer({ min: -600, max: 600 }), exponent => {
        const power = BigInt(Math.abs(exponent))
        const [num, den] =
          exponent < 0 ? [10_000n ** power, 10_001n ** power] : [10_001n ** power, 10_000n ** power]
        const price = sqrtRatioAtTick(toTick(exponent))
        const [square, exact] = [price * price * den, num << 192n]
        const distance = square > exact ? square - exact : exact - square
        expect(distance << 30n < exact).toBe(true)
      }),
      { numRuns: cases(300) },
    )
  })

  it('accepts a tick at its prices, and the tick below only at its end', () => {
    fc.assert(
      fc.property(anyTick, tick => {
        const price = sqrtRatioAtTick(tick)
        const end = sqrtRatioAtTick(next(tick))
        expect(isTickAt(tick, price)).toBe(true)
        expect(isTickAt(tick, end)).toBe(true)
        expect(isTickAt(tick, end + 1n)).toBe(false)
        expect(isTickAt(tick, price - 1n)).toBe(false)
      }),
      { numRuns: cases(500) },
    )
    expect(isTickAt(MAX_TICK, MAX_SQRT_RATIO)).toBe(false)
    expect(isTickAt(toTick(MIN_TICK - 1), MIN_SQRT_RATIO)).toBe(false)
  })
})
