/** A price that walks just below the limit per block, for six minutes. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const slowWalk: Attack = {
  name: 'walk of 1.9% a block',
  about: 'a lone pool of 3,000 rises by 1.9% in each of 30 blocks, to 1.76, and stays',
  on: 'engine',
  wanted: {},
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 3_000 } })
    for (let n = 1; n <= 30; n++) {
      stage.push('one', 1.019 ** n)
      await stage.block()
      await stage.look('T')
    }
    for (let n = 0; n < 5; n++) {
      await stage.quiet(60, 12)
      await stage.look('T')
    }
  },
}
