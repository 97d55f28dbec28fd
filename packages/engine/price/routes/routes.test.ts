import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../chain/block.ts'
import { bitsOf } from '../../exact/bits.ts'
import type { Fraction } from '../../exact/fraction.ts'
import * as fraction from '../../exact/fraction.ts'
import * as byHand from '../../testing/byHand.ts'
import { cases } from '../../testing/cases.ts'
import { address } from '../../testing/chainSim.ts'
import { checkQuote } from '../../testing/quoteLaws.ts'
import type { RouteView } from '../../testing/quoteView.ts'
import { DAY, E18, E6, MINUTE, P1, P2, P3, P4, P5, P6, T, U, USDC, WBTC, WETH } from '../../testing/cast.ts'
import { Scenario, scenario } from '../../testing/scenario.ts'
import { Candidate } from './candidate.ts'
import type { Edge, StableView } from '../evaluation.ts'
import { vote } from '../vote/observations.ts'
import { PolicyError } from '../../policy/policyError.ts'
import { mergePolicy } from '../../policy/policyOverride.ts'
import { OwnHops } from '../hops/ownHops.ts'
import { routesOf } from './routes.ts'

const idOf = (pool: Address): string => `0x${'0'.repeat(24)}${pool.slice(2)}`
const routeId = (...pools: readonly Address[]): string => pools.map(idOf).join('-')

const decimalsOf = (s: Scenario) => (token: Address) => s.token(token).decimals?.value as number

/** The routes of the quote, which are checked by the way. */
function routesShown(s: Scenario, token = T): readonly RouteView[] {
  const quote = s.quote(token)
  checkQuote(quote, decimalsOf(s))
  return quote.routes ?? []
}
const idsOf = (routes: readonly RouteView[]): string[] =>
  routes.filter(route => route.failure === undefined).map(route => route.route_id)

/** Dollars of a whole token, and its units. */
const worthOf = (token: Address): readonly [bigint, bigint] =>
  token === USDC
    ? [1n, E6]
    : token === WETH
      ? [2_000n, E18]
      : token === WBTC
        ? [40_000n, 10n ** 8n]
        : [2n, E18]

/** A pool with 20 million dollars on either side, or so many thousandths of them. */
function deep(s: Scenario, pool: Address, token: Address, into: Address, share = 1000n): void {
  const amount = (each: Address) => (20_000_000n * worthOf(each)[1] * share) / (1000n * worthOf(each)[0])
  s.v2(pool, [token, amount(token)], [into, amount(into)], { deployment: pool })
}

/** An operator may also get the error that there is no such policy. */
function isRefused(policy: unknown): boolean {
  try {
    mergePolicy(policy)
    return false
  } catch (error) {
    if (error instanceof PolicyError) return true
    throw error
  }
}

/** As much of a hop as a vote asks for, with another ratio. */
function withRatio({ pool, capacity, score, derived }: Edge, ratio: Fraction): Edge {
  return {
    pool,
    capacity,
    score,
    derived: { ...derived, ratio, approx: fraction.approx(ratio), bits: bitsOf(ratio) },
  } as Edge
}

const DOLLAR = { usd: { num: 1n, den: 1n } } as StableView

/** The vote on two routes of T of which one has this price. */
function voted(price: { readonly num: bigint; readonly den: bigint }) {
  const s = scenario()
  deep(s, P1, T, USDC)
  deep(s, P2, T, USDC)
  s.decimals(T, 18)
  const moment = s.moment()
  const { live, failed } = routesOf(moment, new OwnHops(moment, T).edges)
  const changed = live.map(route =>
    route.id === routeId(P2) ? Candidate.toStable(withRatio(route.first, price), DOLLAR) : route,
  )
  return { verdict: vote(moment, changed, failed), failed }
}

describe('candidate routes', () => {
  it('R-route-1: a route is a hop to a stable, or a hop to a routing asset and one of its own routes', () => {
    const s = scenario()
    deep(s, P1, T, USDC)
    deep(s, P2, T, WETH)
    deep(s, P3, WETH, USDC)
    deep(s, P4, WETH, USDC)
    s.enrol(T)
    expect(idsOf(routesShown(s)).sort()).toEqual([routeId(P1), routeId(P2, P3), routeId(P2, P4)])
    expect(s.priced(T).selected?.route_id.split('-')).toEqual(s.priced(T).selected?.pool_ids)
  })

  it('R-route-2: routing assets are ordered: one is priced from stables and those before it only', () => {
    for (const routing of [
      [WETH, WBTC],
      [WBTC, WETH],
    ] as const) {
      const s = scenario({ routing })
      deep(s, P1, WBTC, WETH)
      deep(s, P2, WETH, USDC)
      deep(s, P3, WBTC, USDC)
      const [first, second] = routing
      expect(idsOf(routesShown(s, first))).toEqual([routeId(first === WETH ? P2 : P3)])
      expect(idsOf(routesShown(s, second)).sort()).toEqual(
        [routeId(P1, first === WETH ? P2 : P3), routeId(second === WETH ? P2 : P3)].sort(),
      )
    }
  })

  it('R-route-4: at most 3 hops; a fourth is TOO_MANY_HOPS', () => {
    const third = U
    const s = scenario({ routing: [WETH, WBTC, third] })
    deep(s, P1, WETH, USDC)
    deep(s, P2, WBTC, WETH)
    deep(s, P3, third, WBTC)
    deep(s, P4, T, WBTC)
    deep(s, P5, T, third)
    s.enrol(T)
    expect(idsOf(routesShown(s))).toEqual([routeId(P4, P2, P1)])
    const tooLong = routesShown(s).find(route => route.route_id === routeId(P5, P3, P2, P1))
    expect(tooLong).toMatchObject({
      accepted: false,
      reason: 'TOO_MANY_HOPS',
      failure: { actual: '4', required: 'at most 3' },
      weight_microusd: '0',
    })
  })

  it('R-route-4: with max_hops 1 only a hop to a stable remains', () => {
    const s = scenario({ policy: { max_hops: 1 } })
    deep(s, P1, T, USDC)
    deep(s, P2, T, WETH)
    deep(s, P3, WETH, USDC)
    s.enrol(T)
    expect(idsOf(routesShown(s))).toEqual([routeId(P1)])
  })

  it("R-route-3: continues on at most 8 of an asset's accepted routes, the heaviest", () => {
    const s = scenario()
    const pools = Array.from({ length: 9 }, (_, at) => address(0x200 + at))
    // Of rising depth: the first is the lightest.
    pools.forEach((pool, at) => deep(s, pool, WETH, USDC, 500n + 50n * BigInt(at)))
    deep(s, P1, T, WETH)
    s.enrol(T)
    expect(s.pricedNow(WETH).support?.accepted).toBe(9)
    expect(idsOf(routesShown(s)).sort()).toEqual(pools.slice(1).map(pool => routeId(P1, pool)))
  })

  it('R-route-4: at most 64 routes, kept by capacity, the others TOO_MANY_ROUTES', () => {
    const s = scenario()
    for (let at = 0; at < 8; at++) deep(s, address(0x200 + at), WETH, USDC, 1000n)
    for (let at = 0; at < 9; at++) deep(s, address(0x300 + at), T, WETH, at === 4 ? 10n : 20n)
    s.enrol(T)
    const { routes, failed } = s.pricedNow(T)
    expect(routes.length).toBe(64)
    expect(routes.every(route => route.failure === null)).toBe(true)
    const left = failed.nearest.filter(route => route.failure?.rule === 'TOO_MANY_ROUTES')
    expect(left.map(route => route.id).sort()).toEqual(
      Array.from({ length: 8 }, (_, at) => routeId(address(0x304), address(0x200 + at))),
    )
    routesShown(s)
  })

  it('R-route-4, R-route-5: of routes with the same capacity the lower id is kept', () => {
    const s = scenario({ policy: { max_routes: 2 } })
    for (const pool of [P3, P1, P4, P2]) deep(s, pool, T, USDC)
    s.enrol(T)
    expect(idsOf(routesShown(s)).sort()).toEqual([routeId(P1), routeId(P2)])
    expect(
      s
        .quote(T)
        .routes?.filter(route => route.reason === 'TOO_MANY_ROUTES')
        .map(route => route.route_id),
    ).toEqual([routeId(P3), routeId(P4)])
  })

  it('R-route-5, P12: of two equal routes the lower id is published, in either order', () => {
    for (const order of [
      [P1, P2],
      [P2, P1],
    ]) {
      const s = scenario()
      for (const pool of order) deep(s, pool, T, USDC)
      s.enrol(T)
      expect(s.priced(T).selected?.route_id).toBe(routeId(P1))
    }
  })

  it('R-guard-10, P12: a pool of a token with itself gives no route', () => {
    const s = scenario()
    s.v2(P1, [T, 10n ** 24n], [T, 10n ** 24n])
    deep(s, P2, T, USDC)
    s.enrol(T)
    expect(idsOf(routesShown(s))).toEqual([routeId(P2)])
  })

  it('R-route-6: a route scoring 0 is disqualified before weights are computed, with its reason', () => {
    const s = scenario({ policy: { trade_age_caps: [{ over_ms: DAY, cap: 0 }] } })
    deep(s, P1, T, USDC)
    s.v2(P2, [T, 10_000_000n * E18], [USDC, 20_000_000n * E6], { lastTradeMs: s.nowMs - 2 * DAY })
    s.enrol(T)
    expect(s.edge(P2).score).toBe(0)
    const route = s.quote(T).routes?.find(({ route_id }) => route_id === routeId(P2))
    expect(route).toMatchObject({ accepted: false, score: 0, weight_microusd: '0' })
    expect(route?.reason).not.toBe(null)
    expect(s.priced(T).selected?.route_id).toBe(routeId(P1))
  })

  it('R-score-3: PRICED never has score 0: when every route scores 0 there is no price', () => {
    const s = scenario({ policy: { trade_age_caps: [{ over_ms: DAY, cap: 0 }] } })
    s.v2(P1, [T, 10_000_000n * E18], [USDC, 20_000_000n * E6], { lastTradeMs: s.nowMs - 2 * DAY })
    s.decimals(T, 18)
    expect(s.evaluation(T)).toMatchObject({ kind: 'UNPRICED', reason: 'NO_ROUTE' })
  })
})

describe('a policy with zeros', () => {
  const zero = fc.constantFrom<unknown>(
    { agreement: { path_sources: [0, 0, 8, 9, 10] } },
    { agreement: { edge_sources: [0, 8, 9, 10] } },
    { agreement: { single_deployment_cap: 0 } },
    { agreement: { spread: { up_to: [[25, 10]], beyond: 0 } } },
    {
      agreement: {
        retained: [
          [10_000, 10],
          [6_700, 0],
        ],
      },
    },
    { stable: { stale_cap: 0, nominal_cap: 0 } },
    { coverage: { unknown_cap: 0 } },
    { jump: { ratio: 2, cap: 0 } },
    { min_depth_usd: 0, observation_share_bps: 0, source_share_bps: 0 },
  )

  it('R-score-3: PRICED never has score 0, whatever policy an operator sets', () => {
    const shift = fc.constantFrom(0n, 40n, 300n, 20_000n)
    fc.assert(
      fc.property(
        zero,
        fc.array(shift, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        fc.boolean(),
        (policy, shifts, hasFeed, isBorn) => {
          if (isRefused(policy)) return
          const s = scenario({ policy, ...(hasFeed ? {} : { feed: null }) })
          deep(s, P1, WETH, USDC)
          deep(s, P2, T, WETH)
          s.decimals(T, 18)
          shifts.forEach((bps, at) => {
            const reserves = [
              [T, 10n ** 24n],
              [USDC, (2n * 10n ** 12n * (10_000n + bps)) / 10_000n],
            ] as const
            const deployment = `d${at % 3}`
            if (isBorn) s.bornV2(address(0x200 + at), ...reserves, { deployment })
            else s.v2(address(0x200 + at), ...reserves, { deployment })
          })
          s.mine()
          for (const token of s.state.tokens.keys()) {
            const evaluation = s.evaluation(token)
            if (evaluation.kind === 'PRICED') expect(evaluation.score).toBeGreaterThan(0)
            const failed = evaluation.kind === 'PRICED' ? evaluation.failed.nearest : []
            for (const { score, failure } of [...evaluation.routes, ...failed])
              expect(score > 0 || failure !== null).toBe(true)
          }
        },
      ),
      { numRuns: cases(150) },
    )
  })
})

describe('weights', () => {
  it('R-weight-1: routes over a shared edge are limited to its capacity: w_r = ⌊b_r × min(1, L_e/B_e)⌋', () => {
    const s = scenario()
    deep(s, P1, T, WETH, 1000n)
    deep(s, P2, T, WETH, 700n)
    deep(s, P3, WETH, USDC, 300n)
    s.enrol(T)
    const shared = s.edge(P3).capacity as bigint
    expect((s.edge(P1).capacity as bigint) > shared && (s.edge(P2).capacity as bigint) > shared).toBe(true)
    // b is the shared edge for both, B twice that: each may claim half.
    const weights = routesShown(s).map(route => [route.capacity_microusd, route.weight_microusd])
    const half = [`${shared}`, `${(shared * shared) / (2n * shared)}`]
    expect(weights).toEqual([half, half])
  })

  it('R-weight-1: an uneven claim on a shared edge is split in proportion, rounded down', () => {
    const s = scenario()
    deep(s, P1, T, WETH, 500n)
    deep(s, P2, T, WETH, 123n)
    deep(s, P3, WETH, USDC, 301n)
    s.enrol(T)
    const [one, two, shared] = [P1, P2, P3].map(pool => s.edge(pool).capacity as bigint) as [
      bigint,
      bigint,
      bigint,
    ]
    const claims = [byHand.least(one, shared), byHand.least(two, shared)] as const
    const load = claims[0] + claims[1]
    expect(load).toBeGreaterThan(shared)
    expect(routesShown(s).map(route => route.weight_microusd)).toEqual(
      claims.map(claim => `${(claim * shared) / load}`),
    )
  })

  it('R-weight-2: n routes over one thin pool count once', () => {
    const s = scenario()
    deep(s, P1, T, WETH, 1n)
    for (const pool of [P2, P3, P4, P5]) deep(s, pool, WETH, USDC, 1000n)
    s.enrol(T)
    const total = routesShown(s).reduce((sum, route) => sum + BigInt(route.weight_microusd), 0n)
    const capacity = s.edge(P1).capacity as bigint
    expect(total <= capacity && total > capacity - 4n).toBe(true)
    expect(s.priced(T).confidence.caps).toContainEqual({ code: 'SINGLE_SOURCE', cap: 5 })
  })

  it('R-weight-3: a refused route returns its share of a shared edge', () => {
    const s = scenario()
    deep(s, P1, T, WETH, 1000n)
    deep(s, P2, T, WETH, 1000n)
    deep(s, P4, T, USDC, 1000n)
    deep(s, P3, WETH, USDC, 100n)
    s.enrol(T)
    const half = BigInt(
      routesShown(s).find(route => route.route_id === routeId(P1, P3))?.weight_microusd ?? 0,
    )
    // P2 goes to 50 times the price without losing depth in WETH, and is refused.
    s.reserves(P2, 200_000n * E18, 10_000n * E18)
    s.mine()
    expect(s.quote(T).routes?.find(route => route.route_id === routeId(P2, P3))?.reason).toBe(
      'VALUE_IMBALANCE',
    )
    const whole = BigInt(
      routesShown(s).find(route => route.route_id === routeId(P1, P3))?.weight_microusd ?? 0,
    )
    expect(whole).toBe(s.edge(P3).capacity)
    expect(half).toBe(whole / 2n)
  })
})

describe('observations', () => {
  it('R-dust-1: routes whose first-hop pool has less than 10% of the weight are IMMATERIAL, at 10% they vote', () => {
    const [X, Y] = [10_000_000n * E18, 20_000_000n * E6]
    const depth = byHand.v2DepthY(X, Y)
    const share = (y: bigint) => byHand.v2DepthY((y * X) / Y, y)
    const enough = byHand.smallest(Y / 100n, y => share(y) * 10n >= share(y) + depth)
    const less = byHand.greatest(enough, y => share(y) < share(enough))
    for (const [y, reason, accepted] of [
      [enough, null, 2],
      [less, 'IMMATERIAL', 1],
    ] as const) {
      const s = scenario()
      s.v2(P1, [T, X], [USDC, Y])
      s.v2(P2, [T, (y * X) / Y], [USDC, y])
      s.enrol(T)
      expect(routesShown(s).find(route => route.route_id === routeId(P2))?.reason).toBe(reason)
      expect(s.priced(T).support?.accepted).toBe(accepted)
    }
  })

  it('R-dust-1: the floor is the greatest at which the routes that reach it carry 90%: of fifty equal ones each votes', () => {
    const s = scenario()
    for (let n = 0; n < 50; n++) deep(s, address(0x200 + n), T, USDC)
    s.enrol(T)
    expect(s.priced(T).support?.accepted).toBe(50)
  })

  it('R-dust-1: the floor applies to all routes of a first-hop pool together', () => {
    const s = scenario()
    deep(s, P1, T, USDC, 1000n)
    deep(s, P2, T, WETH, 250n)
    for (const pool of [P3, P4, P5, P6]) deep(s, pool, WETH, USDC, 1000n)
    s.enrol(T)
    const routes = routesShown(s)
    const total = routes.reduce((sum, route) => sum + BigInt(route.weight_microusd), 0n)
    for (const route of routes.filter(({ hops }) => hops.length === 2)) {
      expect(BigInt(route.weight_microusd) * 10n).toBeLessThan(total)
      expect(route.reason).toBe(null)
    }
  })

  it("R-dust-2, P7: dust cannot vote: a thin pool's print at 1000 times moves neither price nor score", () => {
    const s = scenario()
    deep(s, P1, T, USDC)
    deep(s, P2, T, USDC)
    s.mine({ afterMs: 5 * MINUTE })
    s.enrol(T)
    const before = s.priced(T)
    // 100 USD of depth at 2,000 USD a piece, and then a trade in it.
    s.v2(P3, [T, 5n * E18], [USDC, 10_000n * E6])
    expect(s.quote(T).routes?.find(route => route.route_id === routeId(P3))?.reason).not.toBe(null)
    s.sell(P3, E18 / 100n)
    s.mine()
    const { price_usd, confidence } = s.priced(T)
    expect([price_usd, confidence.score, confidence.caps]).toEqual([
      before.price_usd,
      before.confidence.score,
      before.confidence.caps,
    ])
    expect(s.tokenRecords(T)).toEqual([])
  })

  it('R-weight-4: total weight 0 is no price', () => {
    const s = scenario({ policy: { min_depth_usd: 0 } })
    s.bornV2(P1, [T, 10n ** 24n], [USDC, 10n ** 12n])
    s.mine()
    s.enrol(T)
    expect(s.unpriced(T)).toBe('NO_ROUTE')
    expect(s.quote(T).candidates?.map(({ route_id }) => route_id)).toEqual([routeId(P1)])
    expect(typeof s.quote(T).candidates?.[0]?.rule).toBe('string')
  })

  describe('past 4096 bits', () => {
    it('R-exact-2: TOO_LARGE removes that route and no other', () => {
      const { verdict, failed } = voted({ num: 2n ** 4096n, den: 3n })
      expect(failed.map(({ id, failure }) => [id, failure])).toEqual([
        [routeId(P2), { rule: 'TOO_LARGE', actual: '4097 bits', required: '4096 bits' }],
      ])
      expect(verdict?.observations.map(({ id }) => id)).toEqual([routeId(P1)])
    })

    it('R-exact-2: either side may have 4096 bits, and values that reduce to them fit', () => {
      const near = 2n ** 4095n
      const fits = [
        { num: 2n ** 4096n - 1n, den: 2n ** 4095n },
        { num: near * 3n ** 2000n, den: near * 3n ** 2000n * 2n },
      ]
      for (const price of fits)
        expect(voted(price).failed.map(({ failure }) => failure?.rule)).not.toContain('TOO_LARGE')
      expect(voted({ num: 3n, den: 2n ** 4096n }).failed.map(({ failure }) => failure?.rule)).toEqual([
        'TOO_LARGE',
      ])
    })
  })
})
