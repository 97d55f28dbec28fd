import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { weigh } from '../rules/capacity.ts'
import { cases } from '../testing/cases.ts'
import { type Count, count } from '../units.ts'
import { type Claim, share } from './sharedCapacity.ts'

describe('share', () => {
  it('R-weight-1: gives the routes of a token the weights of `weigh`, with or without competition behind the first hop', () => {
    const onward = fc.record({
      firsts: fc.array(fc.bigInt(0n, 10n ** 6n), { minLength: 1, maxLength: 4 }),
      behind: fc.array(fc.oneof(fc.bigInt(0n, 10n ** 6n), fc.bigInt(10n ** 6n, 10n ** 9n)), {
        minLength: 1,
        maxLength: 4,
      }),
      paths: fc.array(fc.tuple(fc.nat(), fc.array(fc.nat(), { maxLength: 3 })), {
        minLength: 1,
        maxLength: 12,
      }),
    })
    fc.assert(
      fc.property(onward, ({ firsts, behind, paths }) => {
        const edges = [...firsts, ...behind].map(capacity => ({ capacity }))
        const routes = paths.map(([first, rest]) => [
          count(first % firsts.length),
          ...new Set(rest.map(at => count(firsts.length + (at % behind.length)))),
        ])
        const depths = edges.map(({ capacity }) => capacity)
        const expected = weigh(routes, edge => depths[edge])
        const claims = routes.map(([first, ...rest], at): Claim => {
          const hops = rest.map(edge => edges[edge] as { capacity: bigint })
          const least = hops.map(({ capacity }) => capacity).sort((a, b) => (a < b ? -1 : 1))[0]
          return {
            first: edges[first as Count] as { capacity: bigint },
            via: least === undefined ? null : { route: { capacity: least, edges: hops } },
            capacity: expected.capacity[at] as bigint,
            weight: 0n,
          }
        })
        share(claims)
        expect(claims.map(({ weight }) => weight)).toEqual(expected.weight)
      }),
      { numRuns: cases(2000) },
    )
  })
})
