import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Priced } from '../price/evaluation.ts'
import { cases } from '../testing/cases.ts'
import { DAI, E18, E6, P1, P2, P3, P4, P5, P6, T, USDC, WBTC, WETH } from '../testing/cast.ts'
import { type Scenario, scenario } from '../testing/scenario.ts'
import { exitOf } from './exit.ts'
import { paysMore, type Plan, planOf } from './plan.ts'
import { type Way, type WaysOut, waysOut } from './ways.ts'

const priced = (s: Scenario): Priced => s.pricedNow(T)

/** Microdollars, rounded down. */
const worth = ({ microusd }: Plan): bigint => microusd.num / microusd.den

/** One pool, so many whole tokens against twice the dollars. */
function onePool(thousands: bigint): Scenario {
  const s = scenario()
  s.v2(P1, [T, thousands * 1_000n * E18], [USDC, thousands * 2_000n * E6])
  s.enrol(T)
  return s
}

/** Of a few dollars, where a unit lost to rounding outweighs what a split gains, and of any size. */
const anyAmount = fc.oneof(
  fc.bigInt({ min: 5n * 10n ** 17n, max: 10n ** 19n }),
  fc.bigInt({ min: 1n, max: 10n ** 24n }),
)

const deepPools = fc.array(fc.bigInt({ min: 20n, max: 50_000n }), { minLength: 2, maxLength: 4 })

/** Pools of T against dollars of about the same price, the pools as deep as given in thousands. */
function market(depths: readonly bigint[]): Scenario {
  const s = scenario()
  const pools = [P1, P2, P3, P4]
  for (const [at, depth] of depths.entries())
    s.v2(pools[at] as typeof P1, [T, depth * 1_000n * E18], [USDC, depth * 2_000n * E6], {
      deployment: `d${at}`,
    })
  s.enrol(T)
  return s
}

/** Two pools into WETH and two of WETH, all four routes through both: `depths` in thousands of dollars. */
function shared([a, b, c, d]: readonly [bigint, bigint, bigint, bigint]): Scenario {
  const s = scenario()
  s.v2(P1, [T, a * 1_000n * E18], [WETH, a * E18])
  s.v2(P2, [T, b * 1_000n * E18], [WETH, b * E18], { deployment: 'b' })
  s.v2(P3, [WETH, c * E18], [USDC, c * 2_000n * E6])
  s.v2(P4, [WETH, d * E18], [USDC, d * 2_000n * E6], { deployment: 'b' })
  s.enrol(T)
  return s
}

/** The most that any split in steps of a hundredth pays, in microdollars. */
function exhaustive(out: WaysOut, amount: bigint): bigint {
  let best = 0n
  const walk = (at: number, left: number, shares: readonly number[]): void => {
    if (at === out.ways.length - 1) {
      const amounts = [...shares, left].map(
        (share, way) => [out.ways[way] as Way, (amount * BigInt(share)) / 100n] as const,
      )
      const plan = planOf(out, new Map(amounts))
      const paid = plan === null ? 0n : worth(plan)
      if (paid > best) best = paid
      return
    }
    for (let share = 0; share <= left; share++) walk(at + 1, left - share, [...shares, share])
  }
  walk(0, 100, [])
  return best
}

/** The same where no two ways share a pool: what each share pays is computed once. */
function exhaustiveApart(out: WaysOut, amount: bigint): bigint {
  const shares = Array.from({ length: 101 }, (_, share) => (amount * BigInt(share)) / 100n)
  const paid = out.ways.map(way =>
    shares.map(each => (each === 0n ? 0n : worth(planOf(out, new Map([[way, each]])) as Plan))),
  )
  // The most that the ways so far pay for each share of the whole.
  let best = paid[0] as bigint[]
  for (const own of paid.slice(1))
    best = best.map((_, whole) => {
      let most = 0n
      for (let share = 0; share <= whole; share++) {
        const sum = (own[share] as bigint) + (best[whole - share] as bigint)
        if (sum > most) most = sum
      }
      return most
    })
  return best[100] as bigint
}

describe('exit', () => {
  test('R-exit-1: a sale into one pair pays what the contract’s own formula gives, fee included', () => {
    const s = onePool(100n)
    const amount = 1_000n * E18
    const [sale] = exitOf(s.state, priced(s), [amount]).sales
    const trading = amount * 997n
    const expected = (trading * 200_000n * E6) / (100_000n * E18 * 1000n + trading)
    expect(sale?.plan?.proceeds).toEqual(new Map([[USDC, expected]]))
    expect(sale?.plan?.swaps.map(({ amountIn, amountOut }) => [amountIn, amountOut])).toEqual([
      [amount, expected],
    ])
  })

  test('R-exit-2: each swap’s input is the output of earlier ones, and nothing is left over', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 24n }),
        fc.bigInt({ min: 1n, max: 1_000n }),
        (amount, ether) => {
          const s = scenario({ stables: [USDC, DAI], routing: [WETH, WBTC] })
          s.v2(P1, [T, 100_000n * E18], [USDC, 200_000n * E6])
          s.v2(P2, [T, 300_000n * E18], [WETH, 300n * E18], { deployment: 'b' })
          s.v2(P3, [WETH, ether * E18], [USDC, ether * 2_000n * E6])
          s.v2(P4, [WETH, 500n * E18], [DAI, 1_000_000n * E18], { deployment: 'b' })
          s.v2(P5, [T, 50_000n * E18], [WBTC, 250n * 10n ** 7n], { deployment: 'c' })
          s.v2(P6, [WBTC, 400n * 10n ** 8n], [WETH, 8_000n * E18])
          s.enrol(T)
          const [sale] = exitOf(s.state, priced(s), [amount]).sales
          const plan = sale?.plan as Plan
          const held = new Map([[T, amount]])
          const change = (token: typeof T, by: bigint) => held.set(token, (held.get(token) ?? 0n) + by)
          for (const { pool, amountIn, amountOut } of plan.swaps) {
            change(pool.from, -amountIn)
            expect(held.get(pool.from) as bigint).toBeGreaterThanOrEqual(0n)
            change(pool.to, amountOut)
          }
          expect(new Set(plan.swaps.map(({ pool }) => pool)).size).toBe(plan.swaps.length)
          expect([T, WBTC, WETH].map(each => held.get(each) ?? 0n)).toEqual([0n, 0n, 0n])
          for (const [token, received] of plan.proceeds) expect(held.get(token)).toBe(received)
          expect([...plan.shares.values()].reduce((sum, each) => sum + each, 0n)).toBe(amount)
        },
      ),
      { numRuns: cases(40) },
    )
  })

  test('R-exit-3: a split pays at least as much as the best single route', () => {
    fc.assert(
      fc.property(deepPools, anyAmount, (depths, amount) => {
        const s = market(depths)
        const out = waysOut(s.state, priced(s))
        const [sale] = exitOf(s.state, priced(s), [amount]).sales
        const singles = out.ways.map((way: Way) => planOf(out, new Map([[way, amount]])) as Plan)
        for (const single of singles) expect(paysMore(single, sale?.plan as Plan)).toBe(false)
      }),
      { numRuns: cases(40) },
    )
  })

  test('R-exit-3: and at least 0.999 of the best split over up to four routes in steps of a hundredth', () => {
    fc.assert(
      fc.property(deepPools, fc.bigInt({ min: 10n ** 18n, max: 10n ** 25n }), (depths, amount) => {
        const s = market(depths)
        const out = waysOut(s.state, priced(s))
        const [sale] = exitOf(s.state, priced(s), [amount]).sales
        const best = exhaustiveApart(out, amount)
        expect(worth(sale?.plan as Plan) * 1000n).toBeGreaterThanOrEqual(best * 999n - 1000n)
      }),
      { numRuns: cases(40), examples: [[[108n, 1_548n, 14_899n], 6_421_459_911_971_962_580_360_124n]] },
    )
  })

  test('R-exit-3: also when the routes share pools', () => {
    const depth = fc.bigInt({ min: 20n, max: 5_000n })
    fc.assert(
      fc.property(
        fc.tuple(depth, depth, depth, depth),
        fc.bigInt({ min: 10n ** 20n, max: 10n ** 24n }),
        (depths, amount) => {
          const s = shared(depths)
          const out = waysOut(s.state, priced(s))
          const [sale] = exitOf(s.state, priced(s), [amount]).sales
          const best = exhaustive(out, amount)
          expect(worth(sale?.plan as Plan) * 1000n).toBeGreaterThanOrEqual(best * 999n - 1000n)
        },
      ),
      { numRuns: cases(2) },
    )
  })

  test('R-exit-1: a sale tax is deducted before the first pool, and nowhere after it', () => {
    const s = shared([300n, 200n, 500n, 400n])
    const amount = 10_000n * E18
    const [taxed] = exitOf(s.state, priced(s), [amount], 500n).sales
    const out = waysOut(s.state, priced(s))
    const plan = taxed?.plan as Plan
    const sameWay = ({ id }: Way) => out.ways.find(way => way.id === id) as Way
    const arrived = new Map([...plan.shares].map(([way, share]) => [sameWay(way), (share * 95n) / 100n]))
    const untaxed = planOf(out, arrived) as Plan
    // Two first pools, each of which rounds once.
    expect(worth(untaxed) - worth(plan)).toBeGreaterThanOrEqual(-1n)
    expect(worth(untaxed) - worth(plan)).toBeLessThanOrEqual(1n)
    expect([...plan.shares.values()].reduce((sum, each) => sum + each, 0n)).toBe(amount)
    const sent = plan.swaps
      .filter(({ pool }) => pool.from === T)
      .reduce((sum, each) => sum + each.amountIn, 0n)
    expect(sent).toBe(amount)
  })

  test('R-exit-4: the largest sale lies within its bound, and a thousandth more does not', () => {
    const s = onePool(100n)
    const { largest } = exitOf(s.state, priced(s), [])
    const price = priced(s).price
    const out = waysOut(s.state, priced(s))
    const distance = (amount: bigint): bigint => {
      const plan = planOf(out, new Map([[out.ways[0] as Way, amount]])) as Plan
      const full = (amount * price.num * 1_000_000n) / (price.den * E18)
      return ((full - worth(plan)) * 1_000_000n) / full
    }
    for (const [amount, bound] of [
      [largest.bps100, 10_000n],
      [largest.bps500, 50_000n],
    ] as const) {
      expect(distance(amount as bigint)).toBeLessThanOrEqual(bound)
      expect(distance(((amount as bigint) * 1002n) / 1000n)).toBeGreaterThan(bound)
    }
  })

  test('R-exit-5: the same state gives the same plan, and stays unchanged', () => {
    const s = market([100n, 300n])
    const before = s.quote(T)
    const first = exitOf(s.state, priced(s), [E18, 1_000n * E18])
    const second = exitOf(s.state, priced(s), [E18, 1_000n * E18])
    expect(second).toEqual(first)
    expect(s.quote(T)).toEqual(before)
  })
})
