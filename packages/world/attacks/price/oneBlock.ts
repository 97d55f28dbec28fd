/** A price driven up for one block. */
import type { Attack } from '../attack.ts'
import { settleTwoAlike } from '../settle.ts'

export const oneBlock: Attack = {
  name: 'one block',
  about: 'pools of two factories are pushed to 1.8 for one block and let go',
  on: 'engine',
  wanted: {},
  async play(stage) {
    await settleTwoAlike(stage)
    for (const pool of ['one', 'two']) stage.push(pool, 1.8)
    await stage.block()
    await stage.look('T')
    for (const pool of ['one', 'two']) stage.push(pool, 1)
    await stage.block()
    await stage.look('T')
  },
}
