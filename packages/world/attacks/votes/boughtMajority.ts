/** Liquidity of a hundred times the honest amount, for as long as it takes: a bought market. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const boughtMajority: Attack = {
  name: 'bought majority',
  about: 'pools of 2,000,000 of two factories at 1.3 beside an honest pool of 20,000, for two hours',
  on: 'engine',
  wanted: {},
  open: 'not covered: 98% of the liquidity held for 40 minutes is the market',
  async play(stage) {
    await settle(stage, 3900, { honest: { depth: 20_000 } })
    await stage.pool('left', { of: 'T', price: 1.3, depth: 2_000_000, factory: 'b', isNew: true })
    await stage.pool('right', { of: 'T', price: 1.3, depth: 2_000_000, family: 'v3', isNew: true })
    for (let n = 0; n < 120; n++) {
      // The past of a token continues only when its pools are touched.
      for (const pool of ['left', 'right', 'honest']) stage[n % 2 === 0 ? 'buy' : 'sell'](pool, 20)
      await stage.quiet(60)
      await stage.look('T')
    }
  },
}
