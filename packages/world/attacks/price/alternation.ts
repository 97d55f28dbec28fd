/** Alternating buys and sells in a pool with a high fee: a price must not bounce between the two sides of the fee. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const alternation: Attack = {
  name: 'buys and sells in turn',
  about: 'alternating buys and sells of 200 for 60 blocks, in a lone pool with a fee of 1%',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.03, changes: 2 },
  async play(stage) {
    await settle(stage, 600, { one: { depth: 20_000, family: 'v3', feePpm: 10_000 } })
    stage.watch('T')
    for (let n = 0; n < 60; n++) {
      stage[n % 2 === 0 ? 'buy' : 'sell']('one', 200)
      await stage.block()
      await stage.look('T')
    }
  },
}
