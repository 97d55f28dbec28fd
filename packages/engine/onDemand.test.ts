import { expect, it } from 'vitest'
import { computePoolQuote } from './onDemand.ts'
import { E18, E6, MINUTE, P1, P2, P3, T, U, USDC, WETH } from './testing/cast.ts'
import { scenario } from './testing/scenario.ts'

/** T in USDC, U in WETH, WETH in USDC. */
function market() {
  const s = scenario()
  s.v2(P1, [T, 30_000_000n * E18], [USDC, 60_000_000n * E6], { deployment: 'one' })
  s.v2(P2, [U, 30_000_000n * E18], [WETH, 30_000n * E18], { deployment: 'two' })
  s.v2(P3, [WETH, 100_000n * E18], [USDC, 200_000_000n * E6], { deployment: 'three' })
  s.enrol(T)
  s.enrol(U)
  s.mine({ afterMs: 5 * MINUTE })
  return s
}

it.each([
  ['a stable', P1],
  ['a routing asset', P2],
])('R-demand-3: without a feed a pool quoted in %s is returned, without dollar values', (_, address) => {
  const s = market()
  const quote = () => computePoolQuote(s.state, s.pool(address), s.nowMs)
  expect(quote()).toMatchObject({
    outcome: 'quote',
    quote: { prices: { token0_usd: {}, token1_usd: {} }, state: { reason: null } },
  })
  s.health('GAP')
  expect(quote()).toMatchObject({
    outcome: 'quote',
    quote: {
      prices: { token0_usd: null, token1_usd: null },
      state: { score: 0, components: { feed: { score: 0, status: 'GAP' } } },
    },
  })
})
