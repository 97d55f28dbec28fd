/** Finality stops while the chain continues. */
import type { Attack } from '../attack.ts'

export const finalityStall: Attack = {
  name: 'finality stall',
  about: 'the feed is degraded while a price is pushed to 1.6 and held',
  on: 'engine',
  wanted: { atMost: 3 },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 20_000 })
    await stage.pool('two', { of: 'T', depth: 20_000, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(900)
    await stage.health('DEGRADED')
    for (const pool of ['one', 'two']) stage.push(pool, 1.6)
    await stage.block()
    await stage.look('T')
    await stage.quiet(300, 12)
    await stage.look('T')
  },
}
