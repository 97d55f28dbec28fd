/** Block times bent by a producer: a long block makes a push look as if it had been held for long. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const blockTimes: Attack = {
  name: 'bent block times',
  about:
    'one block at 1.8, and the next comes 170 s later: held for a single block, but for long by the clock',
  on: 'engine',
  wanted: { atMost: 4 },
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 20_000 } })
    stage.push('one', 1.8)
    await stage.block()
    await stage.look('T')
    await stage.block(170)
    await stage.look('T')
  },
}
