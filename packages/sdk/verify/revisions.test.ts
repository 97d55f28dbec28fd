import { describe, expect, it } from 'vitest'
import { DEFAULT_POLICY } from '@assay/engine/rules'
import { DAI, E18, E6, MINUTE, P1, P2, P3, P4, T, USDC, WETH } from '../../engine/testing/cast.ts'
import { type Scenario, scenario } from '../../engine/testing/scenario.ts'
import type { TokenQuote } from '../wire/quote.ts'
import { verifyOffline } from './verify.ts'

/** The default policy as version 0.1 wrote it. */
const POLICY_0_1 = JSON.parse(
  '{"max_hops":3,"max_routes":64,"max_asset_routes":8,"observation_share_bps":200,"source_share_bps":1000,"evidence":{"observed_tolerance_bps":50,"observed_output_share_bps":9999,"reference_divisor":1000,"reference_min_units":10000},"ttl_ms":{"default":1800000,"by_chain":{"1":3600000,"42161":3600000}},"trade_age_caps":[{"over_ms":86400000,"cap":6},{"over_ms":604800000,"cap":3}],"min_depth_usd":50,"fee_ceiling_ppm":30000,"imbalance_ratio":10,"depth_asymmetry":1000,"jump":{"ratio":100,"hold_ms":1800000,"cap":1},"republish":{"move_bps":10,"interval_ms":10000},"agreement":{"edge_sources":[7,8,9,10],"path_sources":[5,7,8,9,10],"single_deployment_cap":8,"spread":{"up_to":[[25,10],[50,9],[100,8],[200,6],[500,4],[1000,3]],"beyond":2},"retained":[[10000,10],[9000,8],[8000,6],[6700,5]]},"stable":{"depeg":{"up_to":[[50,10],[200,6],[500,3]],"beyond":0},"stale_cap":4,"nominal_cap":3,"nominal_limit_bps":200,"sequencer_grace_ms":3600000},"coverage":{"unknown_cap":8,"max_age_ms":86400000},"max_undo_blocks":8192}',
)
const NAME_0_1 = 'p4a191b55fa7facf0156085416073e961'

/** Two pools that agree, one of a tenth through WETH, and a small one with another price. */
function market(policy: unknown): Scenario {
  const s = scenario({ stables: [USDC, DAI], policy })
  s.v2(P1, [T, 1_000_000n * E18], [USDC, 2_000_000n * E6], { deployment: 'one' })
  s.v2(P2, [T, 1_000_000n * E18], [DAI, 2_000_000n * E18], { deployment: 'two' })
  s.v2(P3, [T, 150_000n * E18], [WETH, 150n * E18], { deployment: 'two', lastTradeMs: null })
  s.v2(P4, [WETH, 10_000n * E18], [USDC, 20_000_000n * E6], { deployment: 'one' })
  const shouting = `0x${'7'.repeat(40)}` as const
  s.v2(shouting, [T, 70_000n * E18], [USDC, 200_000n * E6], { deployment: 'three' })
  s.enrol(T)
  s.mine({ afterMs: 6 * MINUTE })
  return s
}

/** As JSON, and as version 0.1 wrote it: without what came later. */
function quoteOf(s: Scenario, later: readonly string[] = [], token = T): TokenQuote {
  const text = JSON.stringify(s.quote(token), (key, value: unknown) =>
    later.includes(key) ? undefined : value,
  )
  return JSON.parse(text) as TokenQuote
}

describe('verify, by the revision of the policy', () => {
  it('R-verify-quote: a quote of revision 2 follows from itself, with an excluded source and one that dissents', () => {
    const s = market({})
    expect(s.priced(T).confidence.caps).toContainEqual({ code: 'DISSENT', cap: 4 })
    const quote = quoteOf(s)
    expect(verifyOffline(quote).differences).toEqual([])
    expect(verifyOffline(quote, { policy: DEFAULT_POLICY }).differences).toEqual([])
  })

  it('R-policy-4: a quote of version 0.1 verifies with the policy stored then', () => {
    const quote = quoteOf(market({ revision: 1 }), ['source_score', 'own_past'])
    expect(quote).toMatchObject({ policy_version: NAME_0_1 })
    expect(
      verifyOffline(quote, { policy: { policy_version: NAME_0_1, policy: POLICY_0_1 } }).differences,
    ).toEqual([])
    expect(verifyOffline(quote, { policy: POLICY_0_1 }).differences).toEqual([])
    expect(verifyOffline(quote).differences[0]).toMatchObject({ path: 'policy_version' })
  })

  it('R-verify-quote: finds a source score, a dissent and a last trade that do not follow', () => {
    const honest = quoteOf(market({}))
    const changed = (change: (quote: Record<string, any>) => void) => {
      const quote = structuredClone(honest) as Record<string, any>
      change(quote)
      return verifyOffline(quote as TokenQuote).differences.map(({ path }) => path)
    }
    expect(changed(q => void (q['confidence'].components.path_agreement.source_score -= 1))).toContain(
      'confidence.components.path_agreement.source_score',
    )
    expect(
      changed(
        q => void (q['confidence'].caps = q['confidence'].caps.filter((c: any) => c.code !== 'DISSENT')),
      ),
    ).toContain('confidence.caps')
    expect(changed(q => void (q['routes'][0].hops[0].last_trade_ms = null))).toContain(
      'routes[0].hops[0].caps',
    )
  })

  it('R-past-5: a jump follows from the past it was compared with, and one that does not is found', () => {
    const honest = quoteOf(jumped())
    expect(honest).toMatchObject({ own_past: { reference_usd: { display: '2' }, deviation_bps: '5000' } })
    expect(verifyOffline(honest).differences).toEqual([])
    const changed = (change: (quote: Record<string, any>) => void) => {
      const quote = structuredClone(honest) as Record<string, any>
      change(quote)
      return verifyOffline(quote as TokenQuote).differences.map(({ path }) => path)
    }
    const near = { numerator: '299', denominator: '100', display: '2.99' }
    expect(changed(q => void (q['own_past'].reference_usd = near))).toEqual(
      expect.arrayContaining(['own_past.deviation_bps', 'confidence.caps']),
    )
    expect(changed(q => void (q['own_past'].marginal_usd = near))).toContain(
      'own_past.marginal_usd.numerator',
    )
    expect(changed(q => void (q['own_past'].covered_ms = 299_999))).toContain('confidence.caps')
    expect(changed(q => void (q['own_past'].covered_ms = 3_600_001))).toContain('own_past.covered_ms')
    expect(changed(q => void (q['own_past'] = null))).toContain('confidence.caps')
  })

  it('R-past-5: a routing asset with a matching feed has none', () => {
    const s = jumped(true)
    expect(s.priced(WETH).confidence.caps.map(({ code }) => code)).not.toContain('PRICE_JUMP')
    const quote = quoteOf(s, [], WETH)
    expect(quote).toMatchObject({
      own_past: { deviation_bps: '5000' },
      usd_feed: { usd: { display: '3000' } },
    })
    expect(verifyOffline(quote).differences).toEqual([])
  })
})

/** T at 2 USD, or WETH at 2,000, for half an hour, and now at half as much again. */
function jumped(isAsset = false): Scenario {
  const s = scenario({ assetFeeds: [WETH] })
  const [token, x] = isAsset ? [WETH, 1_000n * E18] : [T, 1_000_000n * E18]
  s.v2(P1, [token, x], [USDC, 2_000_000n * E6])
  if (!isAsset) s.enrol(T)
  for (let n = 0; n < 30; n++) s.mine({ afterMs: MINUTE })
  s.reserves(P1, x, 3_000_000n * E6)
  s.mine()
  if (isAsset) s.answered(WETH, 3_000n * 10n ** 8n)
  return s
}
