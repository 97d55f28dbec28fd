import { effectiveY } from '../../rules/hopCapacity.ts'
import type { V2Event } from '../../amm/v2/kind.ts'
import type { V3Event } from '../../amm/v3/kind.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO } from '../../amm/tickMath.ts'
import { MAX_TICK, MIN_TICK } from '../../amm/ticks.ts'
import type { FeedStatus } from '../../input.ts'
import * as byHand from '../../testing/byHand.ts'
import { cases, natural } from '../../testing/cases.ts'
import { address } from '../../testing/chainSim.ts'
import { DAI, DAY, E18, E6, HOUR, MINUTE, P1, P2, P3, T, U, USDC, WETH } from '../../testing/cast.ts'
import { type PoolOptions, type Setting } from '../../testing/drive.ts'
import { Scenario, scenario } from '../../testing/scenario.ts'
import { count, tick } from '../../units.ts'
import type { Edge } from '../evaluation.ts'
import { changesOf } from '../../memory/temporalTape.ts'

const X = 1_000_000n * E18
const Y = 2_000_000n * E6
const DEPTH = byHand.v2DepthY(X, Y)

/** One v2 pool of a million T against two million USDC. */
function onePool(options: PoolOptions & { readonly setting?: Setting } = {}): Scenario {
  const s = scenario(options.setting)
  s.decimals(T, 18)
  s.v2(P1, [T, X], [USDC, Y], options)
  return s
}

const capsOf = ({ caps }: Edge): string => caps.map(({ code, cap }) => `${code} ${cap}`).join(', ')
const failureOf = (s: Scenario, pool = P1): string | undefined => s.edge(pool).failure?.rule
const scoreOf = (s: Scenario, component: 'depth' | 'freshness' | 'temporal' | 'state' | 'feed'): number =>
  s.edge(P1).components[component].score

describe('ratio', () => {
  it('R-exact-3: q(X→Y) = a × 10^dX / (b × 10^dY)', () => {
    const s = onePool()
    const { input, output } = byHand.v2Sale(X, Y)
    const { ratio, marginal } = s.edge(P1).derived
    expect(byHand.reduced(ratio?.num as bigint, ratio?.den as bigint)).toEqual(
      byHand.hopRatio(output, input, 18, 6),
    )
    expect(byHand.reduced(marginal?.num as bigint, marginal?.den as bigint)).toEqual({ num: 2n, den: 1n })
  })

  it('R-pool-5: a pool whose stable is token1 is read the same way', () => {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 6)
    s.v2(P1, [T, 10n ** 12n], [DAI, 5n * 10n ** 24n])
    const { input, output } = byHand.v2Sale(10n ** 12n, 5n * 10n ** 24n)
    const { derived, pool } = s.edge(P1)
    const { ratio, marginal } = derived
    expect([pool.from, pool.to]).toEqual([T, DAI])
    expect(byHand.reduced(ratio?.num as bigint, ratio?.den as bigint)).toEqual(
      byHand.hopRatio(output, input, 6, 18),
    )
    expect(byHand.reduced(marginal?.num as bigint, marginal?.den as bigint)).toEqual({ num: 5n, den: 1n })
  })
})

describe('depth', () => {
  it('R-depth-2, R-depth-3: L = min(D_up, D_down as value) of Y, in microdollars', () => {
    const s = onePool()
    expect(s.pool(P1).state.depth).toEqual({ up: byHand.v2Up(X, Y), down: byHand.v2Down(X, Y) })
    expect(effectiveY(s.pool(P1).state, s.nowMs)).toBe(DEPTH)
    expect(s.edge(P1).capacity).toBe(DEPTH)
  })

  it('R-pool-6: the other orientation of the same reserves exchanges up and down', () => {
    const s = scenario({ stables: [USDC, DAI] })
    s.v2(P1, [T, X], [USDC, Y])
    s.v2(P2, [T, X], [DAI, Y])
    expect(s.pool(P1).x).not.toBe(s.pool(P2).x)
    expect(s.pool(P2).state.depth).toEqual(s.pool(P1).state.depth)
    expect(s.pool(P2).state.depthY).toBe(s.pool(P1).state.depthY)
  })

  it('R-depth-3: depth rounds down to microdollars, at the exact price of the stable', () => {
    const s = onePool()
    s.stable(USDC, 99_999_999n)
    const usd = { num: 99_999_999n, den: 100_000_000n }
    const capacity = byHand.microusd(DEPTH, 6, usd)
    expect((DEPTH * usd.num) % usd.den).not.toBe(0n)
    expect(s.edge(P1).capacity).toBe(capacity)
  })

  it("R-depth-3: depth into a routing asset uses that asset's price in this step", () => {
    const s = scenario()
    s.decimals(T, 18)
    s.v2(P1, [T, X], [WETH, 700n * E18])
    s.v2(P2, [WETH, 10_000n * E18], [USDC, 20_000_000n * E6])
    const { input, output } = byHand.v2Sale(10_000n * E18, 20_000_000n * E6)
    const weth = byHand.hopRatio(output, input, 18, 6)
    expect(s.edge(P1).capacity).toBe(byHand.microusd(byHand.v2DepthY(X, 700n * E18), 18, weth))
  })

  it('R-depth-4: a rug without a swap drops the depth in the same block', () => {
    const s = onePool()
    s.reserves(P1, X / 1000n, Y / 1000n)
    s.mine()
    const { state } = s.pool(P1)
    expect(state.marginal).toEqual({ num: Y / 1000n, den: X / 1000n })
    expect(s.edge(P1).capacity).toBe(byHand.v2DepthY(X / 1000n, Y / 1000n))
  })

  it('R-average-6: L_eff is the lesser of the depth now and its 30-minute average', () => {
    const s = onePool()
    s.reserves(P1, 3n * X, 3n * Y)
    s.mine()
    const grown = byHand.v2DepthY(3n * X, 3n * Y)
    expect(s.edge(P1).capacity).toBe(DEPTH)
    for (const passed of [1, 59_999, 17 * MINUTE, 3 * HOUR]) {
      s.mine({ afterMs: passed })
      const sinceMs = s.nowMs - s.pool(P1).state.changed.timeMs
      const average = byHand.averageAfter(DEPTH << 32n, grown, sinceMs) >> 32n
      expect(s.edge(P1).averageY).toBe(average)
      expect(effectiveY(s.pool(P1).state, s.nowMs)).toBe(byHand.least(average, grown))
    }
  })

  it('R-average-5, R-pool-2: the average of a pool created in a block starts at 0 and earns its weight', () => {
    const s = scenario()
    s.decimals(T, 18)
    s.bornV2(P1, [T, X], [USDC, Y])
    s.mine()
    expect(s.edge(P1)).toMatchObject({
      capacity: 0n,
      score: 0,
      failure: { rule: 'BELOW_MIN_DEPTH', actual: '0 microusd', required: '50000000 microusd' },
    })
    for (const passed of [MINUTE, 29 * MINUTE]) {
      s.mine({ afterMs: passed })
      const sinceMs = s.nowMs - s.pool(P1).state.changed.timeMs
      expect(s.edge(P1).capacity).toBe(byHand.averageAfter(0n, DEPTH, sinceMs) >> 32n)
    }
  })

  it('R-average-5: a pool younger than 30 minutes at its first verified state starts at 0 at its creation, an older or unknown one at its depth', () => {
    const ages = [
      { ageMs: 1, capacity: byHand.averageAfter(0n, DEPTH, 1) >> 32n },
      { ageMs: 30 * MINUTE - 1, capacity: byHand.averageAfter(0n, DEPTH, 30 * MINUTE - 1) >> 32n },
      { ageMs: 30 * MINUTE, capacity: DEPTH },
      { ageMs: null, capacity: DEPTH },
    ]
    for (const { ageMs, capacity } of ages) {
      const s = scenario()
      s.decimals(T, 18)
      s.v2(P1, [T, X], [USDC, Y], { createdMs: ageMs === null ? null : s.nowMs - ageMs })
      expect(s.edge(P1).capacity).toBe(capacity)
    }
  })

  it('R-guard-11: BELOW_MIN_DEPTH below 50 USD, and not at it', () => {
    const x = 500n * E18
    const y = byHand.smallest(1_000n * E6, n => byHand.v2DepthY(x, n) >= 50_000_000n)
    expect(byHand.v2DepthY(x, y)).toBe(50_000_000n)
    const [at, below] = [scenario(), scenario()]
    for (const [s, reserve] of [
      [at, y],
      [below, y - 1n],
    ] as const) {
      s.decimals(T, 18)
      s.v2(P1, [T, x], [USDC, reserve])
    }
    expect(at.edge(P1)).toMatchObject({ capacity: 50_000_000n, failure: null, score: 1 })
    expect(below.edge(P1)).toMatchObject({
      capacity: 49_999_999n,
      score: 0,
      failure: { rule: 'BELOW_MIN_DEPTH', actual: '49999999 microusd', required: '50000000 microusd' },
    })
  })

  it('R-depth-4: on a v3 pool the depth is two-sided: removing one side of the liquidity drops it', () => {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 18)
    s.v3(P1, T, DAI, {
      tick: 30,
      positions: [
        [-60_000, 60_000, 10n ** 22n],
        [60, 600, 10n ** 24n],
        [-600, 0, 10n ** 24n],
      ],
    })
    const before = effectiveY(s.pool(P1).state, s.nowMs) as bigint
    s.sim.liquidity(P1, -600, 0, -(10n ** 24n))
    s.mine()
    const { marginal, depth } = s.pool(P1).state
    expect(marginal).toEqual(changesOf(s.pool(P1).state.history)[0]?.ratio)
    const down = ((depth?.down as bigint) * (marginal?.num as bigint)) / (marginal?.den as bigint)
    expect(effectiveY(s.pool(P1).state, s.nowMs)).toBe(down)
    expect(down * 10n).toBeLessThan(before)
    expect(depth?.up as bigint).toBeGreaterThan(down * 10n)
  })
})

describe('guards', () => {
  it('R-guard-2, R-pool-7: FEE_TOO_HIGH above 3%, and not at it', () => {
    const fees = [
      { fee: [97n, 100n], rule: undefined },
      { fee: [969_999n, 1_000_000n], rule: 'FEE_TOO_HIGH' },
      // 1 part in ten million over 3%: a fee in ppm rounds up, so that no guard is slipped under.
      { fee: [9_699_999n, 10_000_000n], rule: 'FEE_TOO_HIGH' },
      { fee: [1n, 10_000n], rule: 'FEE_TOO_HIGH' },
    ] as const
    for (const { fee, rule } of fees) expect(failureOf(onePool({ fee }))).toBe(rule)
    for (const [feePpm, rule] of [
      [30_000n, undefined],
      [30_001n, 'FEE_TOO_HIGH'],
    ] as const) {
      const s = scenario({ stables: [DAI] })
      s.decimals(T, 18)
      s.v3(P1, T, DAI, { feePpm, tick: 1_000, positions: [[-60_000, 60_000, 10n ** 24n]] })
      expect(failureOf(s)).toBe(rule)
    }
    expect(onePool({ fee: [969_999n, 1_000_000n] }).edge(P1).failure).toEqual({
      rule: 'FEE_TOO_HIGH',
      actual: '30001 ppm',
      required: 'at most 30000 ppm',
    })
  })

  it('R-guard-3, R-decimals-2, P1: DECIMALS_UNVERIFIED while either side is unread or failed to read', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    expect(s.edge(P1)).toMatchObject({
      derived: { ratio: null, marginal: null },
      capacity: null,
      score: 0,
      failure: { rule: 'DECIMALS_UNVERIFIED' },
    })
    s.decimals(T, null, 'reverted')
    expect(s.edge(P1).failure).toMatchObject({ rule: 'DECIMALS_UNVERIFIED', actual: `${T} reverted` })
    s.decimals(T, 18)
    expect(failureOf(s)).toBe(undefined)
  })

  it.each([77, 37, 255])('R-decimals-1, P1: %i decimals are not verified decimals', decimals => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    s.decimals(T, decimals)
    expect(s.edge(P1).failure).toMatchObject({
      rule: 'DECIMALS_UNVERIFIED',
      actual: `${T} ${decimals} is not 0 to 36`,
    })
  })

  it.each([0, 36])('R-decimals-1: %i decimals are valid and exact', decimals => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    s.decimals(T, decimals)
    const { input, output } = byHand.v2Sale(X, Y)
    const { derived, failure } = s.edge(P1)
    const { ratio } = derived
    expect(failure).toBe(null)
    expect(byHand.reduced(ratio?.num as bigint, ratio?.den as bigint)).toEqual(
      byHand.hopRatio(output, input, decimals, 6),
    )
  })

  it('R-decimals-3: DECIMALS_CHANGED from a different reading until an equal one at a block 30 minutes later', () => {
    const s = onePool()
    s.decimals(T, 6)
    expect(s.edge(P1)).toMatchObject({
      derived: { ratio: null },
      score: 0,
      failure: {
        rule: 'DECIMALS_CHANGED',
        actual: `${T} 18 → 6`,
        required: 'an equal reading 30 minutes later',
      },
    })
    s.quiet(30 * MINUTE - 1)
    s.decimals(T, 6)
    expect(failureOf(s)).toBe('DECIMALS_CHANGED')
    s.mine({ afterMs: 1 })
    s.decimals(T, 6)
    const { input, output } = byHand.v2Sale(X, Y)
    const { derived, failure } = s.edge(P1)
    const { ratio } = derived
    expect(failure).toBe(null)
    expect(byHand.reduced(ratio?.num as bigint, ratio?.den as bigint)).toEqual(
      byHand.hopRatio(output, input, 6, 6),
    )
  })

  it('R-decimals-3: DECIMALS_CHANGED ends too when the old number is read again, and continues with a third one', () => {
    const s = onePool()
    s.decimals(T, 6)
    s.decimals(T, 9)
    expect(s.edge(P1).failure).toMatchObject({ rule: 'DECIMALS_CHANGED', actual: `${T} 18 → 9` })
    s.decimals(T, 18)
    expect(failureOf(s)).toBe(undefined)
  })

  it('R-guard-5: NO_ACTIVE_LIQUIDITY without liquidity at the price', () => {
    const s = scenario({ stables: [USDC, DAI] })
    s.decimals(T, 18)
    s.v3(P1, T, DAI, { tick: 1_000, positions: [[60_000, 120_000, 10n ** 24n]] })
    s.v2(P2, [T, 0n], [USDC, 0n])
    s.v2(P3, [T, X], [USDC, 0n])
    for (const pool of [P1, P2, P3])
      expect(s.edge(pool)).toMatchObject({
        derived: { ratio: null },
        score: 0,
        failure: { rule: 'NO_ACTIVE_LIQUIDITY' },
      })
  })

  it('R-guard-7: VALUE_IMBALANCE when D_up and D_down are more than 1000 times apart, and not before', () => {
    const seen = new Set<boolean>()
    for (let thousands = 900n; thousands <= 1_600n; thousands += 20n) {
      const s = scenario({ stables: [DAI] })
      s.decimals(T, 18)
      s.v3(P1, T, DAI, {
        tick: 1_000,
        positions: [
          [-60_000, 60_000, 10n ** 22n],
          [-60_000, 960, thousands * 10n ** 22n],
        ],
      })
      const { depth, marginal } = s.pool(P1).state
      const [up, down] = [
        depth?.up as bigint,
        ((depth?.down as bigint) * (marginal?.num as bigint)) / (marginal?.den as bigint),
      ]
      const isImbalanced = down > up * 1000n
      seen.add(isImbalanced)
      expect(failureOf(s)).toBe(isImbalanced ? 'VALUE_IMBALANCE' : undefined)
      if (isImbalanced) expect(s.edge(P1).failure?.actual).toBe(`up ${up}, down ${down}`)
    }
    expect(seen.size).toBe(2)
  })

  it('R-guard-10: a hop into neither a stable nor a routing asset has NO_ANCHOR', () => {
    const s = scenario()
    s.decimals(T, 18)
    s.decimals(U, 18)
    s.v2(P1, [T, X], [U, X])
    expect(s.edge(P1)).toMatchObject({ capacity: null, score: 0, failure: { rule: 'NO_ANCHOR', actual: U } })
  })

  it('R-guard-10, P12: a hop of a routing asset into itself is CIRCULAR', () => {
    const s = scenario()
    s.v2(P1, [WETH, X], [WETH, X])
    s.v2(P2, [WETH, 1_000n * E18], [USDC, Y])
    expect(s.edge(P1)).toMatchObject({ score: 0, failure: { rule: 'CIRCULAR', actual: WETH } })
    expect(s.pricedNow(WETH).selected?.edges.map(edge => edge.pool.address)).toEqual([P2])
  })

  it('R-guard-10: a hop into a routing asset without a price is ANCHOR_UNPRICED', () => {
    const s = scenario()
    s.decimals(T, 18)
    s.v2(P1, [T, X], [WETH, X])
    expect(s.edge(P1)).toMatchObject({
      capacity: null,
      score: 0,
      failure: { rule: 'ANCHOR_UNPRICED', actual: WETH },
    })
  })

  it('R-guard-10: a hop into a suspended stable is STABLE_SUSPENDED', () => {
    const s = onePool()
    s.stable(USDC, 87_000_000n)
    expect(s.edge(P1)).toMatchObject({
      capacity: null,
      score: 0,
      components: { stable: { score: 0 } },
      failure: { rule: 'STABLE_SUSPENDED', actual: USDC },
    })
  })

  it('R-guard-12: a hop on an unavailable feed scores 0', () => {
    const s = onePool()
    s.health('UNAVAILABLE')
    expect(s.edge(P1)).toMatchObject({
      score: 0,
      components: { feed: { score: 0, status: 'UNAVAILABLE' } },
      failure: { rule: 'FEED', actual: 'UNAVAILABLE' },
    })
  })
})

describe('unverified and incomplete state', () => {
  const wide = { tick: 1_000, positions: [[-60_000, 60_000, 10n ** 24n]] } as const

  function forged(): Scenario {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 18)
    s.v3(P1, T, DAI, wide)
    const before = s.sim.amm(P1)
    s.sell(P1, 100n * E18)
    const { sqrtPriceX96, tick, liquidity } = s.sim.amm(P1) as Extract<typeof before, { family: 'amm_v3' }>
    s.sim.forget()
    s.forge(P1, { kind: 'SWAP', amount0: 100n * E18, amount1: -1n, sqrtPriceX96, tick, liquidity })
    s.mine()
    return s
  }

  it('R-verify-1, R-guard-4: a v3 Swap that does not recompute leaves the pool unverified, with the difference', () => {
    const s = forged()
    const flat = {
      sqrtPriceX96: (s.sim.loaded(P1).state as { sqrtPriceX96: bigint }).sqrtPriceX96,
      liquidity: 10n ** 24n,
      feePpm: 3000n,
    }
    expect(flat.sqrtPriceX96).toBeGreaterThan(0n)
    const { state } = s.pool(P1)
    expect(state.verified).toBe(false)
    expect(state.differences.map(({ field, event }) => [field, event])).toContainEqual(['amount1', -1n])
    const edge = s.edge(P1)
    expect(edge).toMatchObject({
      finality: 'unverified',
      score: 0,
      components: { state: { score: 0 } },
      failure: { rule: 'STATE_UNVERIFIED' },
    })
    expect(s.poolText(P1)).toMatchObject({
      finality: 'unverified',
      score: 0,
      reason: 'STATE_UNVERIFIED',
      differences: [{ field: 'amount1', event: '-1' }],
    })
  })

  it('R-verify-1: an unverified pool requests a load at every event until it is loaded', () => {
    const s = forged()
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'UNVERIFIED' }])
    s.sell(P1, E18)
    s.mine()
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'UNVERIFIED' }])
  })

  it('R-verify-3: a load at the tip makes an unverified pool valid again', () => {
    const s = forged()
    s.load(P1)
    expect(s.pool(P1).state).toMatchObject({ verified: true, differences: [] })
    expect(s.edge(P1)).toMatchObject({ failure: null, finality: 'canonical' })
    expect(s.poolText(P1)).not.toHaveProperty('differences')
    expect(s.result.needs).toEqual([])
  })

  it('R-product-2, R-verify-1: a v2 Swap that does not follow from the reserves before it leaves the pool unverified', () => {
    const s = onePool()
    s.sync(P1, X + E18, Y - E6)
    s.swapLog(P1, [E18 - 900n, 0n], [0n, E6])
    s.mine()
    const [is, said] = [X + E18, X + E18 - 900n]
    expect(s.pool(P1).state.differences).toEqual([{ field: 'reserve1', event: is, computed: said }])
    expect(s.edge(P1)).toMatchObject({
      score: 0,
      failure: { rule: 'STATE_UNVERIFIED', actual: `reserve1 ${said}`, required: `${is}` },
    })
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'UNVERIFIED' }])
  })

  it('R-product-2, R-verify-1: a v2 Swap that has not paid its fee leaves the pool unverified', () => {
    const s = onePool()
    const free = byHand.v2Out(X, Y, E18, [1n, 1n])
    s.sync(P1, X + E18, Y - free)
    s.swapLog(P1, [E18, 0n], [0n, free])
    s.mine()
    expect(s.pool(P1).state.differences.map(({ field }) => field)).toEqual(['product'])
    expect(failureOf(s)).toBe('STATE_UNVERIFIED')
  })

  it('R-verify-2, R-guard-6: ticks unknown within ±2% make depth UNKNOWN and request a load, without distrust', () => {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 18)
    s.bornV3(P1, T, DAI, wide)
    s.sim.forget()
    s.load(P1, {}, { lowest: tick(960), highest: tick(1_080) })
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'INCOMPLETE' }])
    expect(s.edge(P1)).toMatchObject({
      finality: 'canonical',
      capacity: null,
      score: 0,
      failure: { rule: 'DEPTH_UNKNOWN' },
    })
    expect(s.poolText(P1)).toMatchObject({
      finality: 'canonical',
      depth: null,
      depth_reason: 'DEPTH_UNKNOWN',
      evidence: null,
    })
    s.load(P1)
    expect(failureOf(s)).toBe(undefined)
    expect(s.result.needs).toEqual([])
  })

  it('R-verify-2: a swap past the known ticks makes the state incomplete, not unverified', () => {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 18)
    s.v3(P1, T, DAI, { ...wide, known: { lowest: tick(0), highest: tick(2_040) } })
    expect(failureOf(s)).toBe(undefined)
    s.sell(P1, 10n ** 23n)
    s.mine()
    expect((s.sim.amm(P1) as { tick: number }).tick).toBeLessThan(0)
    expect(s.pool(P1).state).toMatchObject({ verified: true, incomplete: true })
    expect(failureOf(s)).toBe('DEPTH_UNKNOWN')
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'INCOMPLETE' }])
    s.load(P1)
    expect(failureOf(s)).toBe(undefined)
  })

  it('R-verify-2: incomplete state makes depth UNKNOWN even when the price has returned to known ticks', () => {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 18)
    s.v3(P1, T, DAI, { ...wide, known: { lowest: tick(0), highest: tick(2_040) } })
    s.sell(P1, 10n ** 23n)
    s.buy(P1, 10n ** 23n)
    s.mine()
    const here = (s.sim.amm(P1) as { tick: number }).tick
    expect(here > 300 && here < 1_700).toBe(true)
    // Neither swap could be recomputed: the state is what two unchecked logs say.
    expect(s.result.needs).toEqual([{ kind: 'load', pool: P1, why: 'INCOMPLETE' }])
    expect(s.edge(P1)).toMatchObject({ capacity: null, score: 0, failure: { rule: 'DEPTH_UNKNOWN' } })
  })

  it('R-pool-2: a pool created in a block is complete from its creation', () => {
    const s = scenario({ stables: [DAI] })
    s.decimals(T, 18)
    s.bornV3(P1, T, DAI, wide)
    s.mine()
    expect(s.result.needs).toEqual([])
    expect(s.pool(P1)).toMatchObject({
      createdBlock: s.tip.number,
      createdMs: s.tip.timeMs,
      state: { verified: true, incomplete: false },
    })
    // Even to the far end of its liquidity, where no load ever looked.
    s.sell(P1, 10n ** 25n)
    s.mine()
    expect(s.pool(P1).state).toMatchObject({ verified: true, incomplete: false })
  })
})

describe('freshness', () => {
  it.each([
    { chainId: 1, ttl: 60 * MINUTE },
    { chainId: 42161, ttl: 60 * MINUTE },
    { chainId: 56, ttl: 30 * MINUTE },
    { chainId: 137, ttl: 30 * MINUTE },
    { chainId: 43114, ttl: 30 * MINUTE },
  ])(
    'R-fresh-4: on chain $chainId a state lives for $ttl ms, in the bands of the specification',
    ({ chainId, ttl }) => {
      const bands = [
        [0.1, 10, 9],
        [0.2, 9, 8],
        [0.4, 8, 7],
        [0.6, 7, 6],
        [0.8, 6, 5],
      ] as const
      for (const [share, upTo, beyond] of bands) {
        const s = onePool({ setting: { chainId } })
        s.wait(ttl * share)
        expect([scoreOf(s, 'freshness'), s.edge(P1).components.freshness]).toEqual([
          upTo,
          { score: upTo, ageMs: ttl * share, ttlMs: ttl },
        ])
        s.wait(1)
        expect(scoreOf(s, 'freshness')).toBe(beyond)
      }
    },
  )

  it('R-fresh-4, R-guard-9: at the whole TTL the edge is expired and disqualified, a millisecond before it scores 5', () => {
    const s = onePool()
    s.wait(HOUR - 1)
    expect(s.edge(P1)).toMatchObject({ components: { freshness: { score: 5 } }, failure: null })
    expect(s.edge(P1).expiresAtMs).toBe(s.nowMs + 1)
    s.wait(1)
    expect(s.edge(P1)).toMatchObject({
      score: 0,
      failure: { rule: 'EXPIRED', actual: '3600000 ms', required: 'less than 3600000 ms' },
    })
  })

  it('R-fresh-3: blocks proven complete re-verify every pool they do not touch', () => {
    const s = onePool()
    s.quiet(3 * HOUR, 10 * MINUTE)
    expect(s.edge(P1).components.freshness).toMatchObject({ score: 10, ageMs: 0 })
    s.wait(7 * MINUTE)
    expect(s.edge(P1).components.freshness).toMatchObject({ score: 9, ageMs: 7 * MINUTE })
  })

  it('R-fresh-3: blocks without a proof re-verify nothing', () => {
    const s = onePool()
    for (let n = 0; n < 4; n++) s.mine({ proof: 'none', afterMs: 10 * MINUTE })
    expect(s.edge(P1).components.freshness).toMatchObject({ score: 6, ageMs: 40 * MINUTE })
  })

  it('R-fresh-3: a pool verified before an unproven block is not re-verified by proven ones after it', () => {
    const s = onePool()
    s.mine({ proof: 'none', afterMs: 10 * MINUTE })
    s.quiet(30 * MINUTE, 10 * MINUTE)
    // What the unproven block may have hidden no later block shows.
    expect(s.edge(P1).components.freshness).toMatchObject({ ageMs: 40 * MINUTE })
  })

  it('R-fresh-3: an unproven block does not undo what the proven ones before it have verified', () => {
    const s = onePool()
    s.quiet(2 * HOUR, 10 * MINUTE)
    const provenMs = s.nowMs
    s.mine({ proof: 'none', afterMs: MINUTE })
    expect(s.edge(P1)).toMatchObject({ verifiedMs: provenMs, failure: null })
    expect(s.edge(P1).components.freshness).toMatchObject({ score: 10, ageMs: MINUTE })
  })

  it('R-fresh-3, R-verify-5: a state read at a canonical block verifies, and a proven run continues from there', () => {
    const s = onePool()
    s.mine({ proof: 'none', afterMs: 40 * MINUTE })
    expect(scoreOf(s, 'freshness')).toBe(6)
    s.recheck(P1)
    expect(s.edge(P1).components.freshness).toMatchObject({ score: 10, ageMs: 0 })
    s.quiet(30 * MINUTE, 10 * MINUTE)
    expect(s.edge(P1).components.freshness).toMatchObject({ score: 10, ageMs: 0 })
  })

  it('R-fresh-1: a block ahead of the clock has age 0, not a negative one', () => {
    const s = onePool()
    const block = s.sim.mine({ afterMs: MINUTE })
    s.run({ kind: 'block', block })
    expect(s.edge(P1).components.freshness).toMatchObject({ score: 10, ageMs: 0 })
  })
})

describe('caps', () => {
  it.each([
    { ageMs: DAY, cap: '' },
    { ageMs: DAY + 1, cap: 'NO_RECENT_TRADE 6' },
    { ageMs: 7 * DAY, cap: 'NO_RECENT_TRADE 6' },
    { ageMs: 7 * DAY + 1, cap: 'NO_RECENT_TRADE 3' },
  ])('R-trade-1, R-edge-2: a last trade $ageMs ms ago gives $cap', ({ ageMs, cap }) => {
    const s = scenario()
    s.decimals(T, 18)
    s.v2(P1, [T, X], [USDC, Y], { lastTradeMs: s.nowMs - ageMs })
    expect(capsOf(s.edge(P1))).toBe(
      ['SINGLE_POOL_PAIR 8, INSUFFICIENT_HISTORY 5', cap].filter(each => each !== '').join(', '),
    )
  })

  it('R-trade-2: liquidity events are no trades, a swap of a useful size is', () => {
    const s = onePool({ lastTradeMs: 1 })
    s.reserves(P1, X - 1_000n, Y - 1_000n)
    s.mine()
    expect(capsOf(s.edge(P1))).toContain('NO_RECENT_TRADE 3')
    s.sell(P1, 100n * E18)
    // The decimals of USDC were read at the first block.
    s.mine({ afterMs: MINUTE })
    expect(capsOf(s.edge(P1))).not.toContain('NO_RECENT_TRADE')
    expect(s.pool(P1).state.lastTradeMs).toBe(s.tip.timeMs)
  })

  it('R-jump-1, R-jump-2: MAGNITUDE_JUMP caps at 1 from more than 100 times, until it has held for 30 minutes', () => {
    const [at, beyond] = [onePool(), onePool()]
    at.reserves(P1, X, Y * 100n)
    beyond.reserves(P1, X, Y * 100n + 1n)
    at.mine()
    beyond.mine()
    expect(capsOf(at.edge(P1))).not.toContain('MAGNITUDE_JUMP')
    expect(capsOf(beyond.edge(P1))).toContain('MAGNITUDE_JUMP 1')
    expect(beyond.edge(P1).score).toBe(1)
    beyond.quiet(30 * MINUTE - 1)
    expect(capsOf(beyond.edge(P1))).toContain('MAGNITUDE_JUMP 1')
    beyond.mine({ afterMs: 1 })
    expect(capsOf(beyond.edge(P1))).not.toContain('MAGNITUDE_JUMP')
  })

  it('R-jump-3, P10: MAGNITUDE_JUMP flags and does not replace the value', () => {
    const s = onePool()
    s.reserves(P1, X, Y * 1_000n)
    s.mine()
    const { input, output } = byHand.v2Sale(X, Y * 1_000n)
    const { ratio } = s.edge(P1).derived
    expect(byHand.reduced(ratio?.num as bigint, ratio?.den as bigint)).toEqual(
      byHand.hopRatio(output, input, 18, 6),
    )
  })

  it('R-temporal-3: less than five minutes of history caps at 5, INSUFFICIENT_HISTORY', () => {
    const s = onePool()
    expect(s.edge(P1)).toMatchObject({
      score: 5,
      components: { temporal: { score: 5, median: null, coveredMs: 0 } },
    })
    s.mine({ afterMs: 5 * MINUTE - 1 })
    expect(capsOf(s.edge(P1))).toContain('INSUFFICIENT_HISTORY 5')
    s.mine({ afterMs: 1 })
    // Then the depth, between 10,000 and 25,000 USD, is what holds it back.
    expect(s.edge(P1)).toMatchObject({
      score: 6,
      components: { depth: { score: 6 }, temporal: { score: 10, coveredMs: 5 * MINUTE } },
    })
    expect(capsOf(s.edge(P1))).toBe('SINGLE_POOL_PAIR 8')
  })

  it.each([
    [100n, 10],
    [200n, 8],
    [500n, 5],
  ] as const)(
    'R-temporal-4: a marginal up to %i bps from its five-minute median scores %i, beyond it less',
    (bps, score) => {
      for (const [extra, expected] of [
        [0n, score],
        [1n, { 10: 8, 8: 5, 5: 2 }[score]],
      ] as const) {
        const s = onePool()
        s.mine({ afterMs: 5 * MINUTE })
        s.reserves(P1, X, (Y * (10_000n + bps)) / 10_000n + extra)
        s.mine()
        expect(s.edge(P1).components.temporal).toMatchObject({ score: expected, median: { num: Y, den: X } })
      }
    },
  )

  it('P6: a price held for less than half the window leaves the median unchanged, and is flagged', () => {
    const s = onePool()
    s.mine({ afterMs: 5 * MINUTE })
    s.reserves(P1, X, 2n * Y)
    s.mine()
    s.mine({ afterMs: 2.5 * MINUTE - 1 })
    expect(s.edge(P1).components.temporal).toMatchObject({ score: 2, median: { num: Y, den: X } })
    s.mine({ afterMs: 2 })
    expect(s.edge(P1).components.temporal).toMatchObject({ score: 10, median: { num: 2n * Y, den: X } })
  })
})

describe('state and stable', () => {
  it('R-edge-4: state is 8 while canonical and 10 once the block that last changed the pool is final', () => {
    const s = onePool()
    const first = s.tip
    s.sell(P1, E18)
    s.mine()
    s.finalize(first)
    expect(s.edge(P1)).toMatchObject({ finality: 'canonical', components: { state: { score: 8 } } })
    s.mine()
    s.finalize({ ...s.tip, number: count(s.tip.number - 1), hash: s.pool(P1).state.changed.hash })
    expect(s.edge(P1)).toMatchObject({ finality: 'finalized', components: { state: { score: 10 } } })
  })

  it('R-edge-4: state finality is that of the block that last changed the pool, not of the one that verified it', () => {
    const s = onePool()
    const { changed } = s.pool(P1).state
    s.mine()
    s.recheck(P1)
    s.finalize(changed)
    expect(s.pool(P1).state.verifiedNumber).toBeGreaterThan(changed.number)
    expect(s.edge(P1).finality).toBe('finalized')
  })

  it('R-edge-1: only a hop into a stable has a stable component', () => {
    const s = onePool()
    s.v2(P2, [T, X], [WETH, 1_000n * E18])
    s.v2(P3, [WETH, 1_000n * E18], [USDC, Y])
    expect(s.edge(P1).components.stable).toEqual({ score: 10 })
    expect(s.edge(P2).components.stable).toBe(null)
    expect(s.edge(P3).components.stable).toEqual({ score: 10 })
  })

  it('R-edge-3: DEGRADED gives the feed 3', () => {
    const s = onePool()
    s.health('DEGRADED')
    expect(s.edge(P1)).toMatchObject({ score: 3, components: { feed: { score: 3, status: 'DEGRADED' } } })
  })
})

/** Policies that leave some hops nothing. */
const WITH_ZEROS = [
  { min_depth_usd: 0 },
  { trade_age_caps: [{ over_ms: DAY, cap: 0 }] },
  { agreement: { edge_sources: [0, 8, 9, 10] } },
  { agreement: { spread: { up_to: [[100, 10]], beyond: 0 } } },
  {
    agreement: {
      spread: {
        up_to: [
          [100, 10],
          [500, 0],
        ],
        beyond: 0,
      },
    },
  },
  {
    agreement: {
      retained: [
        [10_000, 10],
        [6700, 0],
      ],
    },
  },
]

describe('a policy that leaves a hop with a score of zero', () => {
  const expectZero = (edge: Edge, by: string) =>
    expect(edge).toMatchObject({ score: 0, failure: { rule: 'SCORE_ZERO', actual: by } })

  it('R-guard-13: by its jump cap', () => {
    const s = onePool({ setting: { policy: { jump: { cap: 0 } } } })
    expect(s.edge(P1).failure).toBe(null)
    s.reserves(P1, X, Y * 101n)
    s.mine()
    expectZero(s.edge(P1), 'MAGNITUDE_JUMP')
  })

  it('R-guard-13: by its stable cap', () => {
    const s = onePool({ setting: { policy: { stable: { stale_cap: 0 } } } })
    expect(s.edge(P1).failure).toBe(null)
    s.stable(USDC, 0n)
    expectZero(s.edge(P1), 'STABLE_STALE')
  })

  it('R-guard-13: by the retained weight of a pair', () => {
    const retained = [
      [10_000, 10],
      [6700, 0],
    ]
    const s = onePool({ setting: { policy: { agreement: { retained } } }, deployment: 'a' })
    s.v2(P2, [T, X], [USDC, Y], { deployment: 'b' })
    expect(s.edge(P1).failure).toBe(null)
    s.v2(P3, [T, X / 2n], [USDC, (Y / 2n / 100n) * 103n], { deployment: 'c' })
    expectZero(s.edge(P1), 'agreement')
  })
})

describe('any pool contents', () => {
  const EXTREMES = [0n, 1n, 2n, 10_000n, 2n ** 64n, 2n ** 111n, 2n ** 112n - 2n, 2n ** 112n - 1n]

  it('P3: reserves of 0, 1 wei and 2^112 − 1 never throw: there is a price or a reason', () => {
    const s = scenario({ stables: [USDC, DAI] })
    s.decimals(T, 18)
    let n = 0x1000
    for (const x of EXTREMES)
      for (const y of EXTREMES)
        for (const stable of [USDC, DAI]) {
          const pool = address(++n)
          s.v2(pool, [T, x], [stable, y])
          const edge = s.edge(pool)
          expect(edge.failure === null ? edge.score > 0 : edge.score === 0).toBe(true)
          if (x === 0n || y === 0n) expect(edge.failure?.rule).toBe('NO_ACTIVE_LIQUIDITY')
          else expect(edge.state.depth).toEqual({ up: byHand.v2Up(x, y), down: byHand.v2Down(x, y) })
        }
  })

  it('P3: sqrt prices at MIN and MAX never throw: there is a price or a reason', () => {
    for (const at of [MIN_TICK, MIN_TICK + 1, -600_000, 600_000, MAX_TICK - 1, MAX_TICK])
      for (const liquidity of [0n, 1n, 10n ** 24n, 2n ** 127n]) {
        const s = scenario({ stables: [DAI] })
        s.decimals(T, 18)
        s.bornV3(P1, T, DAI, {
          tick: at,
          tickSpacing: 1,
          positions: liquidity === 0n ? [] : [[MIN_TICK, MAX_TICK, liquidity]],
        })
        s.mine()
        s.mine({ afterMs: HOUR })
        const edge = s.edge(P1)
        expect(edge.failure === null ? edge.score > 0 : edge.score === 0).toBe(true)
        s.enrol(T)
        expect(['PRICED', 'UNPRICED']).toContain(s.published(T).state)
      }
  })

  it('R-edge-1, R-guard-1: S_edge is the least of its components and caps, or 0 with the rule it failed', () => {
    const amount = natural(108)
    const market = fc.record({
      pools: fc.array(
        fc.record({
          x: amount,
          y: amount,
          stable: fc.constantFrom(USDC, DAI),
          ageMs: fc.integer({ min: 0, max: 8 * DAY }),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      answer: fc.bigInt(93_000_000n, 107_000_000n),
      status: fc.constantFrom<FeedStatus>('HEALTHY', 'DEGRADED', 'UNAVAILABLE'),
      passedMs: fc.integer({ min: 0, max: 70 * MINUTE }),
      decimals: fc.integer({ min: 0, max: 37 }),
      policy: fc.constantFrom({}, ...WITH_ZEROS),
    })
    fc.assert(
      fc.property(market, ({ pools, answer, status, passedMs, decimals, policy }) => {
        const s = scenario({ stables: [USDC, DAI], policy })
        s.decimals(T, decimals)
        pools.forEach(({ x, y, stable, ageMs }, at) =>
          s.v2(address(0x1000 + at), [T, x], [stable, y], {
            deployment: `d${at % 2}`,
            lastTradeMs: s.nowMs - ageMs,
          }),
        )
        s.stable(USDC, answer)
        s.health(status)
        s.wait(passedMs)
        for (const pool of s.state.pools.keys()) {
          const { components, caps, score, failure } = s.edge(pool)
          const { coverage, stable, ...rest } = components
          const parts = [
            ...Object.values(rest).map(each => each.score),
            stable?.score ?? 10,
            ...caps.map(({ cap }) => cap),
          ]
          expect(coverage).toBe(null)
          expect(score).toBe(failure === null ? Math.min(...parts) : 0)
          if (Math.min(...parts) === 0) expect(failure).not.toBe(null)
        }
      }),
      { numRuns: cases(500) },
    )
  })

  it('P3: nothing that a log says makes a step throw', () => {
    const big = fc.oneof(
      natural(256),
      fc.constantFrom(0n, 1n, MIN_SQRT_RATIO, MAX_SQRT_RATIO, MIN_SQRT_RATIO - 1n),
    )
    const signed = fc.tuple(natural(200), fc.boolean()).map(([n, negative]) => (negative ? -n : n))
    const anyTick = fc
      .oneof(fc.integer({ min: -2_000, max: 2_000 }), fc.integer({ min: MIN_TICK - 1, max: MAX_TICK + 1 }))
      .map(tick)
    const v3Event: fc.Arbitrary<V3Event> = fc.oneof(
      fc.record({ kind: fc.constant('INITIALIZE' as const), sqrtPriceX96: big, tick: anyTick }),
      fc.record({
        kind: fc.constantFrom('MINT' as const, 'BURN' as const),
        tickLower: anyTick,
        tickUpper: anyTick,
        liquidity: natural(128),
        amount0: big,
        amount1: big,
      }),
      fc.record({
        kind: fc.constant('SWAP' as const),
        amount0: signed,
        amount1: signed,
        sqrtPriceX96: big,
        liquidity: natural(128),
        tick: anyTick,
      }),
    )
    const reserve = natural(112)
    const v2Event: fc.Arbitrary<V2Event> = fc.oneof(
      fc.record({ kind: fc.constant('SYNC' as const), reserve0: reserve, reserve1: reserve }),
      fc.record({ kind: fc.constantFrom('MINT' as const, 'BURN' as const), amount0: big, amount1: big }),
      fc.record({
        kind: fc.constant('SWAP' as const),
        amount0In: big,
        amount1In: big,
        amount0Out: big,
        amount1Out: big,
      }),
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), v3Event, v2Event), { minLength: 1, maxLength: 4 }),
        events => {
          const s = scenario({ stables: [DAI, USDC] })
          s.v3(P1, T, DAI, { tick: 1_000, positions: [[-60_000, 60_000, 10n ** 24n]] })
          s.v2(P2, [T, X], [USDC, Y])
          s.enrol(T)
          for (const [isV3, v3Log, v2Log] of events) s.sim.forge(isV3 ? P1 : P2, isV3 ? v3Log : v2Log)
          s.mine()
          s.wait(HOUR)
          s.load(P1)
          s.load(P2)
          expect(s.pool(P1).state.verified && s.pool(P2).state.verified).toBe(true)
        },
      ),
      { numRuns: cases(500) },
    )
  })
})
