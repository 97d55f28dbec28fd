/** The published price against the token's own past, through the engine: cases T8b, T12, T13 and T14 of the attacks. */
import { describe, expect, test } from 'vitest'
import { ms } from '../../units.ts'
import { unitWorth } from '../hops/unitWorth.ts'
import { decodeState, encodeEntity, entityKeys } from '../../stored/codec.ts'
import { DAY, E18, E6, HOUR, MINUTE, P1, P2, P3, SECOND, T, USDC, WBTC, WETH } from '../../testing/cast.ts'
import { Scenario, scenario } from '../../testing/scenario.ts'

const NOW = { lastTradeMs: 1_700_000_000_000 } as const

/** The cap of the last record, or null where there is none. */
const jumpCap = (s: Scenario, token = T): number | null =>
  s.priced(token).confidence.caps.find(({ code }) => code === 'PRICE_JUMP')?.cap ?? null

const dollars = (s: Scenario, token = T): number => Number(s.priced(token).price_usd.display)

/** So many T against USDC at so many cents, on its own factory. */
function pool(s: Scenario, at: typeof P1, usd: bigint, cents: bigint, deployment: string): void {
  s.v2(at, [T, (usd * 100n * E18) / cents], [USDC, usd * E6], { ...NOW, deployment })
}

/** Sells or buys until the pool stands at so many cents a T, in the next block. */
function moveTo(s: Scenario, at: typeof P1, cents: bigint): void {
  const { amm } = s.pool(at).state
  if (amm.family !== 'amm_v2') throw new Error('a v2 pool')
  const [usdc, t] = s.pool(at).x === 0 ? [amm.reserve1, amm.reserve0] : [amm.reserve0, amm.reserve1]
  const product = usdc * t
  const root = (value: bigint): bigint => {
    let guess = BigInt(Math.floor(Math.sqrt(Number(value))))
    while (guess * guess > value) guess--
    return guess
  }
  const target = root((product * cents * E6) / (100n * E18))
  if (target > usdc) s.buy(at, ((target - usdc) * 1003n) / 1000n)
  else s.sell(at, ((root((product * 100n * E18) / (cents * E6)) - t) * 1003n) / 1000n)
}

/** A touch that moves nothing worth a word, in a block of its own. */
function touch(s: Scenario, at: typeof P1, afterMs = 12 * SECOND): void {
  s.buy(at, E6)
  s.mine({ afterMs })
}

/** WETH at 2,000 USD, and T at a dollar by its pool with WETH, for an hour of trades. */
function anHourByWeth(s: Scenario): void {
  s.v2(P1, [WETH, 1_000n * E18], [USDC, 2_000_000n * E6], { ...NOW, deployment: 'one' })
  s.v2(P2, [T, 1_000_000n * E18], [WETH, 500n * E18], { ...NOW, deployment: 'one' })
  s.enrol(T)
  for (let passed = 0; passed < HOUR; passed += MINUTE) {
    s.buy(P2, E18 / 1000n)
    touch(s, P1, MINUTE)
  }
}

/** An hour of such touches, one a minute and pool. */
function calm(s: Scenario, pools: readonly (typeof P1)[], forMs: number = HOUR): void {
  for (let passed = 0; passed < forMs; passed += MINUTE) {
    for (const at of pools) s.buy(at, E6)
    s.mine({ afterMs: MINUTE })
  }
}

describe('PRICE_JUMP', () => {
  test('R-past-5: T13: +50% held is at most 3 until the 60-minute median follows, and the timer fires when it does', () => {
    const s = scenario()
    pool(s, P1, 10_000_000n, 100n, 'one')
    pool(s, P2, 10_000_000n, 100n, 'two')
    s.enrol(T)
    calm(s, [P1, P2])
    const before = s.score(T)
    expect(jumpCap(s)).toBeNull()
    expect(before).toBeGreaterThanOrEqual(6)

    moveTo(s, P1, 151n)
    moveTo(s, P2, 151n)
    s.mine({ afterMs: 12 * SECOND })
    const pushedMs = s.tip.timeMs
    expect(dollars(s)).toBeGreaterThan(1.4)
    expect(jumpCap(s)).toBe(3)
    // The five-minute median is long convinced.
    s.quiet(10 * MINUTE)
    expect(jumpCap(s)).toBe(3)
    while (jumpCap(s) !== null) {
      s.timer()
      expect(s.nowMs - pushedMs).toBeLessThan(40 * MINUTE)
    }
    expect(s.nowMs - pushedMs).toBeGreaterThanOrEqual(29 * MINUTE)
    expect(s.score(T)).toBeGreaterThanOrEqual(6)
  })

  test('R-past-5: T12: a lone thin pool moved ×90 and held stays at 3 or less for half an hour', () => {
    const s = scenario()
    pool(s, P1, 100_000n, 100n, 'one')
    s.enrol(T)
    calm(s, [P1])
    moveTo(s, P1, 9_000n)
    s.mine({ afterMs: 12 * SECOND })
    expect(jumpCap(s)).toBe(3)
    for (let passed = 0; passed < 28 * MINUTE; passed += MINUTE) {
      touch(s, P1, MINUTE)
      expect(s.score(T)).toBeLessThanOrEqual(3)
    }
    calm(s, [P1], 10 * MINUTE)
    expect(jumpCap(s)).toBeNull()
  })

  test('R-past-5: T14: two aged pools at 1.5 take over when the main pool leaves: the price jumps, the score does not rise', () => {
    const s = scenario()
    pool(s, P1, 10_000_000n, 100n, 'one')
    pool(s, P2, 90_000n, 152n, 'two')
    pool(s, P3, 90_000n, 152n, 'three')
    s.enrol(T)
    calm(s, [P1])
    const before = s.score(T)
    expect(dollars(s)).toBeLessThan(1.1)
    s.reserves(P1, E18, E6)
    s.mine({ afterMs: 12 * SECOND })
    expect(dollars(s)).toBeGreaterThan(1.4)
    expect(jumpCap(s)).toBe(3)
    expect(s.score(T)).toBeLessThanOrEqual(before)
  })

  test('R-past-5: T8b: a pool that outgrows the honest one at another price is compared with the honest past', () => {
    const s = scenario()
    pool(s, P1, 100_000n, 100n, 'one')
    s.enrol(T)
    calm(s, [P1])
    // Born now: its depth starts from nothing and earns its weight by time alone, nobody touches a thing.
    s.bornV2(P2, [T, (2_000_000n * E18 * 100n) / 140n], [USDC, 2_000_000n * E6], { deployment: 'two' })
    s.mine({ afterMs: 12 * SECOND })
    let jumped = 0
    for (let passed = 0; passed < 40 * MINUTE; passed += MINUTE) {
      s.mine({ afterMs: MINUTE })
      s.wait(0)
      if (dollars(s) < 1.3) continue
      jumped++
      expect(s.score(T)).toBeLessThanOrEqual(4)
      expect(jumpCap(s)).toBe(4)
    }
    expect(jumped).toBeGreaterThan(10)
  })

  test.each([
    [501n, 10_600n, 6],
    [2_001n, 12_100n, 4],
    [5_001n, 15_100n, 3],
    [400n, 10_400n, null],
  ])('R-past-5: about %i bps away: %i hundredths of a cent, cap %s', (_, hundredths, cap) => {
    const s = scenario()
    s.v2(P1, [T, 1_000_000n * E18], [USDC, 1_000_000n * E6], NOW)
    s.enrol(T)
    calm(s, [P1])
    s.reserves(P1, 1_000_000n * E18, hundredths * 100n * E6)
    s.mine({ afterMs: 12 * SECOND })
    expect(jumpCap(s)).toBe(cap)
  })

  test('R-past-5: with less than five minutes covered there is no cap; the quote shows the covered time', () => {
    const s = scenario()
    pool(s, P1, 1_000_000n, 100n, 'one')
    s.enrol(T)
    // The decimals of USDC come into use.
    s.mine({ afterMs: MINUTE })
    s.quiet(2 * MINUTE)
    moveTo(s, P1, 300n)
    s.mine({ afterMs: MINUTE })
    expect(jumpCap(s)).toBeNull()
    expect(s.quote(T).own_past?.covered_ms).toBe(3 * MINUTE)
    // By itself: three minutes at 1 outweigh two at 3.
    s.mine({ afterMs: 2 * MINUTE })
    expect(jumpCap(s)).toBe(3)
    expect(s.quote(T).own_past?.covered_ms).toBe(5 * MINUTE)
  })

  test("R-past-5: an anchor's move is judged at the anchor and reaches the token by its score", () => {
    const s = scenario()
    anHourByWeth(s)
    const own = s.quote(T).own_past?.deviation_bps
    s.reserves(P1, 1_000n * E18, 2_600_000n * E6)
    s.mine({ afterMs: 12 * SECOND })
    expect(jumpCap(s, WETH)).toBe(4)
    // Its own pools said nothing else than before.
    expect(s.quote(T).own_past?.deviation_bps).toBe(own)
    expect(jumpCap(s)).toBe(4)
  })

  test('R-past-1: a change of route cannot hide a change of price: WETH pools leave, a USDC pool shows another', () => {
    const s = scenario()
    s.v2(P1, [WETH, 10_000n * E18], [USDC, 20_000_000n * E6], { ...NOW, deployment: 'one' })
    s.v2(P2, [T, 1_000_000n * E18], [WETH, 500n * E18], { ...NOW, deployment: 'one' })
    s.v2(P3, [T, 40_000n * E18], [USDC, 52_000n * E6], { ...NOW, deployment: 'two' })
    s.enrol(T)
    for (let passed = 0; passed < HOUR; passed += MINUTE) {
      s.buy(P2, E18 / 1000n)
      s.mine({ afterMs: MINUTE })
    }
    expect(s.token(T).past?.open.at(-1)?.y).toBe(WETH)
    s.reserves(P2, E18, E18 / 2000n)
    s.mine({ afterMs: 12 * SECOND })
    expect(s.token(T).past?.open.at(-1)?.y).toBe(USDC)
    expect(jumpCap(s)).toBe(4)
  })
})

describe('cases without PRICE_JUMP', () => {
  /** WETH at 2,000 USD for an hour, its feed says so; then it is at 2,600 and its feed at so many dollars. */
  function moved(feedUsd: bigint, setting: Parameters<typeof scenario>[0] = {}): Scenario {
    const s = scenario({ assetFeeds: [WETH], ...setting })
    anHourByWeth(s)
    s.reserves(P1, 1_000n * E18, 2_600_000n * E6)
    s.mine({ afterMs: 12 * SECOND })
    s.answered(WETH, feedUsd * 10n ** 8n)
    return s
  }

  test('R-past-5: a routing asset within 200 bps of its fresh feed, and the tokens priced in it', () => {
    expect([jumpCap(moved(2_600n), WETH), jumpCap(moved(2_600n))]).toEqual([null, null])
    // 200 bps below and above 2,600, and a little more.
    const at = (usd: bigint) => jumpCap(moved(usd), WETH)
    expect([at(2_550n), at(2_651n), at(2_540n), at(2_660n)]).toEqual([null, null, 4, 4])
  })

  test('R-past-5: once that feed is stale it has no effect, and the cap applies by its own timer', () => {
    const s = scenario({ assetFeeds: [WETH] })
    s.v2(P1, [WETH, 1_000n * E18], [USDC, 2_000_000n * E6], NOW)
    calm(s, [P1])
    s.answered(WETH, 2_600n * 10n ** 8n)
    const answeredMs = s.nowMs
    calm(s, [P1], 20 * MINUTE)
    s.reserves(P1, 1_000n * E18, 2_600_000n * E6)
    s.mine({ afterMs: 12 * SECOND })
    expect(jumpCap(s, WETH)).toBeNull()
    while (jumpCap(s, WETH) === null) s.timer()
    expect([jumpCap(s, WETH), s.nowMs - answeredMs]).toEqual([4, 35 * MINUTE + 1])
  })

  test("R-past-5: a token's own feed does not count: only a routing asset is exempt", () => {
    const s = moved(2_600n)
    s.reserves(P2, 1_000_000n * E18, 800n * E18)
    s.mine({ afterMs: 12 * SECOND })
    expect([jumpCap(s), jumpCap(s, WETH)]).toEqual([3, null])
  })

  test('R-policy-4: no price under a policy of revision 1, whose quotes show no own past', () => {
    const s = moved(2_000n, { policy: { revision: 1 } })
    expect([jumpCap(s, WETH), jumpCap(s), s.quote(T).own_past]).toEqual([null, null, null])
    s.policy({ revision: 2 })
    expect([jumpCap(s, WETH), jumpCap(s)]).toEqual([4, 4])
    expect(s.quote(WETH).own_past).toMatchObject({
      reference_usd: { display: expect.stringMatching(/^20\d\d/) },
    })
    s.policy({ revision: 1 })
    expect([jumpCap(s, WETH), jumpCap(s), s.quote(WETH).own_past]).toEqual([null, null, null])
  })

  test('R-policy-4: no change of decimals is a jump under a policy of revision 1', () => {
    for (const [revision, cap] of [
      [1, undefined],
      [2, 1],
    ] as const) {
      const s = scenario({ policy: { revision } })
      pool(s, P1, 1_000_000n, 100n, 'one')
      s.enrol(T)
      calm(s, [P1], 10 * MINUTE)
      s.decimals(T, 6)
      s.quiet(31 * MINUTE)
      s.decimals(T, 6)
      expect(s.priced(T).confidence.caps.find(({ code }) => code === 'MAGNITUDE_JUMP')?.cap).toBe(cap)
    }
  })
})

describe('the past', () => {
  test('R-past-1: a token that is no longer touched has a past from when the decimals of its stable come into use', () => {
    const s = scenario()
    s.v2(P1, [WETH, 10_000n * E18], [USDC, 20_000_000n * E6], NOW)
    s.v2(P2, [T, 1_000_000n * E18], [WETH, 500n * E18], NOW)
    s.enrol(T)
    s.mine({ afterMs: 59 * SECOND })
    expect([T, WETH].map(token => s.token(token).past?.open)).toEqual([[], []])
    const { timeMs } = s.mine({ afterMs: SECOND })
    expect([T, WETH].map(token => s.token(token).past?.open[0]?.fromMs)).toEqual([timeMs, timeMs])
    s.mine({ afterMs: MINUTE })
    expect(s.token(T).past?.touchedMs).toBe(timeMs)
  })

  test('R-past-1: only verified, deep and cheap enough pools count; without any the last value holds', () => {
    const s = scenario()
    pool(s, P1, 1_000_000n, 100n, 'one')
    s.v2(P2, [T, 1_000n * E18], [USDC, 900n * E6], { ...NOW, deployment: 'two' })
    s.v2(P3, [T, 100_000_000n * E18], [USDC, 50_000_000n * E6], { ...NOW, fee: [96n, 100n] })
    s.enrol(T)
    touch(s, P1, MINUTE)
    const kept = () => s.token(T).past?.open.at(-1)
    expect(Number(kept()?.ratio.num) / Number(kept()?.ratio.den)).toBeCloseTo(1e-12, 15)
    const before = kept()
    s.sync(P1, 5n * E18, 5n * E6)
    s.swapLog(P1, [0n, 1n], [0n, 0n])
    s.mine({ afterMs: 12 * SECOND })
    expect(s.pool(P1).state.verified).toBe(false)
    expect(kept()).toBe(before)
  })

  test('R-past-1: blocks with the same time are one moment, and an anchor that moves in it moves the choice', () => {
    const s = scenario()
    s.v2(P1, [WETH, 10_000n * E18], [USDC, 20_000_000n * E6], { ...NOW, deployment: 'one' })
    s.v2(P2, [T, 1_000n * E18], [WETH, E18 / 50n], { ...NOW, deployment: 'one' })
    s.enrol(T)
    s.quiet(MINUTE)
    // At 2,000 USD the pool holds 40 USD a side: under the floor of depth. It is heard once WETH is worth more.
    s.buy(P2, E18 / 1_000_000n)
    s.mine({ afterMs: 12 * SECOND })
    const { open } = s.token(T).past ?? { open: [] }
    expect(open).toEqual([])
    s.reserves(P1, 10_000n * E18, 4_000_000_000n * E6)
    s.mine({ afterMs: 0 })
    expect(s.token(T).past?.open).toHaveLength(1)
    expect(s.token(T).past?.touchedMs).toBe(s.tip.timeMs)
  })

  test('R-past-2: at most an hour of minutes and the running one are kept', () => {
    const s = scenario()
    pool(s, P1, 1_000_000n, 100n, 'one')
    s.enrol(T)
    for (let at = 0; at < 420; at++) {
      s.buy(P1, BigInt(1 + (at % 7)) * 1_000n * E6)
      s.mine({ afterMs: 12 * SECOND })
      const past = s.token(T).past
      expect(past?.minutes.length).toBeLessThanOrEqual(60)
      expect(past?.open.length).toBeLessThanOrEqual(6)
    }
    expect(s.token(T).past?.minutes).toHaveLength(60)
    // Quiet for long: one ratio holds for all of it, and a touch after that finds nothing older.
    s.quiet(3 * HOUR)
    touch(s, P1)
    expect(s.token(T).past?.minutes).toHaveLength(1)
  })

  test('R-past-6: a reorganisation undoes it with its block', () => {
    const s = scenario()
    pool(s, P1, 1_000_000n, 100n, 'one')
    s.enrol(T)
    calm(s, [P1], 20 * MINUTE)
    const before = s.token(T).past
    const branch = s.branch()
    moveTo(s, P1, 300n)
    s.mine({ afterMs: MINUTE })
    s.mine({ afterMs: 10 * MINUTE })
    expect(s.token(T).past).not.toEqual(before)
    s.reorg(branch, [
      branch.mine({ afterMs: MINUTE }),
      branch.mine({ afterMs: MINUTE }),
      branch.mine({ afterMs: MINUTE }),
    ])
    expect(s.token(T).past).toEqual(before)
    expect(jumpCap(s)).toBeNull()
  })

  test('R-past-6: a restart reads it back, and a store of the previous version has none', () => {
    const s = scenario()
    pool(s, P1, 1_000_000n, 100n, 'one')
    s.enrol(T)
    calm(s, [P1], 5 * MINUTE)
    const texts = [...entityKeys(s.state)].map(key => [key, encodeEntity(s.state, key) as string] as const)
    expect(decodeState(s.state.setup, texts).tokens.get(T)?.past).toEqual(s.token(T).past)
    const older = texts.filter(([key]) => !key.startsWith('past/') && !key.startsWith('minutes/'))
    expect(decodeState(s.state.setup, older).tokens.get(T)?.past).toBeNull()
  })

  test('R-past-6: nothing from before a gap is kept', () => {
    const s = scenario()
    pool(s, P1, 1_000_000n, 100n, 'one')
    s.enrol(T)
    calm(s, [P1], 5 * MINUTE)
    s.rebase(HOUR)
    expect(s.token(T).past).toBeNull()
  })

  test('R-past-4: decimals count one minute after they were read, and until then the previous ones', () => {
    const s = scenario()
    s.quiet(HOUR)
    const approx = (afterMs: number) => unitWorth(s.state, USDC, ms(s.tip.timeMs + afterMs))?.approx
    s.decimals(USDC, null)
    expect([approx(59_999), approx(60_000)]).toEqual([1e-6, undefined])
    s.confirm(USDC, 8)
    expect([approx(59_999), approx(60_000)]).toEqual([1e-6, 1e-8])
  })

  test('R-past-4: an answer counts one minute after the block it was read at, so that it may arrive late', () => {
    const s = scenario({ routing: [WETH, WBTC] })
    s.v2(P1, [WBTC, 100n * 10n ** 8n], [WETH, 3_000n * E18], NOW)
    s.quiet(DAY, HOUR)
    s.stable(USDC, 99_000_000n)
    expect(s.state.stables.get(USDC)?.good).toHaveLength(2)
    expect(s.moment().worth(USDC)).toMatchObject({ num: 99_000_000n })
    const at = (afterMs: number) => unitWorth(s.state, USDC, ms(s.tip.timeMs + afterMs))?.approx
    expect([at(59_999), at(60_000)]).toEqual([1e-6, 0.99e-6])
    // Long past its heartbeat the answer is forgotten: the nominal dollar.
    expect(at(3 * 365 * DAY)).toBe(1e-6)
  })
})
