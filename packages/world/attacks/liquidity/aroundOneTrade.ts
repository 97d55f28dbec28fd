/** Just-in-time liquidity: added before another account's trade and removed after it, within a block. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const aroundOneTrade: Attack = {
  name: 'just-in-time liquidity',
  about: '1,000,000 is minted before a trade of 50,000 and burned after it, in every block',
  on: 'both',
  wanted: { within: 0.12 },
  async play(stage) {
    await settle(stage, 600, {
      one: { depth: 2_000, family: 'v3', factory: 'a' },
      two: { depth: 2_000, family: 'v2', factory: 'b' },
    })
    await stage.rounds(20, async n => {
      const guest = stage.add('one', 1_000_000)
      stage[n % 2 === 0 ? 'sell' : 'buy']('one', 50_000)
      stage.remove(guest)
      await stage.block()
      await stage.look('T')
    })
  },
}
