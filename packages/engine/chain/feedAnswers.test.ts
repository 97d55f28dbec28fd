import { describe, expect, it } from 'vitest'
import { DAI, E18, E6, MINUTE, P1, SECOND, USDC, WETH } from '../testing/cast.ts'
import { type Scenario, scenario } from '../testing/scenario.ts'

const ONE = 100_000_000n
const valueOf = (s: Scenario, token: typeof USDC) => s.state.stables.get(token)?.reading?.value

describe('answers of feeds', () => {
  it('R-reading-3: an answer that a proven block logs is the value of the stable, like one read from the feed', () => {
    const [logged, read] = [scenario(), scenario()]
    logged.mine()
    read.mine()
    logged.answered(USDC, 99_700_000n)
    read.stable(USDC, 99_700_000n)
    expect(logged.state.stables).toEqual(read.state.stables)
    expect(logged.priced(USDC)).toEqual(read.priced(USDC))
    expect(logged.said(USDC)).toBe('PRICE_UPSERT')
  })

  it('R-reading-2: of a logged and a read answer the one from the newer block wins, in either order', () => {
    const s = scenario()
    const older = s.tip
    const newer = s.mine()
    s.answered(USDC, 99_700_000n, {}, newer)
    s.stable(USDC, 99_800_000n, {}, older)
    expect(valueOf(s, USDC)).toBe(99_700_000n)
    s.mine()
    s.stable(USDC, 99_800_000n)
    s.answered(USDC, 99_600_000n, {}, newer)
    expect(valueOf(s, USDC)).toBe(99_800_000n)
  })

  it('R-reading-3: it is undone with its block, and the answer before it applies again', () => {
    const s = scenario({ assetFeeds: [WETH] })
    s.v2(P1, [WETH, 5_000n * E18], [USDC, 10n * 10n ** 6n * E6])
    s.answered(WETH, 2_000n * ONE)
    const branch = s.branch()
    s.mine({ afterMs: SECOND })
    s.answered(WETH, 1_800n * ONE)
    s.answered(USDC, 99_700_000n)
    const codes = () => s.priced(WETH).confidence.caps.map(({ code }) => code)
    expect(codes()).toContain('ANCHOR_DISPUTED')
    s.reorg(branch, [branch.mine({ afterMs: SECOND }), branch.mine({ afterMs: SECOND })])
    expect([valueOf(s, WETH), valueOf(s, USDC)]).toEqual([2_000n * ONE, ONE])
    expect(codes()).not.toContain('ANCHOR_DISPUTED')
  })

  it('R-reading-1: at a block off our chain it is dropped', () => {
    const s = scenario({ stables: [USDC, DAI] })
    const branch = s.branch()
    const lost = s.mine({ afterMs: SECOND })
    s.reorg(branch, [branch.mine({ afterMs: MINUTE })])
    s.answered(USDC, 90_000_000n, {}, lost)
    expect(valueOf(s, USDC)).toBe(ONE)
  })
})
