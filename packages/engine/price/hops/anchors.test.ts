import { describe, expect, it } from 'vitest'
import * as byHand from '../../testing/byHand.ts'
import { DAY, E18, E6, HOUR, P1, P2, P3, P4, P5, T, USDC, WETH } from '../../testing/cast.ts'
import { Scenario, scenario } from '../../testing/scenario.ts'
import type { Priced } from '../evaluation.ts'

const WETH_Y = 20_000_000n * E6
const WETH_X = 10_000n * E18
const DEPTH = byHand.v2DepthY(WETH_X, WETH_Y)

/** Two deep pools of WETH and USDC that agree, and T priced in WETH. */
function market(): Scenario {
  const s = scenario()
  s.v2(P1, [WETH, WETH_X], [USDC, WETH_Y], { deployment: 'one' })
  s.v2(P2, [WETH, WETH_X], [USDC, WETH_Y], { deployment: 'two' })
  s.v2(P3, [T, 50_000_000n * E18], [WETH, 5_000n * E18])
  s.enrol(T)
  return s
}

const anchorsOf = (s: Scenario) => s.pricedNow(WETH).routes.map(route => route.edges[0]?.components.coverage)
const said = ({ caps }: Pick<Priced, 'caps'>): string[] => caps.map(({ code, cap }) => `${code} ${cap}`)

const twice = <Item>(item: Item): Item[] => [item, item]

/** External depth in microdollars, exactly. */
const external = (s: Scenario, depthMicrousd: bigint, asOfMs = s.nowMs) =>
  s.run({ kind: 'coverage', assets: [{ token: WETH, depthMicrousd, asOfMs }] })

describe('coverage of a routing asset', () => {
  it('R-coverage-2: without data its anchors are capped at 8, COVERAGE_UNKNOWN', () => {
    const s = market()
    expect(anchorsOf(s)).toEqual(
      twice({
        score: 8,
        caps: [{ code: 'COVERAGE_UNKNOWN', cap: 8 }],
        anchorsMicrousd: 2n * DEPTH,
        externalMicrousd: null,
      }),
    )
    expect(said(s.pricedNow(WETH))).toContain('COVERAGE_UNKNOWN 8')
    expect(said(s.pricedNow(T))).toContain('COVERAGE_UNKNOWN 8')
  })

  it.each([
    [30n, 2],
    [60n, 3],
    [100n, 4],
    [200n, 5],
    [300n, 6],
    [600n, 7],
    [1_000n, 8],
    [1_750n, 9],
    [2_500n, 10],
  ] as const)(
    'R-coverage-1: from %i bps of the external depth on its anchors score %i, below it one less',
    (bps, score) => {
      const s = market()
      const most = (2n * DEPTH * 10_000n) / bps
      external(s, most)
      expect(anchorsOf(s)).toEqual(
        twice({ score, caps: [], anchorsMicrousd: 2n * DEPTH, externalMicrousd: most }),
      )
      external(s, most + 1n)
      expect(anchorsOf(s).map(each => each?.score)).toEqual([score - 1, score - 1])
    },
  )

  it('R-coverage-3: S_anchor = min(S_edge, S_coverage) lowers the asset and every route over it, and moves no price', () => {
    const s = market()
    const before = [s.price(WETH), s.price(T)]
    external(s, 2n * DEPTH * 100n)
    expect(s.pricedNow(WETH).routes.map(route => [route.score, route.edges[0]?.score])).toEqual([
      [4, 4],
      [4, 4],
    ])
    expect([s.score(WETH), s.score(T)]).toEqual([4, 4])
    expect([s.price(WETH), s.price(T)]).toEqual(before)
  })

  it('R-coverage-4: any positive depth scores at least 1: coverage never removes a price', () => {
    const s = market()
    external(s, 10n ** 40n)
    expect([s.score(WETH), s.score(T)]).toEqual([1, 1])
    expect([s.said(WETH), s.said(T)]).toEqual(['PRICE_UPSERT', 'PRICE_UPSERT'])
  })

  it('R-coverage-2, R-timer-1: data older than 24 hours counts as none, by a timer and with nothing else happening', () => {
    const s = market()
    // An hour on, so that nothing else falls due with it.
    s.quiet(HOUR, HOUR)
    external(s, DEPTH * 2n)
    s.quiet(DAY, HOUR)
    s.run({ kind: 'timer' })
    expect(anchorsOf(s).map(each => each?.score)).toEqual([10, 10])
    expect(s.result.nextTimerMs).toBe(s.nowMs + 1)
    s.timer()
    expect(anchorsOf(s).map(each => each?.externalMicrousd)).toEqual([null, null])
    expect(s.priced(T).confidence.caps).toContainEqual({ code: 'COVERAGE_UNKNOWN', cap: 8 })
  })

  it('R-coverage-2: a report of zero counts as no data', () => {
    const s = market()
    external(s, 0n)
    expect(anchorsOf(s).map(each => each?.externalMicrousd)).toEqual([null, null])
  })

  it('R-coverage-2, R-trigger-8: an asset no longer reported is unknown again', () => {
    const s = market()
    external(s, DEPTH)
    s.run({ kind: 'coverage', assets: [] })
    expect(s.priced(WETH).confidence.caps).toContainEqual({ code: 'COVERAGE_UNKNOWN', cap: 8 })
  })

  it('R-coverage-1: only the depth of accepted anchors counts: not outliers, not dust', () => {
    const s = market()
    s.v2(P4, [WETH, WETH_X / 4n], [USDC, (WETH_Y * 105n) / 400n], { deployment: 'three' })
    s.v2(P5, [WETH, WETH_X / 100n], [USDC, WETH_Y / 100n], { deployment: 'four' })
    const { routes } = s.pricedNow(WETH)
    const reasons = routes.map(({ edges, exclusion }) => [edges[0]?.pool.address, exclusion])
    expect(reasons).toEqual([
      [P1, null],
      [P2, null],
      [P4, 'OUTLIER'],
      [P5, 'IMMATERIAL'],
    ])
    expect(routes.map(route => route.edges[0]?.components.coverage?.anchorsMicrousd)).toEqual([
      2n * DEPTH,
      2n * DEPTH,
      undefined,
      undefined,
    ])
  })

  it('R-coverage-3: coverage belongs to anchors: a hop of a token has none, on any route', () => {
    const s = market()
    s.v2(P4, [T, 50_000_000n * E18], [USDC, 10_000_000n * E6])
    const { routes } = s.pricedNow(T)
    expect(routes.length).toBe(3)
    for (const { edges } of routes) {
      expect(edges[0]?.components.coverage).toBe(null)
      for (const edge of edges.slice(1)) expect(edge.components.coverage).not.toBe(null)
    }
  })
})
