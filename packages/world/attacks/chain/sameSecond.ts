/** Blocks of one second: a price that is present at the end of each second and gone within it. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const sameSecond: Attack = {
  name: 'blocks of the same second',
  about: 'of four blocks with the same time the last is at 1.8 and the others at 1, for 200 s',
  on: 'engine',
  against: 'seller',
  wanted: { atMost: 3 },
  async play(stage) {
    await settle(stage, 900, { one: { depth: 3_000, family: 'v3' } })
    for (let second = 0; second < 200; second++) {
      stage.push('one', 1)
      await stage.block(1)
      stage.seller('T')
      await stage.block(0)
      await stage.block(0)
      stage.push('one', 1.8)
      await stage.block(0)
    }
    await stage.look('T')
  },
}
