import { describe, expect, it } from 'vitest'
import { computeTokenQuote, type QuoteNarrowing } from './onDemand.ts'
import { E18, E6, MINUTE, P1, P2, P3, T, USDC, WETH } from './testing/cast.ts'
import type { QuoteView } from './testing/quoteView.ts'
import { scenario } from './testing/scenario.ts'
import { count } from './units.ts'

const OPEN: QuoteNarrowing = { maxHops: null, minDepthUsd: null, excludePools: [] }

/** T in USDC and, much deeper, in WETH, whose own pool leads to USDC. */
function market(policy: object = {}) {
  const s = scenario({ policy })
  s.v2(P1, [T, 30_000n * E18], [USDC, 60_000n * E6], { deployment: 'one' })
  s.v2(P2, [T, 30_000_000n * E18], [WETH, 30_000n * E18], { deployment: 'two' })
  s.v2(P3, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6], { deployment: 'three' })
  s.enrol(T)
  s.mine({ afterMs: 5 * MINUTE })
  const quote = (narrowing: Partial<QuoteNarrowing> | null) =>
    computeTokenQuote(
      s.state,
      T,
      s.nowMs,
      narrowing === null ? null : { ...OPEN, ...narrowing },
    ) as unknown as QuoteView
  const firstHops = (narrowing: Partial<QuoteNarrowing>) => {
    const { routes } = quote(narrowing)
    return routes
      ?.filter(({ reason }) => reason === null || reason === 'IMMATERIAL')
      .map(({ hops }) => hops[0]?.pool_address)
  }
  return { s, quote, firstHops }
}

it('R-demand-1: a quote on demand is COMPUTED at its moment, equals the published one, and writes nothing', () => {
  const { s, quote } = market()
  const { steps } = s.state.chain
  const published = s.token(T).published
  const { source, price_usd } = quote(null) as QuoteView & { source: string; price_usd: object }
  expect([source, price_usd]).toEqual(['COMPUTED', s.priced(T).price_usd])
  expect([s.state.chain.steps, s.token(T).published]).toEqual([steps, published])
})

describe('R-demand-2: narrowed', () => {
  it('to one hop, keeps only the pool with a stable; a limit above the policy’s widens nothing', () => {
    expect(market().firstHops({ maxHops: count(1) })).toEqual([P1])
    expect(market({ max_hops: 1 }).firstHops({ maxHops: count(3) })).toEqual([P1])
  })

  it('to a depth, drops thinner pools; a limit below the policy’s floor widens nothing', () => {
    expect(market().firstHops({ minDepthUsd: count(10_000) })).toEqual([P2])
    expect(market({ min_depth_usd: 10_000 }).firstHops({ minDepthUsd: count(0) })).toEqual([P2])
  })

  it('by pools, drops their hops, at the token and at the routing asset', () => {
    const { quote, firstHops } = market()
    expect(firstHops({ excludePools: [P2] })).toEqual([P1])
    expect(firstHops({ excludePools: [P3] })).toEqual([P1])
    expect(quote({ excludePools: [P1, P3] })).toMatchObject({ state: 'UNPRICED' })
  })
})
