/** A price that walks for hours, too slowly for any median to distinguish from a market. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const longWalk: Attack = {
  name: 'walk over three hours',
  about: 'the pools of a token rise by 0.4% a minute for three hours, to 2.05',
  on: 'engine',
  wanted: {},
  open: 'not covered: a walk of less than 20% in half an hour, held against every trader, is the market',
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 10_000 }, two: { depth: 10_000, factory: 'b' } })
    for (let n = 1; n <= 180; n++) {
      for (const pool of ['one', 'two']) stage.push(pool, 1.004 ** n)
      await stage.block(60)
      if (n % 5 === 0) await stage.look('T')
    }
  },
}
