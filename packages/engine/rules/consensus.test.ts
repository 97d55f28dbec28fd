import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import type { Count } from '../units.ts'
import { type Consensus, consensus, type Observation, tau } from './consensus.ts'
import { apart, bpsMore } from '../exact/apart.ts'
import { isAtMost } from './bpsBands.ts'

/** An observation at 1 + `bps`/10000 (or its reciprocal for a negative one). */
function observed(id: string, bps: bigint, weight: bigint, pool = id, deployment = `of ${id}`): Observation {
  const price = bps >= 0n ? { num: 10_000n + bps, den: 10_000n } : { num: 10_000n, den: 10_000n - bps }
  return { id, price, weight, capacity: weight, source: { id: pool, deploymentId: deployment } }
}

function found(observations: readonly Observation[]): Consensus {
  const verdict = consensus(observations)
  if (verdict === null) expect.fail('no observation has weight')
  return verdict
}

const idOf = (list: readonly Observation[], index: Count | undefined) => list[index ?? -1]?.id

const rejectedIds = (observations: readonly Observation[]): string[] => {
  const { rejected } = found(observations)
  return observations.filter((_, at) => rejected[at]).map(({ id }) => id)
}

const someObservations = fc.uniqueArray(
  fc
    .tuple(
      fc.string({ minLength: 1, maxLength: 3 }),
      fc.oneof(fc.bigInt(-300n, 300n), fc.bigInt(-1500n, 1500n), fc.constantFrom(-90_000n, 90_000n)),
      fc.oneof(fc.bigInt(0n, 5n), fc.bigInt(1n, 10n ** 12n)),
      fc.bigInt(0n, 10n ** 6n),
      fc.constantFrom('A', 'B', 'C'),
      fc.constantFrom('x', 'y'),
    )
    .map(([id, bps, weight, more, pool, deployment]) => {
      const observation = observed(id, bps, weight, pool, deployment)
      return { ...observation, capacity: weight + more }
    }),
  { minLength: 1, maxLength: 10, selector: ({ id }) => id },
)

describe('tau', () => {
  it('R-consensus-2: is clamp(ceil((22239/5000) × MADw), 200, 1000)', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 9n), fc.bigInt(1n, 10n ** 7n), (num, den) => {
        const found = tau({ num, den })
        expect(found >= 200n && found <= 1000n).toBe(true)
        // ceil: the least integer not below the scaled deviation.
        const [scaled, unit] = [22_239n * num, 5_000n * den]
        if (found < 1000n) expect(found * unit >= scaled).toBe(true)
        if (found > 200n) expect((found - 1n) * unit < scaled).toBe(true)
      }),
      { numRuns: cases(3000) },
    )
  })

  it('rounds up, and only a whole number stays unchanged', () => {
    expect(tau({ num: 5_000n * 300n, den: 22_239n })).toBe(300n)
    expect(tau({ num: 5_000n * 300n + 1n, den: 22_239n })).toBe(301n)
    // 22239 × 26159 is 895 × 5000 × 130 and 1: the least there is above a whole number.
    expect(tau({ num: 26_159n, den: 130n })).toBe(896n)
    expect(tau({ num: 0n, den: 1n })).toBe(200n)
  })
})

describe('consensus', () => {
  it('R-weight-4: total weight 0 gives no price', () => {
    expect(consensus([])).toBeNull()
    expect(consensus([observed('a', 0n, 0n)])).toBeNull()
  })

  it('R-consensus-3: outlier means dev_bps > tau; on tau is inside', () => {
    const core = [observed('a', 0n, 40n), observed('b', 0n, 40n)]
    expect(found(core).tauBps).toBe(200n)
    expect(rejectedIds([...core, observed('c', 200n, 1n)])).toEqual([])
    expect(rejectedIds([...core, observed('c', 201n, 1n)])).toEqual(['c'])
    expect(rejectedIds([...core, observed('c', -200n, 1n)])).toEqual([])
    expect(rejectedIds([...core, observed('c', -201n, 1n)])).toEqual(['c'])
  })

  it('R-consensus-4: survivors need 67% of the weight, two pools and two deployments', () => {
    const far = observed('far', 5_000n, 33n)
    const [a, b] = [observed('a', 0n, 40n), observed('b', 1n, 27n)]
    expect(found([a, b, far])).toMatchObject({ unresolved: false, keptWeight: 67n, totalWeight: 100n })
    expect(rejectedIds([a, b, far])).toEqual(['far'])

    const heavier = observed('far', 5_000n, 34n)
    expect(found([a, b, heavier])).toMatchObject({ unresolved: true, keptWeight: 101n, totalWeight: 101n })

    const samePool = observed('b', 1n, 27n, 'a', 'another deployment')
    expect(found([a, samePool, far])).toMatchObject({ unresolved: true })
    const sameDeployment = observed('b', 1n, 27n, 'b', 'of a')
    expect(found([a, sameDeployment, far])).toMatchObject({ unresolved: true })
  })

  it('R-consensus-6: when the survivors do not suffice all observations remain', () => {
    const split = [observed('a', 0n, 60n), observed('far', 5_000n, 40n)]
    expect(found(split)).toMatchObject({
      unresolved: true,
      rejected: [false, false],
      m0: 0,
      selected: 0,
      low: 0,
      high: 1,
      spreadBps: { num: 5_000n * 10_000n * 10_000n, den: 10_000n * 10_000n },
    })
  })

  it('R-consensus-3: rejection is one pass: an observation that would stand out only without the outliers stays', () => {
    const near = [observed('a', 0n, 40n), observed('b', 0n, 20n), observed('edge', 600n, 10n)]
    const far = { ...observed('far', 2_000n, 30n), capacity: 70n }
    expect(found([...near, far])).toMatchObject({ tauBps: 1_000n, unresolved: false })
    expect(rejectedIds([...near, far])).toEqual(['far'])
    expect(found(near).tauBps).toBe(200n)
    expect(rejectedIds(near)).toEqual(['edge'])
  })

  it('a single observation, or several that agree, are no split', () => {
    expect(found([observed('a', 0n, 1n)])).toMatchObject({
      unresolved: false,
      m0: 0,
      selected: 0,
      keptWeight: 1n,
    })
    expect(found([observed('a', 0n, 9n, 'p', 'd'), observed('b', 100n, 1n, 'p', 'd')]).unresolved).toBe(false)
  })

  it('R-consensus-1: m0 and the published median use w_r, MADw uses b_r', () => {
    const light = { ...observed('a', 0n, 60n), capacity: 60n }
    const deep = { ...observed('b', 150n, 40n), capacity: 1_000n }
    const verdict = found([light, deep])
    expect(verdict.m0).toBe(0)
    expect(isAtMost(verdict.madBps, 150n) && !isAtMost(verdict.madBps, 149n)).toBe(true)
    expect(verdict.tauBps).toBe(668n)
  })

  it('R-consensus-1: exactly half of the capacity is enough for MADw too', () => {
    const verdict = found([observed('a', 0n, 50n), observed('b', 150n, 50n)])
    expect([verdict.madBps.num, verdict.tauBps]).toEqual([0n, 200n])
  })

  it('R-consensus-5: the published value is the weighted median of the survivors, with unchanged weights', () => {
    // All: a b | c far, the half is in b. Without far: a | b.
    const observations = [
      observed('a', 0n, 36n),
      observed('b', 10n, 20n),
      observed('c', 20n, 14n),
      observed('far', 9_000n, 30n),
    ]
    expect(found(observations)).toMatchObject({
      m0: 1,
      selected: 0,
      keptWeight: 70n,
      totalWeight: 100n,
      high: 2,
    })
  })

  it('R-consensus-5: ties in price go by route id', () => {
    expect(found([observed('b', 0n, 1n), observed('a', 0n, 1n)])).toMatchObject({
      m0: 1,
      selected: 1,
      low: 1,
      high: 0,
    })
  })

  it('R-consensus-7: spread is the greatest deviation of a survivor, on either side', () => {
    const verdict = found([observed('low', -90n, 10n), observed('mid', 0n, 50n), observed('high', 80n, 10n)])
    expect(isAtMost(verdict.spreadBps, 90n) && !isAtMost(verdict.spreadBps, 89n)).toBe(true)
  })

  it('keeps its own rules on any observations', () => {
    fc.assert(
      fc.property(someObservations, observations => {
        fc.pre(observations.some(({ weight }) => weight > 0n))
        const verdict = found(observations)
        const at = (index: Count) => observations[index] as Observation
        const centre = at(verdict.m0).price
        const survivors = observations.filter((_, index) => !verdict.rejected[index])
        const isOutlier = ({ price }: Observation) => apart(price, centre, bpsMore(verdict.tauBps)) > 0

        if (verdict.unresolved) expect(observations.some(isOutlier)).toBe(true)
        else expect(observations.map(isOutlier)).toEqual(verdict.rejected)
        if (survivors.length < observations.length) {
          expect(100n * verdict.keptWeight >= 67n * verdict.totalWeight).toBe(true)
          expect(new Set(survivors.map(({ source }) => source.id)).size).toBeGreaterThan(1)
          expect(new Set(survivors.map(({ source }) => source.deploymentId)).size).toBeGreaterThan(1)
        }
        expect(verdict.survivors.length).toBe(survivors.length)
        expect(verdict.survivors.every(index => !verdict.rejected[index])).toBe(true)
        expect(verdict.keptWeight).toBe(survivors.reduce((sum, { weight }) => sum + weight, 0n))
        expect(verdict.rejected[verdict.selected]).toBe(false)
        for (const { price } of survivors) {
          // dev_bps(price, m0) ≤ spread
          const [left, right] = [price.num * centre.den, price.den * centre.num]
          const [most, least] = left > right ? [left, right] : [right, left]
          expect(10_000n * (most - least) * verdict.spreadBps.den <= verdict.spreadBps.num * least).toBe(true)
        }
      }),
      { numRuns: cases(2500) },
    )
  })

  it('depends neither on the order of the observations nor on how a price or the unit of weight is written', () => {
    fc.assert(
      fc.property(someObservations, fc.bigInt(1n, 10n ** 30n), (observations, factor) => {
        const rewritten = observations
          .map(({ id, price, weight, capacity, source }) => ({
            id,
            price: { num: price.num * factor, den: price.den * factor },
            weight: weight * factor,
            capacity: capacity * factor,
            source,
          }))
          .reverse()
        const [one, other] = [consensus(observations), consensus(rewritten)]
        expect(idOf(rewritten, other?.selected)).toBe(idOf(observations, one?.selected))
        expect(idOf(rewritten, other?.m0)).toBe(idOf(observations, one?.m0))
        expect(other?.tauBps).toBe(one?.tauBps)
        expect(other?.rejected.toReversed()).toEqual(one?.rejected)
        expect(other?.unresolved).toBe(one?.unresolved)
      }),
      { numRuns: cases(1500) },
    )
  })
})
