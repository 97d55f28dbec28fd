import { describe, expect, it } from 'vitest'
import type { Address } from '../../chain/block.ts'
import * as byHand from '../../testing/byHand.ts'
import { DAI, E18, E6, HOUR, MINUTE, P1, P2, P3, P4, P5, T, U, USDC } from '../../testing/cast.ts'
import { Scenario, scenario } from '../../testing/scenario.ts'
import type { Agreement } from '../evaluation.ts'

const POOLS = [P1, P2, P3, P4, P5]
const X = 1_000_000n * E18
const Y = 2_000_000n * E6

/** Pools of T and USDC that hold `of` millionths of X, at 2 USD plus `bps`; each of its own deployment by default. */
function pools(
  ...specs: readonly {
    readonly bps?: bigint
    readonly of?: bigint
    readonly deployment?: string
    readonly fee?: byHand.Fee
  }[]
): Scenario {
  const s = scenario()
  s.decimals(T, 18)
  specs.forEach(({ bps = 0n, of = 1_000_000n, ...options }, at) => {
    const [x, y] = [(X * of) / 1_000_000n, (Y * of * (10_000n + bps)) / 10_000_000_000n]
    s.v2(POOLS[at] as Address, [T, x], [USDC, y], { deployment: `d${at}`, ...options })
  })
  return s
}

const agreementOf = (s: Scenario, pool: Address): Agreement => s.edge(pool).components.agreement
const shown = ({ score, sources, caps }: Agreement): string =>
  [`${score} of ${sources}`, ...caps.map(({ code, cap }) => `${code} ${cap}`)].join(', ')

describe('sources of a pair', () => {
  it.each([
    [1, '8 of 1, SINGLE_POOL_PAIR 8'],
    [2, '9 of 2'],
    [3, '10 of 3'],
    [4, '10 of 4'],
    [5, '10 of 5'],
  ] as const)('R-agreement-3: %i verified pools of the pair that agree score %s', (count, expected) => {
    const s = pools(...Array.from({ length: count }, () => ({})))
    for (const pool of POOLS.slice(0, count)) expect(shown(agreementOf(s, pool))).toBe(expected)
  })

  it('R-agreement-1: pools of another pair are no sources', () => {
    const s = scenario({ stables: [USDC, DAI] })
    s.decimals(T, 18)
    s.decimals(U, 18)
    s.v2(P1, [T, X], [USDC, Y])
    s.v2(P2, [T, X], [DAI, 2n * X])
    s.v2(P3, [U, X], [USDC, Y])
    for (const pool of [P1, P2, P3]) expect(shown(agreementOf(s, pool))).toBe('8 of 1, SINGLE_POOL_PAIR 8')
  })

  it('R-agreement-1: a pool that is not verified is no source', () => {
    const s = pools({}, {})
    s.sync(P2, X + E18, Y - E6)
    s.swapLog(P2, [E18 - 900n, 0n], [0n, E6])
    s.mine()
    expect(s.pool(P2).state.verified).toBe(false)
    expect(shown(agreementOf(s, P1))).toBe('8 of 1, SINGLE_POOL_PAIR 8')
  })

  it('R-agreement-1: a pool a guard refuses for its fee, or without liquidity, is no source', () => {
    const s = pools({}, { fee: [90n, 100n] }, {})
    s.reserves(P3, 0n, 0n)
    s.mine()
    expect(shown(agreementOf(s, P1))).toBe('8 of 1, SINGLE_POOL_PAIR 8')
  })

  it('R-agreement-2: a newly created pool has no weight yet and is no source until it has earned some', () => {
    const s = pools({})
    s.bornV2(P2, [T, X], [USDC, Y])
    s.mine()
    expect(shown(agreementOf(s, P1))).toBe('8 of 1, SINGLE_POOL_PAIR 8')
    s.mine({ afterMs: 10 * MINUTE })
    expect(shown(agreementOf(s, P1))).toBe('9 of 2')
  })
})

describe('spread of a pair', () => {
  it.each([
    [25n, 10],
    [26n, 8],
    [50n, 8],
    [51n, 6],
    [100n, 6],
    [101n, 5],
    [200n, 5],
  ] as const)('R-agreement-5: three pools and a fourth %i bps away score %i', (bps, score) => {
    const s = pools({}, {}, {}, { bps })
    expect(agreementOf(s, P1)).toMatchObject({ score, sources: 4, retainedBps: 10_000, unresolved: false })
    const { num, den } = agreementOf(s, P1).spreadBps
    expect(byHand.reduced(num, den)).toEqual({ num: bps, den: 1n })
  })

  it('R-evidence-2: compares marginal ratios, so different fees do not disagree', () => {
    const s = pools({}, { fee: [9_999n, 10_000n] }, { fee: [98n, 100n] })
    expect(shown(agreementOf(s, P1))).toBe('10 of 3')
    expect(agreementOf(s, P1).spreadBps.num).toBe(0n)
  })
})

describe('outliers of a pair', () => {
  it('R-agreement-7: a pool the others outvote carries its own deviation, they only the weight they lost', () => {
    const s = pools({}, {}, {}, {}, { bps: 300n, of: 900_000n })
    // 81% kept: 6. The outvoted one is 300 bps away: 4.
    expect(shown(agreementOf(s, P1))).toBe('6 of 4')
    expect(shown(agreementOf(s, P5))).toBe('4 of 4')
    expect(s.edge(P5).failure).toBe(null)
  })

  it('R-agreement-6: survivors of one deployment do not outvote anyone: the split is unresolved for all', () => {
    const s = pools(
      { deployment: 'one' },
      { deployment: 'one' },
      { deployment: 'one' },
      { deployment: 'two', bps: 300n },
    )
    for (const pool of [P1, P4])
      expect(shown(agreementOf(s, pool))).toBe('2 of 4, NO_INDEPENDENT_CONSENSUS 2')
  })

  it('R-agreement-6: two pools that disagree are an unresolved split, capped at 2', () => {
    const s = pools({}, { bps: 300n })
    for (const pool of [P1, P2])
      expect(shown(agreementOf(s, pool))).toBe('2 of 2, NO_INDEPENDENT_CONSENSUS 2')
  })

  it('R-consensus-4: survivors need 67% of the weight', () => {
    // The third pool's share of depth is its share of the reserves, but for the last unit.
    const [kept, split] = [
      pools({}, {}, { bps: 300n, of: 900_000n }),
      pools({}, {}, { bps: 300n, of: 1_000_000n }),
    ]
    expect(agreementOf(kept, P1)).toMatchObject({ unresolved: false, sources: 2, score: 5 })
    expect(agreementOf(split, P1)).toMatchObject({ unresolved: true, sources: 3, score: 2 })
  })
})

describe('dust of a pair', () => {
  it('R-agreement-2: a pool below 10% of the depth of its pair does not vote, at 10% it does', () => {
    const depth = byHand.v2DepthY(X, Y)
    const share = (of: bigint) => byHand.v2DepthY(of, (of * Y) / X)
    const enough = byHand.smallest(X / 100n, of => share(of) * 10n >= share(of) + depth)
    for (const [of, sources] of [
      [enough, 2],
      [byHand.greatest(enough, n => share(n) < share(enough)), 1],
    ] as const) {
      const s = pools({})
      s.v2(P2, [T, of], [USDC, (of * Y) / X], { deployment: 'd1' })
      expect(agreementOf(s, P1).sources).toBe(sources)
    }
  })

  it('R-agreement-2: a pool with exactly 10% of the depth of its pair votes', () => {
    const [x, y] = [X / 1_000n, Y / 1_000n]
    const depth = 9n * byHand.v2DepthY(x, y)
    const reserve = byHand.smallest(Y / 1_000n, n => byHand.v2DepthY((n * X) / Y, n) >= depth)
    expect(byHand.v2DepthY((reserve * X) / Y, reserve)).toBe(depth)
    const s = pools()
    s.v2(P1, [T, (reserve * X) / Y], [USDC, reserve], { deployment: 'one' })
    s.v2(P2, [T, x], [USDC, y], { deployment: 'two' })
    expect(agreementOf(s, P1).sources).toBe(2)
  })

  it('R-agreement-2: dust at a thousand times the price neither splits the others nor counts as one of them', () => {
    const s = pools({}, {}, { of: 10n, bps: 9_990_000n })
    expect(shown(agreementOf(s, P1))).toBe('9 of 2')
    expect(agreementOf(s, P1).spreadBps.num).toBe(0n)
  })

  it('R-agreement-7: dust that disagrees carries its own deviation, dust that agrees shares the agreement of the others', () => {
    const s = pools({}, {}, {}, { of: 10n, bps: 9_990_000n }, { of: 10_000n })
    expect(shown(agreementOf(s, P4))).toBe('2 of 3')
    expect(shown(agreementOf(s, P5))).toBe('10 of 3')
  })

  it('R-agreement-4: a deep pool among dust is a single pool', () => {
    const s = pools({}, { of: 10_000n }, { of: 10_000n, bps: 700n })
    expect(shown(agreementOf(s, P1))).toBe('8 of 1, SINGLE_POOL_PAIR 8')
  })

  it('R-agreement-1, R-average-6: weight is effective depth: newly added depth is still dust, removed depth is dust at once', () => {
    const s = pools({}, { of: 10_000n })
    s.reserves(P2, X, Y)
    s.mine()
    expect(agreementOf(s, P1).sources).toBe(1)
    s.mine({ afterMs: HOUR })
    expect(agreementOf(s, P1).sources).toBe(2)
    s.reserves(P2, X / 100n, Y / 100n)
    s.mine()
    expect(agreementOf(s, P1).sources).toBe(1)
  })

  it('R-agreement-1, R-average-5: as a new pool earns its weight it becomes the median, and the spread is measured from there', () => {
    const s = pools({}, { of: 300_000n }, { of: 560_000n, bps: 150n })
    // Four times as deep as the first, at 50 bps more; of that the average has seen nothing yet.
    s.reserves(P2, 4n * X, (4n * Y * 10_050n) / 10_000n)
    s.mine()
    const spreadBps = () => {
      const { num, den } = agreementOf(s, P1).spreadBps
      return num / den
    }
    expect(spreadBps()).toBe(150n)
    s.mine({ afterMs: MINUTE })
    expect(spreadBps()).toBe(150n)
    s.mine({ afterMs: HOUR })
    expect(spreadBps()).toBe(99n)
  })
})
