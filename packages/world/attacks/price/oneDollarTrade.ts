/** A trade of one dollar in a pool that has been idle for long: it proves nothing. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const oneDollarTrade: Attack = {
  name: 'T19 a trade of one dollar',
  about: 'pools of two factories, unused for eight days; one dollar is traded in each',
  on: 'engine',
  wanted: { atMost: 3, code: 'NO_RECENT_TRADE' },
  async play(stage) {
    await settle(stage, 600, {
      one: { depth: 50_000, idleS: 8 * 86_400 },
      two: { depth: 50_000, factory: 'b', idleS: 8 * 86_400 },
    })
    for (const pool of ['one', 'two']) stage.sell(pool, 1)
    await stage.block()
    await stage.look('T')
  },
}
