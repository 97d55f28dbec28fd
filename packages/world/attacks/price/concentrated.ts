/** A lone concentrated pool is moved far at low cost, and held there. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const concentrated: Attack = {
  name: 'T12 concentrated pool ×90',
  about:
    'a lone pool whose 3,000 lie within 10% is moved to 90, with 3,000 waiting there, and held ten minutes',
  on: 'both',
  wanted: { atMost: 3 },
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 3_000, family: 'v3', band: [0.9, 1.1] } })
    stage.add('one', 60, [0.1, 100])
    stage.push('one', 90)
    stage.add('one', 3_000, [0.9, 1.1])
    await stage.block()
    await stage.look('T')
    for (let n = 0; n < 5; n++) {
      await stage.quiet(120, 12)
      await stage.look('T')
    }
  },
}
