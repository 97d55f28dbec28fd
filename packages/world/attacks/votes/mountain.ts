/** A huge amount of liquidity beside the honest pool, at another price, for an hour. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const mountain: Attack = {
  name: 'mountain of liquidity',
  about: 'new pools of 400,000 of two factories at 1.3 beside an honest pool of 20,000; checked for an hour',
  on: 'engine',
  wanted: {},
  async play(stage) {
    await settle(stage, 3900, { honest: { depth: 20_000 } })
    await stage.pool('left', { of: 'T', price: 1.3, depth: 400_000, factory: 'b', isNew: true })
    await stage.pool('right', { of: 'T', price: 1.3, depth: 400_000, family: 'v3', isNew: true })
    for (let n = 0; n < 60; n++) {
      // The past of a token continues only when its pools are touched.
      for (const pool of ['left', 'right', 'honest']) stage[n % 2 === 0 ? 'buy' : 'sell'](pool, 20)
      await stage.quiet(60)
      await stage.look('T')
    }
  },
}
