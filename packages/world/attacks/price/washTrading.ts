/** Trades of an account with itself: volume is no evidence of a price. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const washTrading: Attack = {
  name: 'wash trading',
  about: '2,000 back and forth in each of 100 blocks, in a lone pool of 1,000 made five minutes ago at 2',
  on: 'engine',
  wanted: { within: 0.05 },
  async play(stage) {
    await settle(stage, 600, { honest: { depth: 3_000 } })
    await stage.pool('fake', { of: 'T', price: 2, depth: 1_000, factory: 'b', isNew: true })
    await stage.quiet(300)
    for (let n = 0; n < 100; n++) {
      stage[n % 2 === 0 ? 'buy' : 'sell']('fake', 2_000)
      await stage.block()
      if (n % 10 === 9) await stage.look('T')
    }
  },
}
