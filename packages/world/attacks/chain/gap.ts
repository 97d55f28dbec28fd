/** The endpoints lose the chain while a price is pushed. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const gap: Attack = {
  name: 'push in a gap',
  about: 'the feed has a gap for five minutes, in which the price goes to 1.5 and stays',
  on: 'engine',
  wanted: { atMost: 4 },
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 20_000 }, two: { depth: 20_000, factory: 'b' } })
    await stage.health('GAP')
    for (const pool of ['one', 'two']) stage.push(pool, 1.52)
    await stage.block()
    await stage.look('T')
    await stage.quiet(300, 12)
    await stage.look('T')
    await stage.health('HEALTHY')
    await stage.look('T')
  },
}
