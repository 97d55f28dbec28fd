/** A trade of one dollar in a pool that has been idle for long: it proves nothing. */
import type { Attack } from '../attack.ts'

export const oneDollarTrade: Attack = {
  name: 'T19 a trade of one dollar',
  about: 'pools of two factories, unused for eight days; one dollar is traded in each',
  on: 'engine',
  wanted: { atMost: 3, code: 'NO_RECENT_TRADE' },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 50_000, idleS: 8 * 86_400 })
    await stage.pool('two', { of: 'T', depth: 50_000, factory: 'b', idleS: 8 * 86_400 })
    await stage.ask('T')
    await stage.quiet(600)
    for (const pool of ['one', 'two']) stage.sell(pool, 1)
    await stage.block()
    await stage.look('T')
  },
}
