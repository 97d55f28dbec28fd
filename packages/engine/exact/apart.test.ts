import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cases, natural } from '../testing/cases.ts'
import { apart, apartApprox, bpsMore, partsMore, times } from './apart.ts'
import type { Fraction } from './fraction.ts'
import * as fraction from './fraction.ts'

const aFraction: fc.Arbitrary<Fraction> = fc.record({ num: natural(200), den: natural(200) })

it('R-exact-7: nothing is rounded: one part in 10^60 past a bound is past it, in either direction', () => {
  fc.assert(
    fc.property(aFraction, fc.bigInt(0n, 2000n), (q, bps) => {
      const at = { num: q.num * (10_000n + bps), den: q.den * 10_000n }
      const past = { num: at.num * 10n ** 60n + 1n, den: at.den * 10n ** 60n }
      const bound = bpsMore(bps)
      expect([apart(at, q, bound), apart(q, at, bound)]).toEqual([0, 0])
      expect([apart(past, q, bound), apart(q, past, bound)]).toEqual([1, 1])
      if (bps > 0n) expect(apart(q, q, bound)).toBe(-1)
    }),
    { numRuns: cases(1500) },
  )
})

it('R-exact-7: a bound may be a factor, or so many parts of a whole', () => {
  const [one, hundred] = [
    { num: 1n, den: 3n },
    { num: 200n, den: 6n },
  ]
  expect(apart(one, hundred, times(100n))).toBe(0)
  expect(apart(hundred, one, times(99n))).toBe(1)
  expect(
    apart({ num: 1_003_000n, den: 1_000_000n }, { num: 1n, den: 1n }, partsMore(3_000n, 1_000_000n)),
  ).toBe(0)
})

it('R-exact-7: doubles give the same result as integers, or none', () => {
  const closeTo = fc.tuple(
    aFraction,
    fc.bigInt(0n, 2000n),
    fc.bigInt(-3n, 3n),
    fc.constantFrom(15n, 16n, 17n, 60n),
  )
  fc.assert(
    fc.property(closeTo, aFraction, ([q, bps, off, digits], other) => {
      const scale = 10n ** digits
      const at = { num: q.num * ((10_000n + bps) * scale + off), den: q.den * 10_000n * scale }
      const bound = bpsMore(bps)
      for (const p of [at, other]) {
        const [approxP, approxQ] = [fraction.approx(p), fraction.approx(q)]
        for (const said of [apartApprox(approxP, approxQ, bound), apartApprox(approxQ, approxP, bound)])
          expect([0, apart(p, q, bound)]).toContain(said)
      }
      const far = fraction.approx({ num: q.num * 3n, den: q.den })
      const close = fraction.approx({ num: q.num * 11n, den: q.den * 10n })
      expect(apartApprox(fraction.approx(q), far, bpsMore(2000n))).toBe(1)
      expect(apartApprox(fraction.approx(q), close, bpsMore(2000n))).toBe(-1)
    }),
    { numRuns: cases(1500) },
  )
})

it('R-exact-7: a double past the range of doubles decides nothing', () => {
  expect(apartApprox(1e308 as never, 1e-308 as never, bpsMore(1n))).toBe(0)
  expect(apartApprox(1 as never, 1 as never, times(1n << 2000n))).toBe(0)
})
