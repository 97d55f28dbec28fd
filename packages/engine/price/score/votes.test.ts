import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../chain/block.ts'
import { cases } from '../../testing/cases.ts'
import { E18, E6, MINUTE, P1, P2, P3, P4, P5, T, USDC } from '../../testing/cast.ts'
import { checkQuote } from '../../testing/quoteLaws.ts'
import { type Scenario, scenario } from '../../testing/scenario.ts'

const POOLS = [P1, P2, P3, P4, P5]
type Spec = { readonly usd: bigint; readonly bps?: bigint; readonly deployment?: string }

/** A pool of T at 1 USD plus `bps` with so many dollars of depth to a side, about a hundredth of what it holds. */
function place(s: Scenario, pool: Address, { usd, bps = 0n, deployment = pool }: Spec): void {
  s.v2(pool, [T, usd * 100n * E18], [USDC, (usd * 100n * E6 * (10_000n + bps)) / 10_000n], { deployment })
}

function market(...specs: readonly Spec[]): Scenario {
  const s = scenario()
  specs.forEach((spec, at) => place(s, POOLS[at] as Address, spec))
  s.enrol(T)
  s.mine({ afterMs: 6 * MINUTE })
  checkQuote(s.quote(T), token => (token === USDC ? 6 : 18))
  return s
}
const scoreOf = (...specs: readonly Spec[]): number => market(...specs).score(T)
const codesOf = (s: Scenario): string[] => s.priced(T).confidence.caps.map(({ code }) => code)

describe('the vote', () => {
  it('R-path-2: a healthy token with two deep pools of two factories reaches 8', () => {
    expect(scoreOf({ usd: 300_000n }, { usd: 300_000n, bps: 10n })).toBe(8)
    expect(scoreOf({ usd: 300_000n, deployment: 'a' }, { usd: 300_000n, deployment: 'a' })).toBe(7)
  })

  it('R-path-2, T7: an honest pool of a tenth that agrees with a deep one does not lower the score', () => {
    for (const usd of [6_000n, 60_000n, 300_000n])
      expect(scoreOf({ usd }, { usd: usd / 9n })).toBeGreaterThanOrEqual(scoreOf({ usd }))
  })

  it('R-path-2, T7: one more agreeing pool of less than a third never lowers the score', () => {
    const within = fc.integer({ min: 0, max: 25 }).map(BigInt)
    const deployment = fc.constantFrom('a', 'b', 'c')
    const specs = fc.array(
      fc.record({ usd: fc.integer({ min: 600, max: 400_000 }).map(BigInt), bps: within, deployment }),
      { minLength: 1, maxLength: 3 },
    )
    fc.assert(
      fc.property(specs, fc.integer({ min: 1, max: 33 }), within, deployment, (known, percent, bps, of) => {
        const total = known.reduce((sum, { usd }) => sum + usd, 0n)
        // So many per cent of what all have together then, but at least what a hop needs.
        const usd = (total * BigInt(percent)) / BigInt(100 - percent) + 51n
        if (usd * 100n >= (usd + total) * 33n) return
        expect(scoreOf(...known, { usd, bps, deployment: of })).toBeGreaterThanOrEqual(scoreOf(...known))
      }),
      { numRuns: cases(60) },
    )
  })

  it('R-dust-2, T8: a stray pool of 2 to 9% of the weight, 2 to 10% away, changes neither price nor score', () => {
    for (const percent of [2n, 5n, 9n])
      for (const bps of [210n, 500n, 900n, -200n, -900n]) {
        const alone = market({ usd: 200_000n })
        const beside = market({ usd: 200_000n }, { usd: (200_000n * percent) / (101n - percent), bps })
        expect([beside.price(T), beside.score(T)], `${percent}% ${bps}`).toEqual([
          alone.price(T),
          alone.score(T),
        ])
        expect(codesOf(beside)).not.toContain('DISSENT')
      }
  })

  it('R-dissent-1, T8b: an honest pool of 5% at another price caps at 4, and one that agrees or is dust has no effect', () => {
    const [attack, near, dust] = [2_000n, 800n, 15_000n].map((bps, at) =>
      market({ usd: 190_000n }, { usd: at === 2 ? 1_000n : 10_000n, bps }),
    ) as [Scenario, Scenario, Scenario]
    expect(attack.priced(T).confidence.caps).toContainEqual({ code: 'DISSENT', cap: 4 })
    expect(attack.score(T)).toBeLessThanOrEqual(4)
    expect(codesOf(near)).not.toContain('DISSENT')
    expect(codesOf(dust)).not.toContain('DISSENT')
  })

  it('R-dissent-2: price and five-minute median must both be that far off: a push for one block is no dissent', () => {
    const s = market({ usd: 190_000n }, { usd: 10_000n })
    s.reserves(P2, 600_000n * E18, 1_500_000n * E6)
    s.mine()
    expect(codesOf(s)).not.toContain('DISSENT')
    const sinceMs = s.nowMs
    while (!codesOf(s).includes('DISSENT')) s.timer()
    expect(s.nowMs - sinceMs).toBe(150_001)
  })

  it('R-dust-1, T8: at most 2 score changes in 150 blocks under 10 bps of noise and 60 USD in and out', () => {
    const s = market({ usd: 200_000n }, { usd: 9_000n, bps: 300n }, { usd: 30_000n })
    let [changes, last] = [0, s.score(T)]
    for (let block = 0; block < 150; block++) {
      const isOdd = block % 2 === 1
      const moved = 6_000n + (isOdd ? 0n : 60n)
      s.reserves(P2, 900_000n * E18 + moved * E18, ((900_000n + moved) * E6 * 10_300n) / 10_000n)
      s.reserves(P1, 20_000_000n * E18, (20_000_000n * E6 * BigInt(10_000 + (block % 3) * 10 - 10)) / 10_000n)
      s.mine()
      if (s.score(T) !== last) changes++
      last = s.score(T)
    }
    expect(changes).toBeLessThanOrEqual(2)
  })

  it('R-timer-2, T20: when liquidity moves to a new pool, the token is priced when its average reaches the floor', () => {
    const s = scenario()
    s.v2(P1, [T, 1_000_000n * E18], [USDC, 1_000_000n * E6])
    s.enrol(T)
    s.mine({ afterMs: 6 * MINUTE })
    s.bornV2(P2, [T, 1_000_000n * E18], [USDC, 1_000_000n * E6])
    s.reserves(P1, 0n, 0n)
    s.mine()
    expect(s.unpriced(T)).toBe('NO_ROUTE')
    const movedMs = s.nowMs
    while (s.published(T).state === 'UNPRICED') s.timer()
    expect(s.nowMs - movedMs).toBeLessThan(10_000)
    expect(s.edge(P2).capacity as bigint).toBeGreaterThanOrEqual(50n * E6)
    expect(s.edge(P2).capacity as bigint).toBeLessThan(50n * E6 + 10_000n)
  })

  it('R-trade-2, T19: a trade of 1 USD, or one below the reference input, does not refresh the last trade', () => {
    const s = scenario()
    s.v2(P1, [T, 1_000_000n * E18], [USDC, 1_000_000n * E6], { lastTradeMs: null })
    s.enrol(T)
    const renewedBy = (act: () => void): boolean => {
      act()
      const { timeMs } = s.mine()
      return s.pool(P1).state.lastTradeMs === timeMs
    }
    // The decimals of USDC were read a moment ago.
    expect(renewedBy(() => s.buy(P1, 12n * E6))).toBe(false)
    s.mine({ afterMs: MINUTE })
    expect(renewedBy(() => s.sell(P1, E18))).toBe(false)
    expect(renewedBy(() => s.buy(P1, 9n * E6))).toBe(false)
    expect(s.edge(P1).caps).toContainEqual({ code: 'NO_RECENT_TRADE', cap: 6 })
    expect(renewedBy(() => s.buy(P1, 12n * E6))).toBe(true)
    expect(renewedBy(() => s.sell(P1, 12n * E18))).toBe(true)
    expect(s.edge(P1).caps.map(({ code }) => code)).not.toContain('NO_RECENT_TRADE')
  })
})
