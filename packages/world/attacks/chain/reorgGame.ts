/** An average fed with liquidity on blocks that are later orphaned. */
import type { Attack } from '../attack.ts'

export const reorgGame: Attack = {
  name: 'reorg game',
  about: '500,000 stays for 60 blocks that are then replaced: its average must go with them',
  on: 'engine',
  against: 'seller',
  wanted: { atMost: 3 },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 300 })
    await stage.ask('T')
    await stage.quiet(900)
    for (let n = 0; n < 3; n++) {
      stage.mark()
      stage.add('one', 500_000)
      for (let each = 0; each < 60; each++) await stage.block()
      await stage.orphan()
      await stage.look('T')
    }
  },
}
