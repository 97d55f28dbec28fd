/** Finality stops while the chain continues. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const finalityStall: Attack = {
  name: 'finality stall',
  about: 'the feed is degraded while a price is pushed to 1.6 and held',
  on: 'engine',
  wanted: { atMost: 3 },
  async play(stage) {
    await settle(stage, 900, { one: { depth: 20_000 }, two: { depth: 20_000, factory: 'b' } })
    await stage.health('DEGRADED')
    for (const pool of ['one', 'two']) stage.push(pool, 1.6)
    await stage.block()
    await stage.look('T')
    await stage.quiet(300, 12)
    await stage.look('T')
  },
}
