/** The same in two deep pools of two factories. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const heldInTwo: Attack = {
  name: 'T13 +50% held, two pools',
  about: 'pools of 50,000 of two factories at 1.5 for 156 s and on',
  on: 'both',
  wanted: { atMost: 4 },
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 50_000 }, two: { depth: 50_000, factory: 'b' } })
    for (const pool of ['one', 'two']) stage.push(pool, 1.5)
    await stage.block()
    await stage.quiet(156, 12)
    await stage.look('T')
    for (let n = 0; n < 6; n++) {
      await stage.quiet(240, 12)
      await stage.look('T')
    }
  },
}
