/** A price that walks for an hour: a move slow enough is the market, and the possible gain is bounded. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const hourWalk: Attack = {
  name: 'walk over half an hour',
  about: 'pools of 3,000 of two factories rise by 0.3% in each of 150 blocks, to 1.57',
  on: 'engine',
  wanted: {},
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 3_000 }, two: { depth: 3_000, factory: 'b' } })
    for (let n = 1; n <= 150; n++) {
      for (const pool of ['one', 'two']) stage.push(pool, 1.003 ** n)
      await stage.block()
      if (n % 5 === 0) await stage.look('T')
    }
  },
}
