import { describe, expect, it } from 'vitest'
import * as decimal from './exact/decimal.ts'
import * as ratio from './exact/ratio.ts'
import type { Support } from './price/evaluation.ts'
import { effectiveY } from './rules/hopCapacity.ts'
import type { EngineRecord } from './record.ts'
import * as byHand from './testing/byHand.ts'
import { address } from './testing/chainSim.ts'
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
  SECOND,
  T,
  U,
  USDC,
  WBTC,
  WETH,
} from './testing/cast.ts'
import { type Setting } from './testing/drive.ts'
import { Scenario, scenario } from './testing/scenario.ts'
import { ms } from './units.ts'

const X = 30_000_000n * E18
const Y = 60_000_000n * E6
const [EX, EY] = [100_000n * E18, 200_000_000n * E6]

/** T in USDC over P1 and P2, which agree. */
function direct(setting: Setting = {}): Scenario {
  const s = scenario(setting)
  s.v2(P1, [T, X], [USDC, Y], { deployment: 'one' })
  s.v2(P2, [T, X], [USDC, Y], { deployment: 'two' })
  s.enrol(T)
  s.mine({ afterMs: 5 * MINUTE })
  return s
}

/** T in WETH over P1, WETH in USDC over P2. */
function routed(setting: Setting = {}): Scenario {
  const s = scenario(setting)
  s.v2(P1, [T, X], [WETH, 30_000n * E18], { deployment: 'one' })
  s.v2(P2, [WETH, EX], [USDC, EY], { deployment: 'two' })
  s.enrol(T)
  s.mine({ afterMs: 5 * MINUTE })
  return s
}

/** WETH's marginal price becomes 2,000 USD times this, from liquidity alone. */
const moveWeth = (s: Scenario, bps: bigint, extra = 0n): void =>
  s.reserves(P2, EX, (EY * (10_000n + bps)) / 10_000n + extra)

const kinds = (s: Scenario): string[] =>
  s.result.records.map(record =>
    'scope' in record.payload ? `${record.type} ${String(record.payload['scope'])}` : record.type,
  )

describe('order', () => {
  it('R-record-1: causal swaps and pools first, then at most one record per token, stables and routing assets before tokens', () => {
    const s = routed()
    s.v2(P3, [T, X], [USDC, Y])
    s.sell(P1, 1_000n * E18)
    s.sell(P3, 1_000n * E18)
    s.sell(P2, E18)
    s.buy(P2, 100n * E6)
    s.mine()
    expect(kinds(s)).toEqual([
      ...Array(4).fill('SWAP_OBSERVED'),
      ...Array(3).fill('PRICE_UPSERT pool'),
      ...Array(2).fill('PRICE_UPSERT token'),
    ])
    expect(s.tokenRecords().map(record => record.routing.token_ids)).toEqual([
      [s.token(WETH).id],
      [s.token(T).id],
    ])
  })

  it('R-record-2: a record is named by chain, step and ordinal, and carries no stream sequence', () => {
    const s = direct({ chainId: 137 })
    s.sell(P1, 1_000n * E18)
    s.sell(P2, 1_000n * E18)
    s.mine()
    const ids = s.result.records.flatMap(record =>
      'record_id' in record.payload ? [record.payload.record_id] : [],
    )
    expect(ids).toEqual([0, 1, 2].map(n => `137-${s.state.chain.steps}-${n}`))
    expect(JSON.stringify(s.result.records)).not.toContain('stream_sequence')
  })

  it('R-record-3: records are routed by the ids they are about', () => {
    const s = routed()
    s.v2(P3, [T, X], [USDC, Y])
    s.sell(P1, 1_000n * E18)
    s.sell(P3, 1_000n * E18)
    s.mine()
    const ids = (...tokens: `0x${string}`[]) => tokens.map(token => s.token(token).id).sort()
    const [swap, , pool, , token] = s.result.records as [
      EngineRecord,
      EngineRecord,
      EngineRecord,
      EngineRecord,
      EngineRecord,
    ]
    expect(swap.routing).toEqual({ chain_id: 1, pool_ids: [s.pool(P1).id], token_ids: ids(T, WETH) })
    expect(pool.routing).toEqual(swap.routing)
    // The token's own pools on accepted routes, not those behind them.
    expect(token.routing).toEqual({
      chain_id: 1,
      pool_ids: [s.pool(P1).id, s.pool(P3).id],
      token_ids: ids(T),
    })
    expect(s.health('HEALTHY').records[0]?.routing).toEqual({ chain_id: 1, pool_ids: [], token_ids: [] })
    s.decimals(T, null)
    expect(s.tokenRecords(T)[0]?.routing.pool_ids).toEqual([])
  })
})

describe('PRICE_RETRACT', () => {
  it('R-retract-1, R-retract-3: is sent for PRICED → UNPRICED, names the withdrawn record and carries the state after it', () => {
    const s = direct()
    const { published } = s.token(T)
    s.decimals(T, null, 'reverted')
    const [record] = s.tokenRecords(T)
    expect(record).toMatchObject({
      type: 'PRICE_RETRACT',
      payload: {
        scope: 'token',
        chain_id: 1,
        token_id: s.token(T).id,
        reason: 'DECIMALS',
        retracted: { record_id: published?.recordId },
        current: { state: 'UNPRICED', reason: 'DECIMALS' },
      },
    })
  })

  it('R-retract-1: UNPRICED for another reason, and PRICED again, are PRICE_UPSERT', () => {
    const s = direct()
    s.decimals(T, null, 'reverted')
    s.health('UNAVAILABLE')
    expect([s.said(T), s.unpriced(T)]).toEqual(['PRICE_UPSERT', 'FEED'])
    s.health('HEALTHY')
    expect([s.said(T), s.unpriced(T)]).toEqual(['PRICE_UPSERT', 'DECIMALS'])
    s.decimals(T, 18)
    expect([s.said(T), s.published(T).state]).toEqual(['PRICE_UPSERT', 'PRICED'])
  })

  it('R-trigger-2, R-retract-2: a rug that leaves the price unchanged retracts in its own block, NO_ROUTE', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    s.enrol(T)
    s.reserves(P1, X / 1_000_000n, Y / 1_000_000n)
    s.mine()
    expect([s.said(T), s.unpriced(T)]).toEqual(['PRICE_RETRACT NO_ROUTE', 'NO_ROUTE'])
    expect(s.poolText(P1)).toMatchObject({ score: 0, reason: 'BELOW_MIN_DEPTH' })
  })

  it('R-trigger-2: a smaller rug lowers depth and score in its own block', () => {
    const s = direct()
    const [before, depth] = [s.score(T), s.pricedNow(T).selected?.weight as bigint]
    for (const pool of [P1, P2]) s.reserves(pool, X / 1_000n, Y / 1_000n)
    s.mine()
    expect(s.said(T)).toBe('PRICE_UPSERT')
    expect(s.score(T)).toBeLessThan(before)
    expect(BigInt(s.priced(T).selected?.weight_microusd as string) * 900n).toBeLessThan(depth)
  })

  it('R-expiry-1: ROUTE_EXPIRED comes by the timer the engine asked for, at the expiry it had announced, with nothing else happening', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    s.enrol(T)
    const announced = s.priced(T).expires_at_ms as number
    let timers = 0
    while (s.published(T).state === 'PRICED') {
      expect(++timers).toBeLessThan(20)
      s.timer()
    }
    expect([s.nowMs, s.said(T)]).toEqual([announced, 'PRICE_RETRACT ROUTE_EXPIRED'])
  })

  it('R-trigger-3: a routing asset that turns UNPRICED takes its dependents with it in the same step, at any distance', () => {
    const s = scenario({ routing: [WETH, WBTC] })
    s.v2(P1, [T, X], [WBTC, 10n ** 11n])
    s.v2(P2, [WETH, EX], [USDC, EY])
    s.v2(P3, [WBTC, 10n ** 11n], [WETH, 20_000n * E18])
    s.v2(P4, [U, X], [USDC, Y])
    s.enrol(T)
    s.enrol(U)
    s.reserves(P2, 0n, 0n)
    s.mine()
    expect([WETH, WBTC, T, U].map(token => s.said(token))).toEqual([
      'PRICE_RETRACT NO_ROUTE',
      'PRICE_RETRACT ANCHOR_UNPRICED',
      'PRICE_RETRACT ANCHOR_UNPRICED',
      'none',
    ])
    s.reserves(P2, EX, EY)
    s.mine()
    s.mine({ afterMs: HOUR })
    expect([WETH, WBTC, T].map(token => s.published(token).state)).toEqual(['PRICED', 'PRICED', 'PRICED'])
  })

  it("R-retract-2: another token's unenrolment in the same step does not supply the reason", () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y])
    s.v2(P2, [U, X], [USDC, Y])
    s.enrol(T)
    s.enrol(U)
    s.nowMs = ms(s.nowMs + HOUR)
    s.unenrol(T)
    expect([s.said(T), s.said(U)]).toEqual(['PRICE_RETRACT OPERATOR', 'PRICE_RETRACT ROUTE_EXPIRED'])
  })
})

describe('a token whose own pools changed', () => {
  it('R-publish-3, R-trigger-1: is published at once, however small the move and however recent its last record', () => {
    const s = direct()
    for (let n = 0; n < 3; n++) {
      s.sell(P1, 10n * E18)
      s.sell(P2, 10n * E18)
      s.mine({ afterMs: SECOND })
      expect(s.said(T)).toBe('PRICE_UPSERT')
    }
  })

  it('R-publish-3: is published when anything it shows has changed, even if the selected price has not', () => {
    const s = scenario()
    s.v2(P1, [T, X], [USDC, Y], { deployment: 'one' })
    s.v2(P2, [T, X / 4n], [USDC, (Y * 10_010n) / 40_000n], { deployment: 'two' })
    s.enrol(T)
    s.mine({ afterMs: 5 * MINUTE })
    const before = s.priced(T)
    s.reserves(P2, X / 4n, (Y * 10_015n) / 40_000n)
    s.mine()
    const now = s.pricedNow(T)
    expect([now.price.num, now.price.den]).toEqual([
      BigInt(before.price_usd.numerator),
      BigInt(before.price_usd.denominator),
    ])
    const { high: dearest } = now.support as Support
    const high = decimal.toText(ratio.reduce(dearest.num, dearest.den) as ratio.Ratio)
    expect(before.support?.high).not.toEqual(high)
    expect(s.said(T)).toBe('PRICE_UPSERT')
    expect(s.priced(T).support?.high).toEqual(high)
  })

  it('R-publish-9: is not published again when nothing about it has changed', () => {
    const s = direct()
    s.sync(P1, 2n * X, Y)
    s.sync(P1, X, Y)
    s.mine()
    expect(kinds(s)).toEqual(['PRICE_UPSERT pool'])
  })
})

describe('a token whose own pools did not change', () => {
  it('R-publish-6: is published again when its anchor has moved exactly 10 bps, not any less', () => {
    const [at, below] = [routed(), routed()]
    moveWeth(at, 10n)
    moveWeth(below, 10n, -1n)
    at.mine()
    below.mine()
    expect([at.said(WETH), at.said(T)]).toEqual(['PRICE_UPSERT', 'PRICE_UPSERT'])
    expect([below.said(WETH), below.said(T)]).toEqual(['PRICE_UPSERT', 'none'])
    const { published } = below.token(T)
    // Looked at again by its timers in the meantime, it still has not moved enough.
    below.quiet(10 * MINUTE)
    expect(below.pricedNow(T).price.num).not.toBe(below.price(T).num)
    expect(below.token(T).published).toBe(published)
  })

  it('R-publish-6: moves are counted from its last record, so small ones add up', () => {
    const s = routed()
    moveWeth(s, 6n)
    s.mine()
    expect(s.said(T)).toBe('none')
    moveWeth(s, 11n)
    s.mine()
    expect(s.said(T)).toBe('PRICE_UPSERT')
    moveWeth(s, 15n)
    s.mine()
    expect(s.said(T)).toBe('none')
  })

  it('R-publish-6, R-evidence-2: an anchor’s move is measured on its marginal price, not on its evidence', () => {
    const s = routed()
    // A real sale of some size, after which liquidity puts the marginal back: the evidence is another, the marginal not.
    s.sell(P2, 200n * E18)
    s.sync(P2, EX, EY)
    s.mine()
    expect(s.pool(P2).state.evidence?.kind).toBe('OBSERVED_SWAP')
    expect([s.said(WETH), s.said(T)]).toEqual(['PRICE_UPSERT', 'none'])
  })

  it('R-publish-7: at most every 10 seconds, and then by a timer', () => {
    const s = routed()
    moveWeth(s, 20n)
    s.mine()
    const firstMs = s.nowMs
    moveWeth(s, 40n)
    s.mine({ afterMs: 4 * SECOND })
    expect([s.said(WETH), s.said(T)]).toEqual(['PRICE_UPSERT', 'none'])
    expect(s.result.nextTimerMs).toBe(firstMs + 10 * SECOND)
    s.wait(6 * SECOND - 1)
    expect(s.said(T)).toBe('none')
    s.wait(1)
    expect([s.said(T), s.said(WETH)]).toEqual(['PRICE_UPSERT', 'none'])
    const { num, den } = s.pricedNow(T).price
    expect(s.price(T)).toEqual({ num, den })
  })

  it('R-publish-7: a move that is reversed within the 10 seconds is never published', () => {
    const s = routed()
    moveWeth(s, 20n)
    s.mine()
    const price = s.price(T)
    moveWeth(s, 40n)
    s.mine({ afterMs: 4 * SECOND })
    moveWeth(s, 20n)
    s.mine({ afterMs: 4 * SECOND })
    s.wait(MINUTE)
    expect(s.price(T)).toEqual(price)
    expect(s.said(T)).toBe('none')
  })

  it('R-publish-6: stays watched when a move of the anchor left its own price unchanged', () => {
    const s = scenario()
    // WETH is published over the heavy P2; T, too thin to tell them apart, over the cheaper P3.
    s.v2(P1, [T, X / 10_000n], [WETH, 3n * E18], { deployment: 'one' })
    s.v2(P2, [WETH, EX], [USDC, (EY * 10_030n) / 10_000n], { deployment: 'two' })
    s.v2(P3, [WETH, EX / 2n], [USDC, EY / 2n], { deployment: 'three' })
    s.enrol(T)
    s.mine({ afterMs: 5 * MINUTE })
    expect(s.priced(WETH).selected?.pool_ids).toEqual([s.pool(P2).id])
    expect(s.priced(T).selected?.pool_ids).toEqual([s.pool(P1).id, s.pool(P3).id])
    moveWeth(s, 45n)
    s.mine()
    s.reserves(P3, EX / 2n, (EY * 10_020n) / 20_000n)
    s.mine()
    // WETH stands 15 bps from where T last saw it, and T's price has changed by 20.
    const now = s.pricedNow(T).price
    expect(s.price(T)).toEqual({ num: now.num, den: now.den })
  })

  it('R-publish-2: is published at once when its score changes with its anchor, 10 seconds or not', () => {
    const s = routed()
    moveWeth(s, 20n)
    s.mine()
    expect([s.said(T), s.score(T)]).toEqual(['PRICE_UPSERT', 5])
    s.coverage(WETH, 500_000_000n)
    expect([s.said(T), s.score(T)]).toEqual(['PRICE_UPSERT', 2])
  })

  it('R-publish-2: is published at once when its caps change, though its score does not', () => {
    const s = routed()
    const before = s.priced(T).confidence
    expect(before.caps).toContainEqual({ code: 'COVERAGE_UNKNOWN', cap: 8 })
    s.coverage(WETH, 1_000_000n)
    expect(s.said(T)).toBe('PRICE_UPSERT')
    expect(s.priced(T).confidence.caps).not.toContainEqual({ code: 'COVERAGE_UNKNOWN', cap: 8 })
    expect(s.score(T)).toBe(before.score)
  })

  it('R-trigger-8: gains or loses its price at once when its anchor alone carries it across the least depth, however small the move', () => {
    const s = scenario()
    // A depth of 50 dollars when WETH is at about 2,000.
    s.v2(P1, [T, X], [WETH, 2_516_200_000_000_000_000n])
    s.v2(P2, [WETH, EX], [USDC, EY], { deployment: 'two' })
    s.enrol(T)
    s.mine({ afterMs: 5 * MINUTE })
    const seen = new Set<string>()
    for (const bps of [0n, 1n, 3n, 2n, 6n, 9n, 7n, 5n, 4n, 8n, -30n, 60n]) {
      moveWeth(s, -20n + bps * 4n)
      s.mine({ afterMs: SECOND })
      const { kind } = s.evaluation(T)
      expect(s.published(T).state).toBe(kind)
      seen.add(`${kind} ${s.said(T)}`)
    }
    expect([...seen].sort()).toEqual([
      'PRICED PRICE_UPSERT',
      'PRICED none',
      'UNPRICED PRICE_RETRACT NO_ROUTE',
      'UNPRICED none',
    ])
  })

  it('R-trigger-8: is published at once when its anchor moves it into another depth band, by less than 10 bps', () => {
    const s = scenario()
    // A depth of 500 dollars when WETH is at about 2,000.
    s.v2(P1, [T, X], [WETH, 25_162_000_000_000_000_000n])
    s.v2(P2, [WETH, EX], [USDC, EY], { deployment: 'two' })
    s.enrol(T)
    s.mine({ afterMs: 10 * MINUTE })
    const seen = new Set<number>()
    for (let bps = -20n; bps <= 20n; bps += 4n) {
      moveWeth(s, bps)
      s.mine({ afterMs: SECOND })
      expect(s.score(T)).toBe(s.pricedNow(T).score)
      seen.add(s.score(T))
    }
    expect([...seen].sort()).toEqual([1, 2])
  })

  it('R-trigger-8: is published at once when the change is in a route of its anchor that is not material to the anchor', () => {
    const s = scenario({
      stables: [USDC, DAI],
      feed: { heartbeatMs: HOUR, graceMs: 0 },
      // There the selected route is material, whatever the anchor rests on.
      policy: { revision: 1 },
    })
    // WETH depends on DAI; T continues from either to the same extent, and selects USDC.
    s.v2(P1, [T, X], [WETH, 30n * E18], { deployment: 'one' })
    s.v2(P2, [WETH, EX / 20n], [USDC, EY / 20n], { deployment: 'two' })
    s.v2(P3, [WETH, EX], [DAI, 200_000_000n * E18], { deployment: 'three' })
    s.enrol(T)
    s.quiet(2 * HOUR)
    s.stable(DAI, 100_000_000n, { updatedAtMs: s.nowMs })
    s.stable(USDC, 100_000_000n, { updatedAtMs: ms(s.nowMs - HOUR + 1) })
    const isStale = () => s.priced(T).confidence.caps.some(({ code }) => code === 'STABLE_STALE')
    expect(s.priced(T).selected?.route_id.endsWith(s.pool(P2).id)).toBe(true)
    expect(isStale()).toBe(false)
    s.wait(2)
    expect(s.priced(WETH).confidence.caps.map(({ code }) => code)).not.toContain('STABLE_STALE')
    expect(s.pricedNow(T).caps.map(({ code }) => code)).toContain('STABLE_STALE')
    expect(isStale()).toBe(true)
  })

  it('R-publish-6, R-trigger-3: a stable is an anchor too: a move of 10 bps is published, its suspension at once', () => {
    const s = direct()
    s.wait(10 * SECOND)
    // dev_bps(1, 0.999001) is a hair below 10.
    s.stable(USDC, 99_900_100n)
    expect([s.said(USDC), s.said(T)]).toEqual(['PRICE_UPSERT', 'none'])
    s.stable(USDC, 99_850_000n)
    expect(s.said(T)).toBe('PRICE_UPSERT')
    expect(s.priced(T).stable.usd).toMatchObject({ numerator: '1997', denominator: '2000' })
    s.stable(USDC, 90_000_000n)
    expect(s.said(T)).toBe('PRICE_RETRACT STABLE_SUSPENDED')
  })

  it('R-publish-9: equal state is not published again: blocks, timers, health and re-checks publish nothing', () => {
    const s = routed()
    s.mine()
    expect(s.result.records).toEqual([])
    s.health('HEALTHY')
    s.wait(MINUTE / 2)
    expect(s.result.records).toEqual([])
    s.health('HEALTHY')
    expect(kinds(s)).toEqual(['FEED_HEALTH'])
    s.recheck(P1)
    expect(s.result.records).toEqual([])
    s.enrol(T)
    expect(s.result.records).toEqual([])
  })

  it('R-publish-5: before the announced expiry passes, quiet re-verification is published', () => {
    const s = routed()
    for (let minute = 0; minute < 200; minute++) {
      s.mine({ afterMs: MINUTE })
      expect(s.priced(T).expires_at_ms as number).toBeGreaterThan(s.nowMs)
      if (s.result.nextTimerMs !== null && s.result.nextTimerMs < s.nowMs + MINUTE)
        s.wait(s.result.nextTimerMs - s.nowMs)
    }
    expect(s.score(T)).toBe(5)
  })

  it('R-trigger-6: is published at once when a proven block restores an aged score', () => {
    const s = direct({ chainId: 56 })
    expect(s.score(T)).toBe(8)
    s.wait(18 * MINUTE + 1)
    expect([s.said(T), s.score(T)]).toEqual(['PRICE_UPSERT', 6])
    s.mine({ afterMs: 18 * MINUTE + 1 })
    expect(s.pricedNow(T).score).toBe(8)
    expect([s.said(T), s.score(T)]).toEqual(['PRICE_UPSERT', 8])
  })
})

/** Fires every timer the engine asks for until the end, while proven blocks keep the pools fresh. */
function live(s: Scenario, forMs: number, each: () => void): void {
  const endMs = s.nowMs + forMs
  let blockMs = s.nowMs
  each()
  while (s.nowMs < endMs) {
    const next = Math.min(s.result.nextTimerMs ?? Number.POSITIVE_INFINITY, blockMs + 10 * MINUTE)
    if (next === blockMs + 10 * MINUTE) {
      s.mine({ afterMs: next - blockMs })
      blockMs = s.nowMs
    } else s.timer()
    each()
  }
}

describe('by time alone', () => {
  it('R-timer-1: timers fire at every band boundary: the published score and caps are always current', () => {
    const s = scenario({ feed: { heartbeatMs: 6 * HOUR, graceMs: MINUTE } })
    s.v2(P1, [T, X], [USDC, Y], { deployment: 'one', lastTradeMs: s.nowMs - DAY + HOUR })
    s.v2(P2, [T, X], [USDC, Y], { deployment: 'two' })
    s.enrol(T)
    const seen: string[] = []
    live(s, 13 * HOUR, () => {
      const now = s.evaluation(T)
      const then = s.published(T)
      expect(then.state).toBe(now.kind)
      if (then.state !== 'PRICED' || now.kind !== 'PRICED') return
      expect([then.confidence.score, then.confidence.caps]).toEqual([now.score, now.caps])
      const caps = then.confidence.caps.map(({ code, cap }) => `${code} ${cap}`).join()
      if (seen.at(-1) !== caps) seen.push(caps)
    })
    expect(seen).toEqual([
      'INSUFFICIENT_HISTORY 5',
      '',
      'NO_RECENT_TRADE 6',
      'NO_RECENT_TRADE 6,STABLE_STALE 4',
      'NO_RECENT_TRADE 6,STABLE_NOMINAL 3',
    ])
  })

  it('R-timer-4: overdue timers collapse into one: a token is published once, with its current state', () => {
    const s = direct()
    s.wait(59 * MINUTE)
    expect(s.tokenRecords(T).length).toBe(1)
    expect(s.score(T)).toBe(5)
  })

  it.each([
    [DAY, 6],
    [7 * DAY, 3],
  ])(
    'R-timer-1, R-trade-1: NO_RECENT_TRADE comes by a timer, the millisecond after %i ms without a trade',
    (ageMs, cap) => {
      const s = scenario()
      s.v2(P1, [T, X], [USDC, Y], { lastTradeMs: s.nowMs - ageMs + MINUTE })
      s.enrol(T)
      s.mine({ afterMs: MINUTE })
      expect(s.priced(T).confidence.caps).not.toContainEqual({ code: 'NO_RECENT_TRADE', cap })
      s.timer()
      expect(s.nowMs).toBe(s.tip.timeMs + 1)
      expect(s.priced(T).confidence.caps).toContainEqual({ code: 'NO_RECENT_TRADE', cap })
    },
  )

  it('R-timer-1, R-jump-2: MAGNITUDE_JUMP ends by a timer after 30 minutes', () => {
    const s = direct()
    for (const pool of [P1, P2]) s.reserves(pool, X / 1_000n, Y)
    s.mine()
    expect(s.score(T)).toBe(1)
    const endMs = s.nowMs + 30 * MINUTE
    while (s.score(T) === 1) s.timer()
    expect(s.nowMs).toBe(endMs)
    expect(s.priced(T).confidence.caps.map(({ code }) => code)).not.toContain('MAGNITUDE_JUMP')
  })

  it('R-timer-2: a new pool earns its weight without any event', () => {
    const s = scenario()
    s.bornV2(P1, [T, X], [USDC, Y])
    s.mine()
    s.enrol(T)
    expect(s.unpriced(T)).toBe('NO_ROUTE')
    const microusdAt = (sinceMs: number) => byHand.averageAfter(0n, byHand.v2DepthY(X, Y), sinceMs) >> 32n
    const least = 50n * E6
    while (s.published(T).state === 'UNPRICED') s.timer()
    // It was looked at in the very millisecond in which the average reached the least depth.
    const pricedMs = s.nowMs - s.tip.timeMs
    expect([microusdAt(pricedMs) >= least, microusdAt(pricedMs - 1) >= least]).toEqual([true, false])
    const scores = new Set<number>()
    for (let minutes = 0; minutes < 5; minutes++) {
      const sinceMs = s.nowMs - s.tip.timeMs
      expect(sinceMs).toBe(pricedMs + minutes * MINUTE)
      expect(s.pricedNow(T).selected?.capacity).toBe(microusdAt(sinceMs))
      scores.add(s.score(T))
      s.timer()
    }
    expect(scores.size).toBeGreaterThan(1)
  })

  it.each([
    ['a hop that is still too shallow', 50n],
    ['a hop in a band of depth', 1_000n],
  ])('R-timer-2: %s is evaluated as long as its depth leads past the next boundary', (_, usd) => {
    const boundary = usd * E6
    /** Whether a new pool of this depth is looked at again in a minute, when it has a thousandth of it or less to climb. */
    const isLookedAt = (depth: bigint): boolean => {
      const s = scenario()
      const scaled = (reserve: bigint) => (reserve * depth) / byHand.v2DepthY(X, Y) + 1n
      s.bornV2(P1, [T, scaled(X)], [USDC, scaled(Y)])
      s.mine()
      s.enrol(T)
      s.mine({ afterMs: 4 * HOUR })
      const { averageY, state, dueMs } = s.edge(P1)
      const full = state.depthY as bigint
      expect([full / 1_000n, effectiveY(state, s.nowMs)]).toEqual([depth / 1_000n, averageY])
      expect((averageY as bigint) * 1_000n >= full * 999n && (averageY as bigint) < boundary).toBe(true)
      expect(s.token(T).dueMs).toBe(dueMs)
      return dueMs === s.nowMs + MINUTE
    }
    expect(isLookedAt(boundary + boundary / 10_000n)).toBe(true)
    expect(isLookedAt(boundary - boundary / 10_000n)).toBe(false)
  })
})

describe('depth that grows behind the first hop', () => {
  /** T has a full vote over USDC at once, over WETH only as far as the young P2 behind it allows. */
  function climbing(): Scenario {
    const s = scenario()
    s.v2(P1, [T, X], [WETH, 30_000n * E18], { deployment: 'one' })
    s.v2(P3, [T, X / 4n], [USDC, Y / 4n], { deployment: 'two' })
    s.bornV2(P2, [WETH, EX / 20n], [USDC, EY / 20n])
    s.mine()
    s.enrol(T)
    return s
  }

  it('R-timer-2: a score that depends on it is published by a timer, though no hop of the token changed', () => {
    const s = climbing()
    const seen = new Set<string>()
    while (s.nowMs < s.tip.timeMs + HOUR / 2) {
      s.timer()
      const { score, caps } = s.pricedNow(T)
      expect(s.priced(T).confidence).toMatchObject({ score, caps })
      seen.add(caps.map(({ code }) => code).join())
    }
    expect(seen.size).toBeGreaterThan(1)
  })

  it('a token that it cannot affect is not evaluated because of it', () => {
    const s = climbing()
    s.v2(P4, [U, X / 1_000n], [WETH, 30n * E18], { deployment: 'one' })
    s.enrol(U)
    s.wait(20 * MINUTE)
    expect(s.evaluation(T).dueMs).toBe(s.nowMs + MINUTE)
    expect(s.evaluation(U).dueMs).toBeGreaterThan(s.nowMs + MINUTE)
  })
})

describe('known attacks', () => {
  it('users, wash volume: trades back and forth add no weight and no confidence', () => {
    const s = direct()
    const [score, weight] = [s.score(T), s.pricedNow(T).selected?.weight as bigint]
    for (let n = 0; n < 20; n++) {
      for (const pool of [P1, P2]) {
        s.sell(pool, 100_000n * E18)
        s.buy(pool, 200_000n * E6)
      }
      s.mine()
      // The fees stay in the pools, but new depth earns its weight over half an hour.
      expect(s.pricedNow(T).selected?.weight as bigint).toBeLessThanOrEqual((weight * 1_001n) / 1_000n)
      expect(s.score(T)).toBeLessThanOrEqual(score)
    }
  })

  it('users, flash loan: a price that only existed inside a block is never published', () => {
    const s = direct()
    const before = s.price(T)
    for (const pool of [P1, P2]) {
      s.sync(pool, X / 100n, Y * 100n)
      s.sync(pool, X, Y)
    }
    s.mine()
    expect([s.price(T), s.said(T)]).toEqual([before, 'none'])
    expect(
      s.pricedNow(T).routes.flatMap(route => route.edges.map(edge => edge.components.temporal.score)),
    ).toEqual([10, 10])
  })

  it('users, end-of-block park: a price parked for one block is published with a low score', () => {
    const s = direct()
    for (const pool of [P1, P2]) s.reserves(pool, X, (Y * 11n) / 10n)
    s.mine()
    expect([s.score(T), s.priced(T).confidence.label]).toEqual([2, 'Low'])
  })

  it('users, connector poisoning: a routing asset whose own sources split lowers the tokens behind it with it', () => {
    const s = routed()
    s.v2(P3, [WETH, 100_000n * E18], [USDC, 250_000_000n * E6], { deployment: 'three' })
    expect([s.score(WETH), s.score(T)]).toEqual([2, 2])
    expect(s.priced(T).confidence.caps).toContainEqual({ code: 'NO_INDEPENDENT_CONSENSUS', cap: 2 })
  })
})

describe('published tokens', () => {
  it('R-publish-10: tokens that were not enrolled are never published; stables and routing assets always are', () => {
    const s = scenario()
    s.v2(P1, [T, X], [WETH, 30_000n * E18])
    s.v2(P2, [WETH, EX], [USDC, EY])
    s.decimals(T, 18)
    s.sell(P1, 1_000n * E18)
    s.mine()
    expect(s.token(T).published).toBe(null)
    expect([s.published(WETH).state, s.published(USDC).state]).toEqual(['PRICED', 'PRICED'])
    expect(kinds(s)).toEqual(['SWAP_OBSERVED', 'PRICE_UPSERT pool'])
  })

  it('R-publish-11: a pool is published at every change of its own, and at no other time', () => {
    const s = direct()
    s.sell(P1, 1_000n * E18)
    s.mine()
    expect(s.poolRecords().map(record => record.routing.pool_ids)).toEqual([[s.pool(P1).id]])
    s.mine()
    s.stable(USDC, 99_000_000n)
    expect(s.poolRecords()).toEqual([])
  })

  it('a pool shown before anything had a price is completed when its anchor has one', () => {
    const s = scenario()
    for (const token of [T, WETH]) s.decimals(token, 18)
    s.v2(P2, [T, X], [WETH, 30_000n * E18])
    expect(s.poolText(P2)).toMatchObject({ depth: null, depth_reason: 'ANCHOR_UNPRICED' })
    s.v2(P3, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6])
    expect(s.poolText(P2)).toMatchObject({ depth: { effective_microusd: expect.any(String) } })
    s.mine()
    expect(s.poolRecords()).toEqual([])
  })

  it('R-publish-11: a pool shown in a gap is completed when the gap ends', () => {
    const s = scenario()
    s.v2(P3, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6])
    s.v2(P2, [T, X], [WETH, 30_000n * E18])
    s.enrol(T)
    s.health('GAP')
    s.sell(P2, 1_000n * E18)
    s.mine()
    expect(s.poolText(P2)).toMatchObject({ depth: null })
    s.health('HEALTHY')
    expect(s.poolText(P2)).toMatchObject({ depth: { effective_microusd: expect.any(String) } })
  })

  it('R-publish-11, R-decimals-5: a pool is published again when the decimals of one of its tokens are read differently', () => {
    const s = direct()
    s.decimals(T, 6)
    expect(s.poolText(P1)).toMatchObject({ marginal: null, reason: 'DECIMALS_CHANGED' })
    s.mine({ afterMs: 30 * MINUTE })
    s.decimals(T, 6)
    expect(s.poolText(P1)).toMatchObject({ marginal: { numerator: expect.any(String) }, reason: null })
  })

  it('R-record-6: a pool record carries its state: reserves, marginal, evidence, depth, score, components, caps', () => {
    const s = direct()
    s.sell(P1, 1_000n * E18)
    s.mine()
    const output = byHand.v2Out(X, Y, 1_000n * E18)
    const [x, y] = [X + 1_000n * E18, Y - output]
    expect(s.poolText(P1)).toMatchObject({
      block_number: s.tip.number,
      block_hash: s.tip.hash,
      block_time_ms: s.tip.timeMs,
      verified_at_ms: s.tip.timeMs,
      finality: 'canonical',
      reserves: { reserve0: `${y}`, reserve1: `${x}` },
      from: T,
      to: USDC,
      evidence: { kind: 'OBSERVED_SWAP', amount_in: `${1_000n * E18}`, amount_out: `${output}` },
      depth: { effective_microusd: `${byHand.least(byHand.v2DepthY(x, y), byHand.v2DepthY(X, Y))}` },
      score: 8,
      caps: [],
      reason: null,
    })
  })

  it('R-record-6: a v3 pool record shows its slot', () => {
    const s = scenario({ stables: [address(0xffff)] })
    s.decimals(T, 18)
    s.v3(P1, T, address(0xffff), { tick: 7, positions: [[-60_000, 60_000, 10n ** 24n]] })
    const { sqrtPriceX96 } = s.sim.amm(P1) as { sqrtPriceX96: bigint }
    expect(s.poolText(P1)).toMatchObject({
      slot: { sqrt_price_x96: `${sqrtPriceX96}`, tick: 7, liquidity: `${10n ** 24n}` },
    })
    expect(s.poolText(P1)).not.toHaveProperty('reserves')
  })
})
