import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../chain/block.ts'
import * as byHand from '../testing/byHand.ts'
import { cases } from '../testing/cases.ts'
import { address } from '../testing/chainSim.ts'
import { checkQuote } from '../testing/quoteLaws.ts'
import {
  DAI,
  DAY,
  E18,
  E6,
  HOUR,
  MINUTE,
  P1,
  P2,
  P3,
  P4,
  P5,
  P6,
  SECOND,
  T,
  U,
  USDC,
  WBTC,
  WETH,
} from '../testing/cast.ts'
import { type PoolOptions, type Setting } from '../testing/drive.ts'
import { Scenario, scenario } from '../testing/scenario.ts'
import { ms } from '../units.ts'

const POOLS = [P1, P2, P3, P4, P5, P6]
const ONE: byHand.Rational = { num: 1n, den: 1n }

/** A hop's ratio from the simulated sale on these reserves. */
function saleRatio(x: bigint, y: bigint, decimalsX = 18, decimalsY = 6): byHand.Rational {
  const { input, output } = byHand.v2Sale(x, y)
  return byHand.hopRatio(output, input, decimalsX, decimalsY)
}

type Spec = PoolOptions & { readonly bps?: bigint; readonly of?: bigint }
const X = 30_000_000n * E18
const Y = 60_000_000n * E6
const reservesOf = ({ bps = 0n, of = 1_000n }: Spec): readonly [bigint, bigint] => [
  (X * of) / 1_000n,
  (Y * of * (10_000n + bps)) / 10_000_000n,
]

/** T with deep pools against USDC at 2 USD plus `bps`, of `of` thousandths, each of its own deployment by default. */
function pools(specs: readonly Spec[], setting: Setting = {}): Scenario {
  const s = scenario(setting)
  specs.forEach((spec, at) => {
    const [x, y] = reservesOf(spec)
    s.v2(POOLS[at] as Address, [T, x], [USDC, y], { deployment: `d${at}`, ...spec })
  })
  s.enrol(T)
  return s
}

const times = (count: number, spec: Spec = {}): Spec[] => Array.from({ length: count }, () => spec)

/** Five agreeing pools with a past, and everything they rest on final: nothing holds the score back. */
function perfect(setting: Setting = {}): Scenario {
  const s = pools(times(5), setting)
  s.mine({ afterMs: 5 * MINUTE })
  s.finalize()
  return s
}

/** The price at this moment, whether or not it was worth a record. */
function valueNow(s: Scenario, token: Address): byHand.Rational {
  const { num, den } = s.pricedNow(token).price
  return { num, den }
}

const capsOf = (s: Scenario, token = T): string[] =>
  s.priced(token).confidence.caps.map(({ code, cap }) => `${code} ${cap}`)
const componentOf = (s: Scenario, name: string) => s.priced(T).confidence.components[name]

const depth = (of: bigint): bigint => byHand.v2DepthY(...reservesOf({ of }))
/** Not traded for more than a week: capped at 3. */
const stale = (s: Scenario): PoolOptions => ({ lastTradeMs: s.nowMs - 8 * DAY })
/** Blocks go by, so that only the stable grows old. */
const pass = (s: Scenario, forMs: number) => s.mine({ afterMs: forMs })

describe('the published price', () => {
  it('R-exact-3: of one hop is the exact sale times the exact price of the stable', () => {
    const s = pools([{}])
    s.stable(USDC, 99_950_000n)
    expect(valueNow(s, T)).toEqual(byHand.times(saleRatio(X, Y), { num: 99_950_000n, den: 10n ** 8n }))
  })

  it('R-exact-3: of three hops is the product of their exact ratios', () => {
    const s = scenario({ routing: [WETH, WBTC] })
    const [tx, ty] = [10n ** 25n, 500n * 10n ** 8n]
    const [bx, by] = [600n * 10n ** 8n, 12_345n * E18]
    const [ex, ey] = [9_876n * E18, 20_000_003n * E6]
    s.v2(P1, [T, tx], [WBTC, ty])
    s.v2(P2, [WBTC, bx], [WETH, by])
    s.v2(P3, [WETH, ex], [USDC, ey])
    s.stable(USDC, 100_010_001n)
    s.enrol(T)
    const hops = [saleRatio(tx, ty, 18, 8), saleRatio(bx, by, 8, 18), saleRatio(ex, ey, 18, 6)]
    expect(valueNow(s, T)).toEqual(byHand.times(...hops, { num: 100_010_001n, den: 10n ** 8n }))
    expect(valueNow(s, WBTC)).toEqual(byHand.times(...hops.slice(1), { num: 100_010_001n, den: 10n ** 8n }))
  })

  it.each([
    { weights: [1_000n, 1_000n, 1_000n], selected: 1 },
    // 2 × 2,000 reaches exactly the total of 4,000: the first index where it does.
    { weights: [2_000n, 1_000n, 1_000n], selected: 0 },
    { weights: [1_900n, 1_000n, 1_000n], selected: 1 },
    { weights: [1_000n, 1_000n, 2_500n], selected: 2 },
  ])(
    'R-consensus-5: is the weighted median: of depths $weights by rising price, number $selected',
    ({ weights, selected }) => {
      // Depth in USD rises with the price too, so it is evened out by fewer tokens.
      const s = scenario()
      weights.forEach((weight, at) => {
        const y = (Y * weight) / 1_000n
        s.v2(POOLS[at] as Address, [T, (y * X * 10_000n) / (Y * (10_000n + 50n * BigInt(at)))], [USDC, y], {
          deployment: `d${at}`,
        })
      })
      s.enrol(T)
      expect(s.priced(T).selected?.pool_ids).toEqual([s.pool(POOLS[selected] as Address).id])
      const { state } = s.pool(POOLS[selected] as Address)
      expect(s.price(T)).toEqual(
        byHand.hopRatio(state.evidence?.amountOut as bigint, state.evidence?.amountIn as bigint, 18, 6),
      )
    },
  )

  it('R-exact-1, P15: prices of 10^-30 and 10^30 USD are exact', () => {
    const many = 5n * 10n ** 33n
    const s = scenario()
    s.v2(P1, [T, many], [USDC, 6_000n * E6])
    s.enrol(T, 0)
    expect(s.price(T)).toEqual(saleRatio(many, 6_000n * E6, 0, 6))
    expect(s.priced(T).price_usd.display).toMatch(/^0\.0{29}1\d+$/)
    s.v2(P2, [U, 6n * 10n ** 9n], [USDC, 6_000_000n * E6])
    s.enrol(U, 36)
    expect(s.price(U)).toEqual(saleRatio(6n * 10n ** 9n, 6_000_000n * E6, 36, 6))
    expect(s.priced(U).price_usd.display).toMatch(/^9\d{32}(\.\d+)?$/)
  })

  it('R-record-4, R-fresh-5: names its block, when it was evaluated and until when it is valid', () => {
    const s = pools([{}])
    expect(s.priced(T)).toMatchObject({
      evaluated_at_ms: s.nowMs,
      as_of: { block_number: s.tip.number, block_hash: s.tip.hash, block_time_ms: s.tip.timeMs },
      expires_at_ms: s.tip.timeMs + HOUR,
      policy_version: s.state.policyView.version,
    })
  })

  it('R-expiry-1: expires with the longest-lived accepted route, and a route with its first hop to expire', () => {
    const s = scenario()
    const start = s.nowMs
    s.v2(P1, [WETH, 10_000n * E18], [USDC, 20_000_000n * E6])
    s.v2(P2, [T, X], [USDC, Y], { deployment: 'two' })
    s.mine({ proof: 'none', afterMs: 20 * MINUTE })
    s.v2(P3, [T, X], [WETH, (X * 2n) / 2_000n], { deployment: 'three' })
    s.enrol(T)
    expect(s.pricedNow(T).support?.accepted).toBe(2)
    // P3 is fresh, but its route continues over P1: both routes end an hour after the start.
    expect(s.priced(T).expires_at_ms).toBe(start + HOUR)
    s.recheck(P1)
    expect(s.pricedNow(T).expiresAtMs).toBe(s.nowMs + HOUR)
    expect(
      s
        .pricedNow(T)
        .routes.map(route => Math.min(...route.edges.map(edge => edge.expiresAtMs)))
        .sort((a, b) => a - b),
    ).toEqual([start + HOUR, s.nowMs + HOUR])
  })
})

describe('outliers', () => {
  it('R-consensus-4: an outlier that the others outvote is removed, and its weight shows in the retained share', () => {
    const s = pools([{}, {}, {}, { bps: 400n, of: 500n }])
    const quote = s.quote(T)
    checkQuote(quote, token => (token === USDC ? 6 : 18))
    expect(quote.routes?.map(({ reason }) => reason)).toEqual([null, null, null, 'OUTLIER'])
    const weights = quote.routes?.map(route => BigInt(route.weight_microusd)) as [
      bigint,
      bigint,
      bigint,
      bigint,
    ]
    const kept = weights[0] + weights[1] + weights[2]
    expect(s.priced(T).support).toMatchObject({
      accepted: 3,
      rejected: 1,
      tau_bps: '200',
      retained_weight_bps: Number((kept * 10_000n) / (kept + weights[3])),
    })
    expect(s.price(T)).toEqual(saleRatio(X, Y))
  })

  it('R-consensus-3: an outlier is further than tau, not at it', () => {
    const [at, beyond] = [pools([{}, {}, {}, { bps: 195n }]), pools([{}, {}, {}, { bps: 205n }])]
    expect(at.priced(T).support).toMatchObject({ accepted: 4, rejected: 0 })
    expect(beyond.priced(T).support).toMatchObject({ accepted: 3, rejected: 1 })
  })

  it.each([
    { what: 'less than 67% of the weight', specs: [{}, {}, { bps: 300n, of: 1_100n }] },
    {
      what: 'one deployment',
      specs: [{ deployment: 'a' }, { deployment: 'a' }, { deployment: 'a' }, { bps: 300n, deployment: 'b' }],
    },
    { what: 'one pool', specs: [{ of: 5_000n }, { bps: 300n }] },
  ])(
    'R-consensus-6, R-agreement-6: survivors of $what remove no one: NO_INDEPENDENT_CONSENSUS caps at 2',
    ({ specs }) => {
      const s = pools(specs)
      expect(s.score(T)).toBe(2)
      expect(capsOf(s)).toContain('NO_INDEPENDENT_CONSENSUS 2')
      expect(s.priced(T).support).toMatchObject({
        accepted: specs.length,
        rejected: 0,
        retained_weight_bps: 10_000,
      })
      checkQuote(s.quote(T), token => (token === USDC ? 6 : 18))
    },
  )

  it('R-consensus-4: many routes over one pool of the token are one pool', () => {
    const s = scenario()
    s.v2(P1, [T, X], [WETH, 30_000n * E18], { deployment: 'a' })
    s.v2(P2, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6], { deployment: 'b' })
    s.v2(P3, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6], { deployment: 'c' })
    s.v2(P4, [T, X / 4n], [USDC, (Y * 104n) / 400n], { deployment: 'd' })
    s.enrol(T)
    expect(s.pricedNow(T).routes.length).toBe(3)
    expect(capsOf(s)).toContain('NO_INDEPENDENT_CONSENSUS 2')
  })

  it('R-consensus-5: routes at one price through shared edges still give the exact rational of one of them', () => {
    const s = pools([{}, { bps: 40n }, { bps: -40n }])
    const prices = [P1, P2, P3]
      .map(pool => s.pool(pool).state.evidence)
      .map(each => byHand.hopRatio(each?.amountOut as bigint, each?.amountIn as bigint, 18, 6))
    expect(prices).toContainEqual(s.price(T))
  })
})

describe('path agreement', () => {
  it.each([
    [1, 5, ['SINGLE_POOL_PAIR 8', 'SINGLE_SOURCE 5']],
    [2, 8, []],
    [3, 9, []],
    [4, 10, []],
    [5, 10, []],
    [6, 10, []],
  ] as const)('R-path-2, R-path-3: %i sources that agree score %i', (count, score, caps) => {
    const s = pools(times(count))
    s.mine({ afterMs: 5 * MINUTE })
    s.finalize()
    expect(componentOf(s, 'path_agreement')).toMatchObject({
      score,
      sources: count,
      deployments: count,
      spread_bps: '0',
      retained_weight_bps: 10_000,
    })
    expect(capsOf(s)).toEqual(caps)
  })

  it('R-path-2: five sources of one deployment are worth 7, and no cap applies', () => {
    const s = pools(times(5, { deployment: 'one' }))
    s.mine({ afterMs: 5 * MINUTE })
    expect(componentOf(s, 'path_agreement')).toMatchObject({ score: 7, sources: 5, deployments: 1 })
    expect(capsOf(s)).toEqual([])
  })

  it('R-path-1: a first-hop pool is a source whatever it weighs, when its best route lies within 200 bps', () => {
    const at = (bps: bigint, of: bigint) => componentOf(pools([{}, { bps, of }]), 'path_agreement')
    expect(at(0n, 20n)?.['sources']).toBe(2)
    expect(at(200n, 500n)?.['sources']).toBe(2)
    expect(at(201n, 500n)?.['sources']).toBe(1)
    // The selected one lies above: it is the other that is 200 bps away.
    expect(at(-196n, 20n)?.['sources']).toBe(2)
    expect(at(-197n, 20n)?.['sources']).toBe(1)
  })

  it('R-path-2: a source is worth no more than its best route: two at 8 and one at 3 are worth 8, not 9', () => {
    const s = pools([{}, {}])
    s.v2(P3, [T, X / 10n], [USDC, Y / 10n], { deployment: 'd2', ...stale(s) })
    s.mine({ afterMs: 5 * MINUTE })
    expect(componentOf(s, 'path_agreement')).toMatchObject({ score: 8, sources: 3, source_score: 8 })
    const single = pools([{}])
    single.v2(P2, [T, X / 10n], [USDC, Y / 10n], { deployment: 'd2', ...stale(single) })
    single.mine({ afterMs: 5 * MINUTE })
    expect(componentOf(single, 'path_agreement')).toMatchObject({ score: 5, sources: 2, source_score: 5 })
    expect(capsOf(single)).not.toContain('SINGLE_SOURCE 5')
  })

  it('R-path-1: sources are the pools of the token: routes behind them add none', () => {
    const s = scenario()
    s.v2(P1, [T, X], [WETH, 30_000n * E18], { deployment: 'a' })
    for (const pool of [P2, P3, P4])
      s.v2(pool, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6], { deployment: pool })
    s.enrol(T)
    expect(componentOf(s, 'path_agreement')).toMatchObject({ score: 5, sources: 1, deployments: 1 })
  })

  it.each([
    [24n, 10],
    [45n, 8],
    [95n, 6],
    [190n, 5],
  ] as const)('R-agreement-5: five sources of which one is about %i bps away score %i', (bps, score) => {
    const s = pools([...times(4), { bps }])
    s.mine({ afterMs: 5 * MINUTE })
    s.finalize()
    expect(componentOf(s, 'path_agreement')?.score).toBe(score)
  })

  it.each([
    [800n, 6],
    [1_300n, 5],
  ] as const)(
    'R-path-2, R-agreement-5: an outlier of %i thousandths of each of four others leaves retained weight for %i',
    (of, score) => {
      const s = pools([...times(4), { bps: 300n, of }])
      s.mine({ afterMs: 5 * MINUTE })
      const retained = s.priced(T).support?.retained_weight_bps as number
      expect(retained >= { 6: 8_000, 5: 6_700 }[score]).toBe(true)
      expect(componentOf(s, 'path_agreement')?.score).toBe(score)
    },
  )
})

describe('material routes', () => {
  it('R-material-1, R-material-2: the published score is limited by routes with 34% of the weight, not by smaller ones', () => {
    const enough = byHand.smallest(100n, of => depth(of) * 100n >= (depth(of) + depth(1_000n)) * 34n)
    for (const [of, score, routes] of [
      [enough - 1n, 5, 1],
      [enough, 3, 2],
    ] as const) {
      const s = pools([{}])
      const [x, y] = reservesOf({ of })
      s.v2(P2, [T, x], [USDC, y], { deployment: 'd1', ...stale(s) })
      expect(s.priced(T).support?.accepted).toBe(2)
      expect([s.score(T), componentOf(s, 'material_routes')?.['routes']]).toEqual([score, routes])
    }
  })

  it('R-material-1: a route whose continuation is not material for its routing asset is not material', () => {
    for (const [of, routes, caps] of [
      [12n, 1, 'none'],
      [60n, 2, 'NO_RECENT_TRADE 3'],
    ] as const) {
      const s = scenario()
      s.v2(P1, [T, X / 1_000n], [WETH, 30n * E18], { deployment: 'a' })
      s.v2(P2, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6], { deployment: 'b' })
      s.v2(P3, [WETH, 1_000n * of * E18], [USDC, 2_002_000n * of * E6], { deployment: 'c', ...stale(s) })
      s.enrol(T)
      expect(s.priced(T).support?.accepted).toBe(2)
      expect(componentOf(s, 'material_routes')?.['routes']).toBe(routes)
      expect(capsOf(s).find(cap => cap.startsWith('NO_RECENT')) ?? 'none').toBe(caps)
    }
  })

  it('R-material-1: when none has 34%, the heaviest that carry half together are material, ties by pool', () => {
    const s = scenario()
    for (let at = 0; at < 12; at++) s.v2(address(0x200 + at), [T, X], [USDC, Y], { deployment: `d${at}` })
    s.enrol(T)
    expect(componentOf(s, 'path_agreement')?.['sources']).toBe(12)
    const material = s.quote(T).routes?.filter(route => route.material) ?? []
    expect(material.map(route => BigInt(route.route_id)).sort()).toEqual(
      Array.from({ length: 6 }, (_, at) => BigInt(0x200 + at)),
    )
    checkQuote(s.quote(T), token => (token === USDC ? 6 : 18))
  })

  it("R-route-6: S_route takes the routing asset's own published score of this step", () => {
    const s = scenario()
    for (const pool of [P1, P2, P3]) s.v2(pool, [T, X], [WETH, 30_000n * E18], { deployment: pool })
    s.v2(P4, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6])
    s.enrol(T)
    s.mine({ afterMs: 5 * MINUTE })
    // WETH has a single source and scores 5; each of the hops alone scores more.
    expect(s.score(WETH)).toBe(5)
    const hops = s.quote(T).routes?.flatMap(route => route.hops.map(hop => hop.score)) as number[]
    expect(Math.min(...hops)).toBeGreaterThan(5)
    expect(s.quote(T).routes?.map(route => route.score)).toEqual([5, 5, 5])
    expect(s.score(T)).toBe(5)
    expect(capsOf(s)).toContain('SINGLE_SOURCE 5')
  })
})

describe('aggregate state', () => {
  it('R-state-1, R-score-4: a causal state that is entirely final gives 10, Very high', () => {
    const s = perfect()
    expect(s.priced(T).confidence).toMatchObject({
      score: 10,
      label: 'Very high',
      caps: [],
      components: { aggregate_state: { score: 10 } },
    })
  })

  it('R-state-1: one pool of an accepted route that is not final holds it at 8', () => {
    const s = perfect()
    s.sell(P5, E18)
    s.mine()
    expect(componentOf(s, 'aggregate_state')).toEqual({ score: 8 })
    s.finalize()
    expect(componentOf(s, 'aggregate_state')).toEqual({ score: 10 })
  })

  it('R-state-1: a decimals reading that is not final holds it at 8', () => {
    const s = perfect()
    s.mine()
    s.confirm(T, 17)
    expect([componentOf(s, 'aggregate_state'), s.score(T)]).toEqual([{ score: 8 }, 8])
    s.finalize()
    expect([componentOf(s, 'aggregate_state'), s.score(T)]).toEqual([{ score: 10 }, 10])
  })

  it("R-state-1: so does a reading of the stable's decimals", () => {
    const s = perfect()
    s.mine()
    s.confirm(USDC, 5)
    expect([componentOf(s, 'aggregate_state'), s.score(T)]).toEqual([{ score: 8 }, 8])
    s.finalize()
    expect(s.pricedNow(T).score).toBe(10)
  })

  it("R-trigger-5, R-publish-2: when a stable's decimals become final, every token priced in it is published at once", () => {
    const s = perfect()
    s.mine()
    s.confirm(USDC, 5)
    s.finalize()
    expect([s.said(T), s.score(T)]).toEqual(['PRICE_UPSERT', 10])
  })

  it('R-state-1: a stable answer that is not final holds it at 8', () => {
    const s = perfect()
    s.mine()
    s.stable(USDC, 100_000_001n)
    expect([componentOf(s, 'aggregate_state'), s.score(T)]).toEqual([{ score: 8 }, 8])
    s.finalize()
    expect([componentOf(s, 'aggregate_state'), s.score(T)]).toEqual([{ score: 10 }, 10])
  })

  it('R-state-1, R-edge-3: a degraded feed gives 3, Low', () => {
    const s = perfect()
    s.health('DEGRADED')
    expect(s.priced(T).confidence).toMatchObject({
      score: 3,
      label: 'Low',
      components: { aggregate_state: { score: 3 } },
    })
  })
})

describe('stables', () => {
  it.each([
    [99_500_000n, 10, undefined, 'OK'],
    [99_499_999n, 6, 'STABLE_DEPEG 6', 'DEPEG'],
    [98_000_000n, 6, 'STABLE_DEPEG 6', 'DEPEG'],
    [102_000_001n, 3, 'STABLE_DEPEG 3', 'DEPEG'],
    [95_000_000n, 3, 'STABLE_DEPEG 3', 'DEPEG'],
  ] as const)(
    'R-stable-2, P8: an answer of %i caps a token priced in it at %i, at its exact value',
    (answer, score, cap, status) => {
      const s = perfect()
      s.stable(USDC, answer)
      s.finalize()
      expect(s.score(T)).toBe(Math.min(score, 10))
      expect(capsOf(s)).toEqual(cap === undefined ? [] : [cap])
      expect(s.priced(T).stable).toMatchObject({ token_address: USDC, status })
      expect(valueNow(s, T)).toEqual(byHand.times(saleRatio(X, Y), { num: answer, den: 10n ** 8n }))
    },
  )

  it('R-stable-2, R-unpriced-2: beyond 500 bps the stable is suspended, with every token that has no other', () => {
    const s = perfect()
    s.v2(P6, [U, X], [USDC, Y])
    s.enrol(U)
    s.stable(USDC, 94_999_999n)
    for (const token of [USDC, T, U])
      expect([s.unpriced(token), s.said(token)]).toEqual([
        'STABLE_SUSPENDED',
        'PRICE_RETRACT STABLE_SUSPENDED',
      ])
  })

  it('R-stable-2: a token with routes into another stable keeps its price over those', () => {
    const s = scenario({ stables: [USDC, DAI] })
    s.v2(P1, [T, X], [USDC, Y], { deployment: 'a' })
    s.v2(P2, [T, X], [DAI, 60_000_000n * E18], { deployment: 'b' })
    s.enrol(T)
    s.stable(USDC, 87_000_000n)
    expect(s.priced(T)).toMatchObject({ stable: { token_address: DAI }, support: { accepted: 1 } })
    expect(s.quote(T).routes?.map(({ reason }) => reason)).toEqual([null, 'STABLE_SUSPENDED'])
  })

  const feed = { heartbeatMs: HOUR, graceMs: MINUTE }
  it('R-stable-3: an answer older than heartbeat and grace is the last value, capped at 4 STABLE_STALE', () => {
    const s = pools(times(2), { feed })
    s.stable(USDC, 99_900_000n)
    pass(s, HOUR + MINUTE)
    expect(capsOf(s)).not.toContain('STABLE_STALE 4')
    s.wait(1)
    expect([s.score(T), s.priced(T).stable.status]).toEqual([4, 'STALE'])
    expect(capsOf(s)).toContain('STABLE_STALE 4')
    expect(s.price(T)).toEqual(byHand.times(saleRatio(X, Y), { num: 999n, den: 1000n }))
  })

  it('R-stable-4: older than twice the heartbeat and grace it is the nominal 1, capped at 3 STABLE_NOMINAL', () => {
    const s = pools(times(2), { feed })
    s.stable(USDC, 98_500_000n)
    pass(s, 2 * HOUR + MINUTE)
    expect(s.priced(T).stable.status).toBe('STALE')
    s.wait(1)
    expect([s.score(T), s.priced(T).stable.status]).toEqual([3, 'NOMINAL'])
    expect(capsOf(s)).toContain('STABLE_NOMINAL 3')
    expect(s.price(T)).toEqual(byHand.times(saleRatio(X, Y), ONE))
  })

  it('R-stable-5: never the nominal 1 after a last value beyond 200 bps: then suspended', () => {
    const s = pools(times(2), { feed })
    s.stable(USDC, 97_999_999n)
    pass(s, 2 * HOUR + MINUTE)
    expect(s.priced(T).stable.status).toBe('STALE')
    s.wait(1)
    expect([s.unpriced(T), s.said(T)]).toEqual(['STABLE_SUSPENDED', 'PRICE_RETRACT STABLE_SUSPENDED'])
  })

  it.each([
    ['not complete', { complete: false }, 101_000_000n],
    ['zero', {}, 0n],
    ['negative', {}, -5n],
  ] as const)(
    'R-stable-1, R-stable-3: an answer that is %s leaves the last good one, STABLE_STALE',
    (_, answer, value) => {
      const s = pools(times(2), { feed })
      s.stable(USDC, 99_900_000n)
      s.stable(USDC, value, answer)
      expect([s.priced(T).stable.status, capsOf(s).includes('STABLE_STALE 4')]).toEqual(['STALE', true])
      expect(s.price(T)).toEqual(byHand.times(saleRatio(X, Y), { num: 999n, den: 1000n }))
    },
  )

  it('R-stable-4: without a feed a stable is the nominal 1, capped at 3', () => {
    const s = pools(times(2), { feed: null })
    expect([s.score(T), s.score(USDC)]).toEqual([3, 3])
    expect(capsOf(s)).toContain('STABLE_NOMINAL 3')
    expect(s.price(T)).toEqual(saleRatio(X, Y))
  })

  it('R-stable-6: a sequencer down, or up for no more than 3600 s, makes answers stale', () => {
    const s = pools(times(2), { hasSequencer: true, chainId: 42161 })
    expect(s.priced(T).stable.status).toBe('STALE')
    const report = (up: boolean) =>
      s.run({ kind: 'stable', block: s.tip, answers: [], sequencer: { up, sinceMs: s.nowMs } })
    report(true)
    pass(s, 3_600 * SECOND)
    expect(s.priced(T).stable.status).toBe('STALE')
    s.wait(1)
    expect(s.priced(T).stable.status).toBe('OK')
    report(false)
    expect([s.priced(T).stable.status, s.score(T)]).toEqual(['STALE', 4])
  })

  it("R-stable-8: a STABLE's quote is its guarded answer, with no routes and no expiry, score min(stable, feed, state)", () => {
    const s = scenario()
    s.stable(USDC, 99_990_000n)
    expect(s.price(USDC)).toEqual({ num: 9_999n, den: 10_000n })
    expect(s.priced(USDC)).toMatchObject({
      confidence: {
        score: 8,
        components: { stable: { score: 10 }, feed: { score: 10 }, state: { score: 8 } },
      },
      selected: null,
      support: null,
      expires_at_ms: null,
    })
    expect(s.quote(USDC).routes).toEqual([])
    s.finalize()
    expect(s.score(USDC)).toBe(10)
    s.health('DEGRADED')
    expect(s.score(USDC)).toBe(3)
    s.stable(USDC, 98_990_000n)
    s.health('HEALTHY')
    expect(s.priced(USDC).confidence).toMatchObject({ score: 6, caps: [{ code: 'STABLE_DEPEG', cap: 6 }] })
  })
})

describe('no price, and the reason', () => {
  it('R-unpriced-2: NO_POOL without any pool that prices the token', () => {
    const s = scenario()
    s.enrol(T)
    expect(s.unpriced(T)).toBe('NO_POOL')
    expect(s.said(T)).toBe('PRICE_UPSERT')
  })

  it('R-unpriced-2: NO_ROUTE when every pool breaks a guard', () => {
    const s = scenario()
    s.v2(P1, [T, E18], [USDC, E6])
    s.enrol(T)
    expect(s.unpriced(T)).toBe('NO_ROUTE')
  })

  it('R-unpriced-1, R-unpriced-2, P1: DECIMALS when they cannot be verified, of the token or of what it is priced in', () => {
    const s = pools([{}])
    s.decimals(T, null, 'reverted')
    expect([s.unpriced(T), s.said(T)]).toEqual(['DECIMALS', 'PRICE_RETRACT DECIMALS'])
    s.decimals(T, 18)
    expect(s.said(T)).toBe('PRICE_UPSERT')
    s.decimals(USDC, 77)
    expect([s.unpriced(T), s.said(T)]).toEqual(['DECIMALS', 'PRICE_RETRACT DECIMALS'])
  })

  it('R-unpriced-1: FEED on an unavailable feed or in a gap', () => {
    for (const status of ['UNAVAILABLE', 'GAP'] as const) {
      const s = pools([{}])
      s.health(status)
      expect([s.unpriced(T), s.said(T)]).toEqual(['FEED', 'PRICE_RETRACT FEED'])
    }
  })

  it('R-unpriced-2: ANCHOR_UNPRICED when the routing asset has no price', () => {
    const s = scenario()
    s.v2(P1, [T, X], [WETH, X])
    s.enrol(T)
    expect([s.unpriced(WETH), s.unpriced(T)]).toEqual(['NO_POOL', 'ANCHOR_UNPRICED'])
  })

  it('R-unpriced-2: ROUTE_EXPIRED when the last route has expired', () => {
    const s = pools([{}])
    s.wait(HOUR)
    expect([s.unpriced(T), s.said(T)]).toEqual(['ROUTE_EXPIRED', 'PRICE_RETRACT ROUTE_EXPIRED'])
  })

  it('R-expiry-1, R-present-3: a chain that halts loses every price as ROUTE_EXPIRED, as readers show it past the announced expiry', () => {
    const s = scenario()
    s.v2(P1, [T, X], [WETH, 30_000n * E18])
    s.v2(P2, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6])
    s.enrol(T)
    expect(s.priced(T).expires_at_ms).toBe(s.nowMs + HOUR)
    s.wait(HOUR)
    expect([s.said(WETH), s.said(T)]).toEqual(['PRICE_RETRACT ROUTE_EXPIRED', 'PRICE_RETRACT ROUTE_EXPIRED'])
  })

  it('R-expiry-1: a route expires with its first hop to do so, even when that hop is not the token’s own', () => {
    const s = scenario()
    s.v2(P1, [T, X], [WETH, 30_000n * E18])
    s.v2(P2, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6])
    s.enrol(T)
    s.mine({ proof: 'none', afterMs: 30 * MINUTE })
    s.recheck(P1)
    expect(s.edge(P1).components.freshness.ageMs).toBe(0)
    s.wait(30 * MINUTE)
    expect([s.said(WETH), s.said(T)]).toEqual(['PRICE_RETRACT ROUTE_EXPIRED', 'PRICE_RETRACT ROUTE_EXPIRED'])
  })

  it('R-expiry-1: one surviving route keeps the price when another expires', () => {
    const s = pools([{}, {}])
    s.mine({ proof: 'none', afterMs: 59 * MINUTE })
    s.recheck(P2)
    s.wait(MINUTE)
    expect(s.priced(T)).toMatchObject({ support: { accepted: 1 }, selected: { pool_ids: [s.pool(P2).id] } })
    expect(s.quote(T).routes?.map(({ reason }) => reason)).toEqual([null, 'EXPIRED'])
  })
})

describe('any market', () => {
  type Plan = {
    readonly v3: boolean
    readonly token: Address
    readonly into: Address
    readonly usd: bigint
    readonly bps: number
    readonly deployment: string
    readonly fee: bigint
  }
  /** Rough dollars of a whole token, and its decimals. */
  const WORTH = new Map<Address, readonly [dollars: number, decimals: number]>([
    [USDC, [1, 6]],
    [DAI, [1, 18]],
    [WETH, [2_000, 18]],
    [WBTC, [40_000, 8]],
    [T, [0.0003, 9]],
    [U, [70, 0]],
  ])
  const pairs: readonly (readonly [Address, Address])[] = [
    [WETH, USDC],
    [WETH, DAI],
    [WBTC, WETH],
    [WBTC, USDC],
    [T, USDC],
    [T, DAI],
    [T, WETH],
    [T, WBTC],
    [U, WETH],
    [U, USDC],
    [U, WBTC],
  ]
  const plan: fc.Arbitrary<Plan> = fc
    .record({
      v3: fc.boolean(),
      pair: fc.constantFrom(...pairs),
      usd: fc
        .tuple(fc.integer({ min: 3, max: 8 }), fc.integer({ min: 1, max: 99 }))
        .map(([digits, lead]) => 10n ** BigInt(digits) * BigInt(lead)),
      bps: fc.oneof(
        fc.constant(0),
        fc.integer({ min: -150, max: 150 }),
        fc.integer({ min: -2_000, max: 2_000 }),
        fc.constantFrom(200_000),
      ),
      deployment: fc.constantFrom('one', 'two', 'three'),
      fee: fc.constantFrom(100n, 500n, 3_000n, 10_000n, 40_000n),
    })
    .map(({ pair: [token, into], ...rest }) => ({ token, into, ...rest }))

  /** Balanced at the rough prices, `bps` off. */
  function place(s: Scenario, pool: Address, { v3, token, into, usd, bps, deployment, fee }: Plan): void {
    const amount = (each: Address, extra: number): bigint => {
      const [dollars, decimals] = WORTH.get(each) as readonly [number, number]
      return (
        (usd * 10n ** BigInt(decimals) * BigInt(10_000 + extra)) / BigInt(Math.round(dollars * 10_000)) + 1n
      )
    }
    const [x, y] = [amount(token, 0), amount(into, bps)]
    if (!v3) return s.bornV2(pool, [token, x], [into, y], { deployment, fee: [1_000_000n - fee, 1_000_000n] })
    const [amount0, amount1] = token < into ? [x, y] : [y, x]
    const tick = Math.floor(Math.log(Number(amount1) / Number(amount0)) / Math.log(1.0001))
    const middle = Math.round(tick / 60) * 60
    const liquidity = BigInt(Math.floor(Math.sqrt(Number(amount0) * Number(amount1)))) + 1n
    s.bornV3(pool, token, into, {
      deployment,
      feePpm: fee,
      tick,
      positions: [
        [middle - 12_000, middle + 12_000, liquidity],
        [middle - 120, middle + 180, liquidity * 3n],
      ],
    })
  }

  it('R-score-1, R-score-2, R-score-5: a quote recomputes from its own fields: ratios, weights, vote, scores and caps at every level', () => {
    let pricedCount = 0
    fc.assert(
      fc.property(
        fc.array(plan, { minLength: 1, maxLength: 12 }),
        fc.bigInt(97_000_000n, 103_000_000n),
        fc.array(fc.tuple(fc.nat(11), fc.boolean()), { maxLength: 4 }),
        fc.integer({ min: 0, max: 70 * MINUTE }),
        (plans, answer, swaps, passedMs) => {
          const s = scenario({ stables: [USDC, DAI], routing: [WETH, WBTC] })
          for (const token of [T, U]) s.decimals(token, (WORTH.get(token) as readonly [number, number])[1])
          plans.forEach((each, at) => place(s, address(0x1000 + at), each))
          s.sim.forget()
          s.run({
            kind: 'load',
            block: s.tip,
            pools: plans.map((_, at) => s.sim.loaded(address(0x1000 + at))),
          })
          s.stable(DAI, answer)
          for (const token of [T, U]) s.enrol(token)
          for (const [at, isSale] of swaps) {
            const pool = address(0x1000 + (at % plans.length))
            const { depth } = s.pool(pool).state
            if (depth === null) continue
            if (isSale && depth.down > 2n) s.sell(pool, depth.down / 2n)
            if (!isSale && depth.up > 2n) s.buy(pool, depth.up / 2n)
          }
          s.mine()
          s.nowMs = ms(s.nowMs + passedMs)
          for (const token of s.state.tokens.keys()) {
            const quote = s.quote(token)
            checkQuote(quote, each => s.token(each).decimals?.value as number)
            if (quote.state !== 'PRICED' || quote.support === null) continue
            pricedCount++
            const [low, price, high] = [quote.support.low, quote.price_usd, quote.support.high].map(each => ({
              num: BigInt(each.numerator),
              den: BigInt(each.denominator),
            })) as [byHand.Rational, byHand.Rational, byHand.Rational]
            expect(byHand.compare(low, price) <= 0 && byHand.compare(price, high) <= 0).toBe(true)
          }
        },
      ),
      { numRuns: cases(800) },
    )
    expect(pricedCount).toBeGreaterThan(cases(800))
  })
})
