/** Anchors that something disputes, on whole evaluations: stables by their pools, routing assets by their feed. */
import { describe, expect, it } from 'vitest'
import { DAI, E18, E6, MINUTE, P1, P2, P3, P4, SECOND, T, USDC, WETH } from '../../testing/cast.ts'
import { type Scenario, scenario } from '../../testing/scenario.ts'

const codes = (caps: readonly { code: string; cap: number }[]) =>
  caps.filter(({ code }) => code.endsWith('_DISPUTED')).map(({ code, cap }) => `${code} ${cap}`)
const disputed = (s: Scenario, token: Parameters<Scenario['priced']>[0]) =>
  codes(s.priced(token).confidence.caps)

/** Pools of so many millions a side in DAI and USDC, at a price of DAI in USDC of so many hundredths. */
const pool = (s: Scenario, at: typeof P1, millions: bigint, cents: bigint, deployment = 'one') =>
  s.v2(at, [DAI, millions * 10n ** 6n * E18], [USDC, (millions * 10n ** 6n * E6 * cents) / 100n], {
    deployment,
  })

describe('stables against each other', () => {
  it('R-dispute-4: a feed at 1.00 and a pool of 1.8 bn at 0.90 in the same state: at most 3, STABLE_DISPUTED', () => {
    const s = scenario({ stables: [USDC, DAI] })
    pool(s, P1, 900n, 90n)
    s.v2(P2, [T, 10n ** 6n * E18], [DAI, 10n ** 6n * E18])
    s.v2(P3, [T, 10n ** 6n * E18], [DAI, 10n ** 6n * E18], { deployment: 'two' })
    s.enrol(T)
    s.quiet(6 * MINUTE)
    expect(disputed(s, T)).toEqual(['STABLE_DISPUTED 1'])
    expect(disputed(s, DAI)).toEqual(['STABLE_DISPUTED 1'])
    expect(disputed(s, USDC)).toEqual([])
    expect(s.price(DAI)).toEqual({ num: 1n, den: 1n })
    expect(s.score(T)).toBe(1)
  })

  it('R-dispute-3: the dearer of two stables by the pools is not the disputed one, whichever is listed first', () => {
    for (const [stables, who] of [
      [[USDC, DAI], USDC],
      [[DAI, USDC], USDC],
    ] as const) {
      const s = scenario({ stables })
      pool(s, P1, 900n, 103n)
      s.quiet(6 * MINUTE)
      expect([USDC, DAI].filter(token => disputed(s, token).length > 0)).toEqual([who])
      expect(disputed(s, who)).toEqual(['STABLE_DISPUTED 3'])
    }
  })

  it('R-dispute-4: a pool below 250,000 USD does not count, one alone caps at 6, two cap at 3', () => {
    const s = scenario({ stables: [USDC, DAI] })
    // 1% of each side moves the price by 2%: a depth of about 100,000 and 300,000 USD.
    pool(s, P1, 10n, 97n)
    s.quiet(6 * MINUTE)
    expect(disputed(s, DAI)).toEqual([])
    pool(s, P2, 30n, 97n)
    s.quiet(6 * MINUTE)
    expect(disputed(s, DAI)).toEqual(['STABLE_DISPUTED 6'])
    pool(s, P3, 30n, 97n, 'two')
    s.quiet(6 * MINUTE)
    expect(disputed(s, DAI)).toEqual(['STABLE_DISPUTED 3'])
  })

  it('R-dispute-3: the five-minute median counts: a push of two minutes has no effect, and the timer fires when it does', () => {
    const s = scenario({ stables: [USDC, DAI] })
    pool(s, P1, 900n, 100n)
    s.quiet(6 * MINUTE)
    s.sell(P1, 30n * 10n ** 6n * E18)
    s.mine({ afterMs: SECOND })
    const soldMs = s.nowMs
    expect(disputed(s, DAI)).toEqual([])
    while (disputed(s, DAI).length === 0) s.timer()
    expect(s.nowMs - soldMs).toBe(150 * SECOND)
    expect(disputed(s, DAI)).toEqual(['STABLE_DISPUTED 1'])
    s.reserves(P1, 900n * 10n ** 6n * E18, 900n * 10n ** 6n * E6)
    s.mine({ afterMs: SECOND })
    while (disputed(s, DAI).length > 0) s.timer()
    expect(s.nowMs - soldMs).toBeLessThan(10 * MINUTE)
  })

  it('R-dispute-5: a stale side is the disputed one; when both are stale there is no dispute', () => {
    const s = scenario({ stables: [USDC, DAI], feed: { heartbeatMs: 20 * MINUTE, graceMs: MINUTE } })
    pool(s, P1, 900n, 97n)
    s.quiet(6 * MINUTE)
    expect(disputed(s, DAI)).toEqual(['STABLE_DISPUTED 3'])
    // Only DAI continues: its answer is the one that disputes now, though DAI is the cheaper one.
    s.stable(DAI, 100_000_001n)
    s.quiet(16 * MINUTE)
    expect([disputed(s, DAI), disputed(s, USDC)]).toEqual([[], ['STABLE_DISPUTED 3']])
    s.quiet(6 * MINUTE)
    expect([disputed(s, DAI), disputed(s, USDC)]).toEqual([[], []])
  })

  it('R-dispute-6: a pool counts from the moment its average reaches 250,000 USD, by a timer', () => {
    const s = scenario({ stables: [USDC, DAI] })
    pool(s, P1, 1n, 97n)
    s.quiet(6 * MINUTE)
    s.reserves(P1, 60n * 10n ** 6n * E18, (60n * 10n ** 6n * E6 * 97n) / 100n)
    s.mine()
    expect(disputed(s, DAI)).toEqual([])
    while (disputed(s, DAI).length === 0) s.timer()
    const { averageY } = s.edge(P1)
    expect(averageY).toBeGreaterThanOrEqual(250_000n * E6)
    expect(averageY).toBeLessThan(250_100n * E6)
  })

  it('R-dispute-3: it neither suspends nor replaces a value, and is undone with its block', () => {
    const s = scenario({ stables: [USDC, DAI] })
    pool(s, P1, 900n, 100n)
    s.quiet(6 * MINUTE)
    const branch = s.branch()
    s.sell(P1, 400n * 10n ** 6n * E18)
    s.mine()
    s.quiet(4 * MINUTE)
    expect(disputed(s, DAI)).toEqual(['STABLE_DISPUTED 1'])
    expect([s.price(DAI), s.score(DAI)]).toEqual([{ num: 1n, den: 1n }, 1])
    s.reorg(branch, [branch.mine({ afterMs: 5 * MINUTE })])
    expect(disputed(s, DAI)).toEqual([])
  })

  it('R-score-5: the quote lists the pools and answers behind a dispute', () => {
    const s = scenario({ stables: [USDC, DAI] })
    pool(s, P1, 900n, 90n)
    s.v2(P2, [T, 10n ** 6n * E18], [DAI, 10n ** 6n * E18])
    s.enrol(T)
    s.quiet(6 * MINUTE)
    const { disputes } = s.quote(DAI) as unknown as { disputes: unknown }
    expect(disputes).toMatchObject([
      {
        x: { token_address: DAI, usd: { display: '1' }, source: 'CHAINLINK' },
        y: { token_address: USDC, usd: { display: '1' }, source: 'CHAINLINK' },
        market: { display: '0.9' },
        cap: 1,
        pools: [{ pool_id: s.pool(P1).id, median: { display: '0.9' } }],
      },
    ])
    expect(s.quote(T).routes?.[0]?.stable).toMatchObject({ disputes })
    expect(s.quote(USDC)).not.toHaveProperty('disputes')
  })
})

describe('anchors against their feed', () => {
  /** WETH at 2,000 USD in one deep pool, T at 1 USD beside it; the feed says `usd`. */
  const market = (usd: bigint) => {
    const s = scenario({ assetFeeds: [WETH] })
    s.v2(P1, [WETH, 5_000n * E18], [USDC, 10n * 10n ** 6n * E6])
    s.v2(P2, [T, 10n ** 6n * E18], [WETH, 500n * E18])
    s.enrol(T)
    s.answered(WETH, usd * 10n ** 8n)
    return s
  }

  it('R-dispute-1: a lone WETH anchor pushed 30% is capped, and every price through it', () => {
    const s = market(2_000n)
    s.quiet(10 * MINUTE)
    expect([disputed(s, WETH), disputed(s, T)]).toEqual([[], []])
    s.buy(P1, 1_410_000n * E6)
    s.mine()
    s.quiet(6 * MINUTE)
    expect(s.price(WETH).num / s.price(WETH).den).toBeGreaterThan(2_580n)
    expect([disputed(s, WETH), disputed(s, T)]).toEqual([['ANCHOR_DISPUTED 3'], ['ANCHOR_DISPUTED 3']])
    expect([s.score(WETH), s.score(T)]).toEqual([3, 3])
  })

  it('R-dispute-1: between 200 and 500 bps it is 6, and a new answer lifts it', () => {
    const s = market(1_930n)
    expect(disputed(s, WETH)).toEqual(['ANCHOR_DISPUTED 6'])
    expect(s.quote(WETH)).toMatchObject({
      usd_feed: { usd: { display: '1930' }, heartbeat_ms: 30 * MINUTE, grace_ms: 5 * MINUTE },
    })
    s.answered(WETH, 199_900_000_000n)
    expect([disputed(s, WETH), disputed(s, T)]).toEqual([[], []])
  })

  it('R-dispute-2: the feed turns stale by its own timer, and the cap ends with it', () => {
    const s = market(1_930n)
    const answeredMs = s.nowMs
    while (disputed(s, WETH).length > 0) s.timer()
    expect(s.nowMs - answeredMs).toBe(35 * MINUTE + 1)
    expect(disputed(s, T)).toEqual([])
    expect(s.quote(WETH)).toMatchObject({ usd_feed: null })
    expect(s.quote(T)).not.toHaveProperty('usd_feed')
  })

  it('R-policy-4: a policy of revision 1 reads neither feeds of assets nor pools of two stables', () => {
    const s = market(1_500n)
    s.quiet(6 * MINUTE)
    expect(disputed(s, WETH)).toEqual(['ANCHOR_DISPUTED 3'])
    s.policy({ revision: 1 })
    expect(disputed(s, WETH)).toEqual([])
    expect(s.quote(WETH)).not.toHaveProperty('usd_feed')
    const stables = scenario({ stables: [USDC, DAI], policy: { revision: 1 } })
    pool(stables, P1, 900n, 90n)
    stables.quiet(6 * MINUTE)
    expect(disputed(stables, DAI)).toEqual([])
  })

  it('R-dispute-1: a feed never gives an asset its price', () => {
    const s = scenario({ assetFeeds: [WETH] })
    s.answered(WETH, 200_000_000_000n)
    s.mine()
    expect(s.unpriced(WETH)).toBe('NO_POOL')
    s.v2(P4, [WETH, 5_000n * E18], [USDC, 10n * 10n ** 6n * E6])
    expect(s.score(WETH)).toBeGreaterThan(0)
    s.wait(40 * MINUTE)
    expect(disputed(s, WETH)).toEqual([])
  })
})
