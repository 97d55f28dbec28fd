import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { type Ms, ms } from '../units.ts'
import {
  change,
  type DepthAverage,
  decay,
  effective,
  isFarBelow,
  start,
  startAt,
  value,
} from './depthAverage.ts'

const T = 1_700_000_000_000
const HALF_HOUR = 1_800_000
const at = (offset: Ms | 0): Ms => ms(T + offset)

const depth = fc.oneof(fc.bigInt(0n, 100n), fc.bigInt(0n, 10n ** 15n))
const span = fc
  .integer({ min: 0, max: 27 })
  .chain(bits => fc.integer({ min: 0, max: 2 ** bits }))
  .map(ms)
/** An average on its way from one depth to another. */
const state = fc.tuple(depth, depth).map(([from, to]): DepthAverage => change(start(from, at(0)), to, at(0)))

describe('decay', () => {
  it('R-average-1: is 2^64 for no time and for a time before, and 0 from 2^26 ms on', () => {
    expect(decay(ms(0))).toBe(1n << 64n)
    expect(decay(ms(-5))).toBe(1n << 64n)
    expect(decay(ms(2 ** 26 - 1)) > 0n).toBe(true)
    expect(decay(ms(2 ** 26))).toBe(0n)
    expect(decay(ms(T))).toBe(0n)
  })

  it('is exp(−dt / 30 min): 36.8% remains after half an hour', () => {
    const left = Number((decay(ms(HALF_HOUR)) * 10n ** 15n) >> 64n) / 1e15
    expect(left).toBeCloseTo(Math.exp(-1), 14)
  })

  it('of a split time is the product of its parts, except for bits lost to rounding', () => {
    fc.assert(
      fc.property(span, span, (a, b) => {
        fc.pre(a + b < 2 ** 26)
        const whole = decay(ms(a + b))
        const parts = (decay(a) * decay(b)) >> 64n
        const difference = whole > parts ? whole - parts : parts - whole
        expect(difference <= 64n).toBe(true)
      }),
      { numRuns: cases(2500) },
    )
  })

  it('does not depend on earlier calls', () => {
    fc.assert(
      fc.property(span, fc.integer({ min: 1, max: 8_000 }), (dt, places) => {
        const first = decay(dt)
        const sharing = decay(ms(dt + 8_191 * places))
        expect(decay(dt)).toBe(first)
        if (dt < 2 ** 26 && dt > 0) expect(sharing < first).toBe(true)
      }),
      { numRuns: cases(1000) },
    )
  })
})

describe('isFarBelow', () => {
  it('is more than a thousandth, to the unit', () => {
    expect(isFarBelow(999n, 1_000n)).toBe(false)
    expect(isFarBelow(998n, 1_000n)).toBe(true)
    const around = fc.tuple(fc.bigInt(1n, 2n ** 256n), fc.bigInt(-3n, 3n))
    const near = around.map(([whole, off]) => [max((whole * 999n) / 1000n + off, 0n), whole] as const)
    fc.assert(
      fc.property(fc.oneof(near, fc.tuple(depth, depth)), ([held, whole]) => {
        expect(isFarBelow(held, whole)).toBe(held * 1000n < whole * 999n)
      }),
      { numRuns: cases(2000) },
    )
  })
})

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)

describe('value', () => {
  it('R-average-2: with no time passed is E >> 32 exactly, also when asked about the past', () => {
    fc.assert(
      fc.property(state, span, (average, dt) => {
        expect(value(average, average.t0)).toBe(average.e >> 32n)
        expect(value(average, ms(average.t0 - dt))).toBe(average.e >> 32n)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('approaches the depth it holds, from its own side, and never passes it', () => {
    fc.assert(
      fc.property(state, span, span, (average, first, second) => {
        const [sooner, later] = first < second ? [first, second] : [second, first]
        const [early, late] = [value(average, at(sooner)), value(average, at(later))]
        const from = average.e >> 32n
        // Rounding may cost the lower bits of the decay, which here are less than one unit.
        if (from <= average.l) {
          expect(from <= early && late <= average.l).toBe(true)
          expect(early <= late + 1n).toBe(true)
        } else {
          expect(average.l <= late && early <= from).toBe(true)
          expect(late <= early + 1n).toBe(true)
        }
      }),
      { numRuns: cases(2500) },
    )
  })

  it('R-average-4: a read never writes: reading in between changes no later value', () => {
    fc.assert(
      fc.property(state, fc.array(span, { maxLength: 5 }), span, (average, reads, dt) => {
        const before = { ...average }
        const expected = value(average, at(dt))
        for (const read of reads) {
          value(average, at(read))
          effective(average, at(read))
        }
        expect(average).toEqual(before)
        expect(value(average, at(dt))).toBe(expected)
      }),
      { numRuns: cases(1500) },
    )
  })

  it('of a depth that is set to itself again differs by rounding alone', () => {
    fc.assert(
      fc.property(state, span, span, (average, first, second) => {
        const split = change(average, average.l, at(first))
        const end = ms(at(first) + second)
        fc.pre(first + second < 2 ** 26)
        const [direct, stepped] = [value(average, end), value(split, end)]
        expect(direct - stepped <= 1n && stepped - direct <= 1n).toBe(true)
      }),
      { numRuns: cases(2500) },
    )
  })

  it('has decayed completely after 2^26 ms', () => {
    const average = change(start(10n ** 20n, at(0)), 5n, at(0))
    expect(value(average, at(ms(2 ** 26)))).toBe(5n)
  })

  it('rounds down on both sides: the shift is arithmetic', () => {
    const rising: DepthAverage = { e: 0n, l: 1n, t0: at(0) }
    // One unit above 0 is reached only when nothing is missing from it.
    expect(value(rising, at(ms(2 ** 26 - 1)))).toBe(0n)
    const falling: DepthAverage = { e: (2n << 32n) - 1n, l: 1n, t0: at(0) }
    expect(value(falling, at(ms(0)))).toBe(1n)
  })
})

describe('change', () => {
  it('R-average-3: on a change of the pool: E := avg(t), L := new, t0 := block time', () => {
    const before = change(start(1_000n, at(0)), 5_000n, at(0))
    const after = change(before, 2_000n, at(ms(600_000)))
    expect(after.e >> 32n).toBe(value(before, at(ms(600_000))))
    expect(after).toMatchObject({ l: 2_000n, t0: at(ms(600_000)) })
  })

  it('twice at one block time leaves the average unchanged', () => {
    const once = change(start(1_000n, at(0)), 9_000n, at(ms(1_000)))
    const twice = change(once, 3_000n, at(ms(1_000)))
    expect(twice.e).toBe(once.e)
  })
})

describe('start', () => {
  it('R-average-5: a pool starts at E = H', () => {
    expect(start(77n, at(0))).toEqual({ e: 77n << 32n, l: 77n, t0: T })
    expect(value(start(77n, at(0)), at(ms(123_456)))).toBe(77n)
  })

  it('R-average-5: a pool created less than 30 min before its first verified state starts at E = 0', () => {
    const young = startAt(1_000_000n, at(0), at(ms(HALF_HOUR - 1)))
    expect(young).toEqual({ e: 0n, l: 1_000_000n, t0: T })
    expect(startAt(1_000_000n, at(0), at(ms(HALF_HOUR)))).toEqual(start(1_000_000n, at(ms(HALF_HOUR))))
  })

  it('R-average-5: a new pool earns its weight from its creation on: 63.2% after half an hour', () => {
    const young = startAt(1_000_000n, at(0), at(ms(1_000)))
    expect(value(young, at(0))).toBe(0n)
    expect(value(young, at(ms(1_000)))).toBe(555n)
    expect(value(young, at(ms(HALF_HOUR)))).toBe(632_120n)
  })
})

describe('effective', () => {
  it('R-average-6: L_eff = min(L_current, average): removed depth counts at once, new depth not yet', () => {
    const drained = change(start(1_000n, at(0)), 10n, at(0))
    const filled = change(start(10n, at(0)), 1_000n, at(0))
    expect(effective(drained, at(0))).toBe(10n)
    expect(effective(filled, at(0))).toBe(10n)
    fc.assert(
      fc.property(state, span, (average, dt) => {
        const found = effective(average, at(dt))
        expect(found <= average.l && found <= value(average, at(dt))).toBe(true)
        expect(found === average.l || found === value(average, at(dt))).toBe(true)
      }),
      { numRuns: cases(1000) },
    )
  })
})
