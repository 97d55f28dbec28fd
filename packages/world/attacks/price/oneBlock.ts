/** A price driven up for one block. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const oneBlock: Attack = {
  name: 'one block',
  about: 'pools of two factories are pushed to 1.8 for one block and let go',
  on: 'engine',
  wanted: {},
  async play(stage) {
    await settle(stage, 600, {
      one: { depth: 10_000 },
      two: { depth: 10_000, family: 'v3', factory: 'b' },
    })
    for (const pool of ['one', 'two']) stage.push(pool, 1.8)
    await stage.block()
    await stage.look('T')
    for (const pool of ['one', 'two']) stage.push(pool, 1)
    await stage.block()
    await stage.look('T')
  },
}
