import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { approx } from '../exact/fraction.ts'
import type { Around, Pool } from '../entities.ts'
import { cases } from '../testing/cases.ts'
import { asApprox, type Count, count } from '../units.ts'
import { DepthWatch, isFiled } from './depthWatch.ts'

const BANDS = [50_000_000n, 500_000_000n, 1_000_000_000n]
const E18 = 10n ** 18n

/** Of a pool the watch asks its depth alone, and the decimals of its anchor. */
const poolOf = (depthY: bigint | null, decimals: Count | null = count(18)): Pool =>
  ({ state: { depthY }, around: { ...inDecimals(decimals), filed: null } }) as Pool
const inDecimals = (value: Count | null) => ({ to: { decimals: { value } } }) as Pick<Around, 'to'>

const microusd = (depthY: bigint, { num, den }: { num: bigint; den: bigint }): bigint =>
  (depthY * num * 1_000_000n) / (den * E18)
const bandsBelow = (depth: bigint): number => BANDS.filter(band => depth >= band).length
const passed = (watch: DepthWatch, before: number, now: number): Pool[] => [
  ...watch.passed(asApprox(before), asApprox(now), BANDS),
]
function watching(...pools: readonly Pool[]): DepthWatch {
  const watch = new DepthWatch()
  for (const pool of pools) watch.file(pool)
  return watch
}

describe('R-trigger-8: DepthWatch', () => {
  it('finds tokens whose depth crosses a band, up or down, and no others', () => {
    // Worth $50 at 2,000, and $50 at 3,000.
    const [a, b] = [poolOf(E18 / 40n), poolOf(E18 / 60n)]
    const watch = watching(a, b)
    expect(passed(watch, 1_990, 2_010)).toEqual([a])
    expect(passed(watch, 2_010, 1_990)).toEqual([a])
    expect(passed(watch, 2_010, 2_900)).toEqual([])
    expect(passed(watch, 1_000, 10_000)).toEqual([a, b])
  })

  it('drops a pool, and finds a changed one only at its new place', () => {
    const [a, b] = [poolOf(E18 / 40n), poolOf(E18 / 40n)]
    const watch = watching(a, b)
    a.state = poolOf(E18 / 60n).state
    expect([isFiled(a), isFiled(b)]).toEqual([false, true])
    watch.file(a)
    watch.forget(b)
    expect(passed(watch, 1_990, 2_010)).toEqual([])
    expect(passed(watch, 2_990, 3_010)).toEqual([a])
  })

  it('counts in the decimals of the anchor, and finds nothing without them', () => {
    const pool = poolOf(E18 / 40n, null)
    const watch = watching(pool)
    expect(passed(watch, 1, 1e12)).toEqual([])
    expect(isFiled(pool)).toBe(true)
    Object.assign(pool.around, inDecimals(count(16)))
    expect(isFiled(pool)).toBe(false)
    watch.file(pool)
    expect(passed(watch, 19, 21)).toEqual([pool])
    expect(passed(watch, 1_990, 2_010)).toEqual([])
    Object.assign(pool.around, inDecimals(count(18)))
    watch.file(pool)
    expect(passed(watch, 1_990, 2_010)).toEqual([pool])
  })

  it('a pool without depth, or with one beyond all doubles, is never found', () => {
    expect(passed(watching(poolOf(null), poolOf(0n), poolOf(1n << 2000n)), 1e-300, 1e300)).toEqual([])
  })

  it('misses no token whose exact depth enters another band, and finds only those within a thousandth of one', () => {
    const depth = fc.bigInt(1n, 1n << 90n)
    const price = fc.record({ num: fc.bigInt(1n, 1n << 60n), den: fc.bigInt(1n, 1n << 40n) })
    /** From a price to one that is a little, or a lot, away. */
    const move = fc.tuple(
      price,
      fc.oneof(
        price,
        fc.integer({ min: -300, max: 300 }).map(bps => ({ bps })),
      ),
    )
    fc.assert(
      fc.property(fc.array(depth, { minLength: 1, maxLength: 8 }), move, (depths, [before, to]) => {
        const now =
          'bps' in to ? { num: before.num * BigInt(10_000 + to.bps), den: before.den * 10_000n } : to
        const pools = depths.map(each => poolOf(each))
        const watch = watching(...pools)
        const found = new Set(watch.passed(approx(before), approx(now), BANDS))
        for (const [at, each] of depths.entries()) {
          const [was, is] = [microusd(each, before), microusd(each, now)]
          if (bandsBelow(was) !== bandsBelow(is)) expect(found).toContain(pools[at])
          const [low, high] = was < is ? [was, is] : [is, was]
          const isNear = BANDS.some(band => low * 998n <= band * 1000n && band * 998n <= (high + 1n) * 1000n)
          if (!isNear) expect(found).not.toContain(pools[at])
        }
      }),
      { numRuns: cases(2500) },
    )
  })
})
