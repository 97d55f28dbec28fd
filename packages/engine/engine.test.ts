import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAI, E18, E6, P1, P2, scenario, T, USDC, WETH } from './testing/scenario.ts'
import { checkQuote } from './testing/quoteLaws.ts'

test('smoke', () => {
  const s = scenario()
  s.v2(P1, [T, 1_000_000n * E18], [USDC, 2_000_000n * E6])
  s.enrol(T)
  console.log(JSON.stringify(s.priced(T), null, 1))
  checkQuote(s.quote(T), t => (t === USDC ? 6 : 18))
})
