/** A price that is present only at the ends of blocks. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const parkedAtBlockEnds: Attack = {
  name: 'T6 parked at block ends',
  about: '1.8 at the end of every block for 30 blocks, and 1.0 inside them',
  on: 'both',
  against: 'seller',
  wanted: { atMost: 3 },
  async play(stage) {
    await settle(stage, 900, { one: { depth: 3_000, family: 'v3' } })
    await stage.rounds(30, async () => {
      stage.push('one', 1)
      stage.seller('T')
      stage.push('one', 1.8)
      await stage.block()
    })
    await stage.look('T')
  },
}
