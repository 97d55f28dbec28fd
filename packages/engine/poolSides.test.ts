/** Pool quotes of pools that are on nobody's route: either side's price gives the other its dollars. */
import { expect, it } from 'vitest'
import { computePoolQuote } from './onDemand.ts'
import { E18, E6, MINUTE, P1, P2, P3, T, U, USDC } from './testing/cast.ts'
import { scenario } from './testing/scenario.ts'

/** T at 2 dollars and U at 8, each in a pool of its own, and a pool of both in which one U buys 4 T. */
function market({ isUPriced }: { readonly isUPriced: boolean }) {
  const s = scenario()
  s.v2(P1, [T, 30_000_000n * E18], [USDC, 60_000_000n * E6], { deployment: 'one' })
  if (isUPriced) s.v2(P2, [U, 10_000_000n * E18], [USDC, 80_000_000n * E6], { deployment: 'two' })
  s.v2(P3, [T, 4_000_000n * E18], [U, 1_000_000n * E18], { deployment: 'three' })
  s.enrol(T)
  s.enrol(U)
  s.mine({ afterMs: 5 * MINUTE })
  return s
}

const quoteOf = (s: ReturnType<typeof market>) => {
  const answer = computePoolQuote(s.state, s.pool(P3), s.nowMs)
  if (answer.outcome !== 'quote') return answer
  const { prices } = answer.quote as {
    prices: { token0_usd: { display: string } | null; token1_usd: { display: string } | null }
  }
  return { token0: Number(prices.token0_usd?.display), token1: Number(prices.token1_usd?.display) }
}

it('R-quote-4: a pool between two priced tokens has dollars on both sides', () => {
  const { token0, token1 } = quoteOf(market({ isUPriced: true })) as { token0: number; token1: number }
  expect(token0).toBeCloseTo(2, 1)
  expect(token1).toBeCloseTo(8, 1)
})

it('a pool with only X priced has dollars on both sides', () => {
  const { token0, token1 } = quoteOf(market({ isUPriced: false })) as { token0: number; token1: number }
  expect(token0).toBeCloseTo(2, 1)
  expect(token1).toBeCloseTo(8, 1)
})

it('a pool with neither side priced is NO_ROUTE', () => {
  const s = scenario()
  s.v2(P3, [T, 4_000_000n * E18], [U, 1_000_000n * E18], { deployment: 'three' })
  s.enrol(T)
  s.mine({ afterMs: 5 * MINUTE })
  expect(quoteOf(s)).toMatchObject({ outcome: 'no_route' })
})
