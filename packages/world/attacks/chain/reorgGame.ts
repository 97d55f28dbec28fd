/** An average fed with liquidity on blocks that are later orphaned. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const reorgGame: Attack = {
  name: 'reorg game',
  about: '500,000 stays for 60 blocks that are then replaced: its average must go with them',
  on: 'engine',
  against: 'seller',
  wanted: { atMost: 3 },
  async play(stage) {
    await settle(stage, 900, { one: { depth: 300 } })
    for (let n = 0; n < 3; n++) {
      stage.mark()
      stage.add('one', 500_000)
      for (let each = 0; each < 60; each++) await stage.block()
      await stage.orphan()
      await stage.look('T')
    }
  },
}
