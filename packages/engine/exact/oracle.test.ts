/** Every vector that Python computed; see oracle/exact.py for how, and for the command. */
import { describe, expect, it } from 'vitest'
import vectors from '../oracle/exact.json' with { type: 'json' }
import { count } from '../units.ts'
import { bitLength } from './bits.ts'
import { display, powerOfTen } from './decimal.ts'
import { gcd } from './gcd.ts'
import * as decimal from './decimal.ts'
import * as fraction from './fraction.ts'
import * as ratio from './ratio.ts'
import type { Fraction } from './fraction.ts'
import type { Ratio, TooLarge } from './ratio.ts'
import { squareRoot } from './squareRoot.ts'

/** JSON arrays are typed as lists, not pairs. */
function fractionOf([num, den]: readonly string[]): Fraction {
  if (num === undefined || den === undefined) expect.fail('a vector lacks a side')
  return { num: BigInt(num), den: BigInt(den) }
}

function textOf(value: Ratio | TooLarge): decimal.ExactText {
  if (ratio.isTooLarge(value)) expect.fail(`needs ${value.bits} bits`)
  return decimal.toText(value)
}

const reduced = ({ num, den }: Fraction): Ratio | TooLarge => ratio.reduce(num, den)

/** 10^in / 10^out, the decimals of a hop or of a whole route. */
function unitsOf(decimalsIn: number | undefined, decimalsOut: number | undefined): Fraction {
  if (decimalsIn === undefined || decimalsOut === undefined) expect.fail('a vector lacks decimals')
  return { num: powerOfTen(count(decimalsIn)), den: powerOfTen(count(decimalsOut)) }
}

describe('R-exact-1, R-exact-4: exact arithmetic agrees with Python', () => {
  it('has vectors of every kind', () => {
    const { composition, rounding, reduction, roots, order } = vectors
    const sizes = [composition, rounding, reduction, roots, order].map(list => list.length)
    expect(sizes).toEqual([100, 217, 84, 80, 78])
  })

  it.each([1, 2, 3, 4])('on routes of %i hops', length => {
    const routes = vectors.composition.filter(({ hops }) => hops.length === length)
    expect(routes).toHaveLength(25)
    for (const { hops, decimals, stable, Q, P_USD } of routes) {
      const evidence = hops.map(fractionOf)
      const route = [...evidence, unitsOf(decimals[0], decimals.at(-1))]
      const price = [...route, fractionOf(stable)].reduce(fraction.times)
      expect(textOf(reduced(route.reduce(fraction.times)))).toEqual(Q)
      expect(textOf(reduced(price))).toEqual(P_USD)
      expect(display(price)).toBe(P_USD.display)

      // Hop by hop, reduced at each, as q of the specification has it.
      let stepwise: Ratio | TooLarge = ratio.reduce(1n, 1n)
      for (const [i, hop] of evidence.entries()) {
        if (ratio.isTooLarge(stepwise)) expect.fail('a hop does not fit')
        const q = fraction.times(hop, unitsOf(decimals[i], decimals[i + 1]))
        stepwise = reduced(fraction.times(stepwise, q))
      }
      expect(textOf(stepwise)).toEqual(Q)
    }
  })

  it('on the rounding of every value', () => {
    for (const { numerator, denominator, display: expected } of vectors.rounding) {
      const value = ratio.reduce(BigInt(numerator), BigInt(denominator))
      if (ratio.isTooLarge(value)) expect.fail(`needs ${value.bits} bits`)
      expect(decimal.toText(value)).toEqual({ numerator, denominator, display: expected })
      const long = 3n ** 700n
      expect(display({ num: value.num * long, den: value.den * long })).toBe(expected)
    }
  })

  it('on gcd, reduction and the bound of 4096 bits', () => {
    let tooLarge = 0
    for (const vector of vectors.reduction) {
      const { num, den } = fractionOf([vector.num, vector.den])
      const expected = fractionOf(vector.reduced)
      expect(gcd(num, den)).toBe(BigInt(vector.gcd))
      const bits = Math.max(bitLength(expected.num), bitLength(expected.den))
      if (bits > 4096) tooLarge += 1
      expect(ratio.reduce(num, den)).toEqual(bits > 4096 ? { reason: 'TOO_LARGE', bits } : expected)
    }
    expect(tooLarge).toBe(2)
  })

  it('on square roots', () => {
    for (const { n, root } of vectors.roots) expect(squareRoot(BigInt(n))).toBe(BigInt(root))
  })

  it('on the order of values', () => {
    for (const { a, b, sign } of vectors.order) {
      expect(fraction.compare(fractionOf(a), fractionOf(b))).toBe(sign)
      expect(fraction.compare(fractionOf(b), fractionOf(a))).toBe(sign === 0 ? 0 : -sign)
    }
  })
})
