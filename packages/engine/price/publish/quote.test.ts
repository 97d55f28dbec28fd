import { describe, expect, it } from 'vitest'
import { idOf } from '../../chain/block.ts'
import { decodeState, encodeEntity, entityKeys } from '../../stored/codec.ts'
import * as byHand from '../../testing/byHand.ts'
import { checkQuote } from '../../testing/quoteLaws.ts'
import type { HopView, RouteView } from '../../testing/quoteView.ts'
import {
  DAI,
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
  P7,
  P8,
  T,
  U,
  USDC,
  WBTC,
  WETH,
} from '../../testing/cast.ts'
import { Scenario, scenario } from '../../testing/scenario.ts'

const X = 30_000_000n * E18
const W = 30_000n * E18
const [EX, EY] = [100_000n * E18, 200_000_000n * E6]

/** T priced in WETH, WETH in USDC, five minutes on; the first hop's evidence is an observed sale. */
function market(): Scenario {
  const s = scenario()
  s.v2(P1, [T, X], [WETH, W], { deployment: 'one' })
  s.v2(P2, [WETH, EX], [USDC, EY], { deployment: 'two' })
  s.enrol(T)
  s.mine({ afterMs: 5 * MINUTE })
  s.sell(P1, 10_000n * E18)
  s.mine()
  return s
}

/** Microdollars of USDC at 1. */
const usd = (amount: bigint): string => byHand.microusd(amount, 6, { num: 1n, den: 1n }).toString()
/** The depth of a pool at 1 USD. */
const small = (y: bigint): bigint => byHand.v2DepthY(y * 10n ** 12n, y)

const routeOf = (s: Scenario): RouteView => s.quote(T).routes?.[0] as RouteView
const leastOf = ({ components, caps }: RouteView): number =>
  Math.min(...Object.values(components).map(({ score }) => score), ...caps.map(({ cap }) => cap))
const hopsOf = (s: Scenario): readonly HopView[] => routeOf(s).hops
const text = ({ num, den }: byHand.Rational) => ({ numerator: `${num}`, denominator: `${den}` })

describe('a priced quote', () => {
  it('R-record-5: is the compact state with chain, token, source, routes, routing assets and last trade', () => {
    const s = market()
    const quote = s.quote(T)
    expect(quote).toMatchObject({
      ...s.priced(T),
      chain_id: 1,
      token: T,
      source: 'COMPUTED',
      last_trade_ms: s.tip.timeMs,
    })
    expect(quote.routing_assets?.map(asset => [asset.token, asset.state, asset.routes?.length])).toEqual([
      [WETH, 'PRICED', 1],
    ])
    expect(quote.routing_assets?.[0]).toEqual(s.quote(WETH))
    checkQuote(quote, token => (token === USDC ? 6 : 18))
  })

  it('R-wire-2: values are exact text: reduced decimal strings with a plain display', () => {
    const { price_usd } = market().priced(T)
    expect(byHand.gcd(BigInt(price_usd.numerator), BigInt(price_usd.denominator))).toBe(1n)
    expect(price_usd.display).toMatch(/^\d+\.\d{1,18}$/)
  })

  it('R-record-5, R-evidence-2: a hop shows its pool, both tokens, the ratio, its evidence with its place, and the marginal beside it', () => {
    const s = market()
    const [first, second] = hopsOf(s) as [HopView, HopView]
    const output = byHand.v2Out(X, W, 10_000n * E18)
    const pool = s.pool(P1)
    expect(first).toMatchObject({
      pool_id: pool.id,
      pool_address: P1,
      family: 'amm_v2',
      deployment_id: 'one',
      from: T,
      to: WETH,
      ratio: text(byHand.hopRatio(output, 10_000n * E18, 18, 18)),
      evidence: {
        kind: 'OBSERVED_SWAP',
        amount_in: `${10_000n * E18}`,
        amount_out: `${output}`,
        block_number: s.tip.number,
        block_hash: s.tip.hash,
        transaction_hash: pool.state.evidence?.transactionHash,
        log_index: 1,
        observed_at_ms: s.tip.timeMs,
        finality: 'canonical',
      },
      marginal: text(byHand.hopRatio(W - output, X + 10_000n * E18, 18, 18)),
    })
    expect(String(first.fee_ppm)).toBe('3000')
    expect(second).toMatchObject({
      pool_address: P2,
      from: WETH,
      to: USDC,
      evidence: { kind: 'SIMULATED_SWAP', transaction_hash: null, log_index: null },
    })
  })

  it('R-depth-3: a hop shows its depth up, down, current, averaged and effective, each rounded down', () => {
    const hop = hopsOf(market())[1] as HopView
    expect(hop.depth).toEqual({
      up_microusd: usd(byHand.v2Up(EX, EY)),
      down_microusd: usd((byHand.v2Down(EX, EY) * EY) / EX),
      current_microusd: usd(byHand.v2DepthY(EX, EY)),
      ewma_microusd: usd(byHand.v2DepthY(EX, EY)),
      effective_microusd: usd(byHand.v2DepthY(EX, EY)),
    })
  })

  it('R-score-5: a hop shows every component with its inputs, so that verify needs nothing else', () => {
    const s = market()
    s.wait(7 * MINUTE)
    const [first, second] = hopsOf(s) as [HopView, HopView]
    const { components } = first
    expect(Object.keys(components).sort()).toEqual([
      'agreement',
      'depth',
      'feed',
      'freshness',
      'state',
      'temporal',
    ])
    expect(Object.keys(second.components).sort()).toEqual([
      'agreement',
      'coverage',
      'depth',
      'feed',
      'freshness',
      'stable',
      'state',
      'temporal',
    ])
    expect(components['freshness']).toEqual({ score: 9, age_ms: 7 * MINUTE, ttl_ms: HOUR })
    expect(components['agreement']).toEqual({
      score: 8,
      sources: 1,
      deployments: 1,
      spread_bps: '0',
      retained_weight_bps: 10_000,
    })
    expect(components['feed']).toEqual({ score: 10, status: 'HEALTHY' })
    expect(components['state']).toEqual({ score: 8, finality: 'canonical' })
    expect(components['temporal']).toMatchObject({ score: 10, covered_ms: 5 * MINUTE, deviation_bps: '0' })
    expect(components['temporal']?.['median']).not.toBe(null)
    expect(second.components['coverage']).toMatchObject({
      score: 8,
      anchors_microusd: second.depth?.effective_microusd,
      external_microusd: null,
    })
  })

  it('R-score-5: the depth component shows l_eff, the value that was scored', () => {
    for (const hop of hopsOf(market()))
      expect(hop.components['depth']?.['l_eff']).toBe(hop.depth?.effective_microusd)
  })

  it('R-score-5: a route shows components and caps of its score, as a hop does', () => {
    const route = routeOf(market())
    expect(route).toMatchObject({ selected: true, accepted: true, material: true, reason: null })
    expect(leastOf(route)).toBe(route.score)
  })

  it('R-score-5, R-route-6: a route of three hops shows the score of the second routing asset too', () => {
    const s = scenario({ stables: [USDC, DAI], routing: [WETH, WBTC] })
    // WETH is split between two stables and scores 2; WBTC hardly depends on it and scores 5.
    s.v2(P1, [WETH, EX], [USDC, EY], { deployment: 'one' })
    s.v2(P2, [WETH, EX], [DAI, 250_000_000n * E18], { deployment: 'two' })
    s.v2(P3, [WBTC, 10n ** 12n], [USDC, 400_000_000n * E6], { deployment: 'three' })
    s.v2(P4, [WBTC, 2n * 10n ** 11n], [WETH, 40_000n * E18], { deployment: 'four' })
    s.v2(P5, [T, X], [WBTC, 10n ** 11n], { deployment: 'five' })
    s.enrol(T)
    s.mine({ afterMs: 5 * MINUTE })
    expect([s.score(WETH), s.score(WBTC)]).toEqual([2, 5])
    const route = s.quote(T).routes?.find(({ hops }) => hops.length === 3) as RouteView
    expect([route.accepted, route.score]).toEqual([true, 2])
    expect(leastOf(route)).toBe(2)
  })

  it('R-record-5: a route shows its stable with the answer used', () => {
    const s = market()
    expect(routeOf(s).stable).toMatchObject({
      token_address: USDC,
      usd: { numerator: '1', denominator: '1' },
      source: 'CHAINLINK',
      status: 'OK',
    })
    expect(typeof routeOf(s).stable?.['updated_at_ms']).toBe('number')
  })

  it('R-record-5: lists all candidate routes with their outcome', () => {
    const s = market()
    const pair = (pool: `0x${string}`, deployment: string, of: bigint, bps: bigint) =>
      s.v2(pool, [T, (X * of) / 1_000n], [USDC, (60_000_000n * E6 * of * (10_000n + bps)) / 10_000_000n], {
        deployment,
      })
    pair(P3, 'three', 1_000n, 0n)
    pair(P4, 'four', 1_000n, 0n)
    pair(P5, 'five', 400n, 500n)
    pair(P6, 'six', 10n, 0n)
    s.v2(P7, [T, X], [USDC, 60_000_000n * E6], { fee: [90n, 100n] })
    s.v2(P8, [T, X], [U, X])
    const routes = s.quote(T).routes ?? []
    const reasonOf = (pool: string) => routes.find(({ hops }) => hops[0]?.pool_address === pool)?.reason
    expect([P1, P3, P4, P5, P6, P7, P8].map(reasonOf)).toEqual([
      null,
      null,
      null,
      'OUTLIER',
      'IMMATERIAL',
      'FEE_TOO_HIGH',
      'DECIMALS_UNVERIFIED',
    ])
    for (const route of routes) expect(route.accepted).toBe(route.reason === null)
  })

  it('R-record-4: is compact: about a kilobyte', () => {
    expect(JSON.stringify(market().priced(T)).length).toBeLessThan(2_048)
  })
})

describe('an unpriced quote', () => {
  it('R-unpriced-3: names the nearest candidates, deepest first, the rule each failed, what it had and what it needed', () => {
    const s = scenario()
    s.v2(P1, [T, 1_000n * E18], [USDC, 1_000n * E6])
    s.v2(P2, [T, 2_000n * E18], [USDC, 2_000n * E6])
    s.v2(P3, [T, X], [USDC, 60_000_000n * E6], { fee: [90n, 100n] })
    s.enrol(T)
    const quote = s.quote(T)
    expect(quote).toMatchObject({ state: 'UNPRICED', reason: 'NO_ROUTE', chain_id: 1, token: T })
    const candidates = quote.candidates ?? []
    expect(
      candidates.map(({ route_id, rule, actual, required }) => [route_id, rule, actual, required]),
    ).toEqual([
      [s.pool(P3).id, 'FEE_TOO_HIGH', '100000 ppm', 'at most 30000 ppm'],
      [s.pool(P2).id, 'BELOW_MIN_DEPTH', `${small(2_000n * E6)} microusd`, '50000000 microusd'],
      [s.pool(P1).id, 'BELOW_MIN_DEPTH', `${small(1_000n * E6)} microusd`, '50000000 microusd'],
    ])
    expect(candidates[1]?.hops).toMatchObject([
      { pool_address: P2, score: 0, failure: { rule: 'BELOW_MIN_DEPTH' } },
    ])
  })

  it('R-guard-14: a pool of a family that is not priced is a candidate with its name, and gives no price', () => {
    const s = scenario()
    const elsewhere = [{ address: P1, family: 'algebra', deploymentId: 'quickswap-v3' }] as const
    const candidate = {
      route_id: idOf(P1),
      hops: [],
      rule: 'UNSUPPORTED_FAMILY',
      actual: `algebra pool ${P1} of quickswap-v3`,
      required: 'amm_v2 or amm_v3 or amm_v3_pancake or amm_algebra_v1 or amm_v4',
    }
    s.run({ kind: 'enrol', token: T, elsewhere })
    expect(s.quote(T)).toMatchObject({ state: 'UNPRICED', reason: 'NO_POOL', candidates: [candidate] })
    // It is stored with the token, behind the pools that came nearer.
    const entities = [...entityKeys(s.state)].map(key => [key, encodeEntity(s.state, key) ?? ''] as const)
    const restored = decodeState(s.state.setup, entities)
    expect(restored.tokens.get(T)?.elsewhere).toEqual(elsewhere)
    s.v2(P2, [T, X], [USDC, 1_000n * E6])
    s.enrol(T)
    expect(s.quote(T).candidates?.map(each => (each as { rule?: string }).rule)).toEqual([
      'BELOW_MIN_DEPTH',
      'UNSUPPORTED_FAMILY',
    ])
    // A later enrolment that finds none takes it away, and leaves no trace in what is stored.
    s.run({ kind: 'enrol', token: T, elsewhere: [] })
    expect(encodeEntity(s.state, `token/${T}`)).not.toContain('elsewhere')
  })

  it('R-record-9: an unknown value is null with a reason beside it, never 0', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, 60_000_000n * E6])
    s.run({ kind: 'enrol', token: T })
    const hop = s.quote(T).candidates?.[0]?.hops[0]
    expect(hop).toMatchObject({
      ratio: null,
      marginal: null,
      depth: null,
      depth_reason: 'DECIMALS_UNVERIFIED',
    })
  })

  it('R-guard-10: a token with a pool that only leads to another unpriced token says so', () => {
    const s = scenario()
    s.v2(P1, [T, X], [WETH, W])
    s.enrol(T)
    expect(s.quote(T)).toMatchObject({
      reason: 'ANCHOR_UNPRICED',
      candidates: [{ rule: 'ANCHOR_UNPRICED', actual: WETH }],
    })
  })

  it('R-unpriced-3: every refusal has its numbers beside it: VALUE_IMBALANCE shows what the pool had', () => {
    const s = scenario()
    for (const [pool, deployment] of [
      [P1, 'one'],
      [P2, 'two'],
    ] as const)
      s.v2(pool, [T, X], [USDC, 60_000_000n * E6], { deployment })
    s.v2(P3, [T, X / 1_000n], [USDC, 3_000_000n * E6], { deployment: 'three' })
    s.enrol(T)
    const refused = s.quote(T).routes?.find(({ reason }) => reason === 'VALUE_IMBALANCE')
    expect(refused?.failure?.actual).not.toBe(null)
  })
})
