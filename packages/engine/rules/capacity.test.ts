import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../assert.ts'
import { cases } from '../testing/cases.ts'
import { type Count, count } from '../units.ts'
import { weigh } from './capacity.ts'

/** Edges are numbers here, and `load` a list by number. */
function weighed(routes: readonly (readonly Count[])[], depths: readonly bigint[]) {
  const { load, ...rest } = weigh(routes, edge => depths[edge])
  return { ...rest, load: depths.map((_, edge) => load.get(count(edge)) ?? 0n) }
}

const via = (...edges: readonly (0 | 1 | 2)[]): Count[] => edges.map(count)

const networks = fc
  .array(fc.oneof(fc.bigInt(0n, 9n), fc.bigInt(0n, 10n ** 15n)), { minLength: 1, maxLength: 8 })
  .chain(depths => {
    const edge = fc.nat({ max: depths.length - 1 }).map(count)
    const route = fc.uniqueArray(edge, { minLength: 1, maxLength: 3 })
    return fc.record({
      depths: fc.constant(depths),
      routes: fc.array(route, { minLength: 1, maxLength: 12 }),
    })
  })

describe('weigh', () => {
  it('R-weight-1: b_r is the minimum edge capacity on route r', () => {
    expect(weighed([via(0, 1, 2)], [7n, 3n, 5n])).toEqual({
      capacity: [3n],
      load: [3n, 3n, 3n],
      weight: [3n],
    })
  })

  it('R-weight-1: B_e is the sum of b_r over the routes using e, and w_r takes its share of L_e', () => {
    // Both want all of edge 0; together 16 of 10: 10·10/16 and 6·10/16, rounded down.
    expect(weighed([via(0), via(0, 1)], [10n, 6n])).toEqual({
      capacity: [10n, 6n],
      load: [16n, 6n],
      weight: [6n, 3n],
    })
  })

  it('R-weight-1: the tightest edge of a route decides, in one rounding', () => {
    // Edge 0 allows 5/15, edge 1 allows 7/15: the first decides. Rounding 5/15 on the way would give 0.
    const { weight } = weighed([via(0, 1), via(0), via(0), via(1)], [5n, 7n, 1n])
    expect(weight[0]).toBe(1n)
  })

  it('R-weight-2: a physical pool contributes capacity at most once: Σ w_r over e is at most L_e', () => {
    fc.assert(
      fc.property(networks, ({ depths, routes }) => {
        const { weight } = weighed(routes, depths)
        depths.forEach((depth, edge) => {
          const used = routes.reduce(
            (sum, route, at) => (route.includes(count(edge)) ? sum + (weight[at] as bigint) : sum),
            0n,
          )
          expect(used <= depth).toBe(true)
        })
      }),
      { numRuns: cases(3000) },
    )
  })

  it('w_r is floor(b_r × min(1, L_e/B_e)) exactly: one microdollar more would not fit', () => {
    fc.assert(
      fc.property(networks, ({ depths, routes }) => {
        const { capacity, load, weight } = weighed(routes, depths)
        routes.forEach((route, at) => {
          const [b, w] = [capacity[at] as bigint, weight[at] as bigint]
          const fits = (amount: bigint) =>
            amount <= b &&
            route.every(edge => amount * (load[edge] as bigint) <= b * (depths[edge] as bigint) || b === 0n)
          expect(fits(w)).toBe(true)
          expect(fits(w + 1n)).toBe(false)
        })
      }),
      { numRuns: cases(2000) },
    )
  })

  it('a route through an edge without depth has no weight', () => {
    expect(weighed([via(0, 1), via(0)], [4n, 0n]).weight).toEqual([0n, 4n])
  })

  it('refuses a route without edges and an unknown edge', () => {
    expect(() => weighed([[]], [1n])).toThrow(InvariantError)
    expect(() => weighed([via(0, 2)], [1n, 1n])).toThrow(InvariantError)
  })
})
