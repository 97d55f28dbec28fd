/** The same liquidity is shown to the service in one pool after another. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const migrationHop: Attack = {
  name: 'liquidity that hops',
  about: '100,000 moves between two fake pools at 1.4 every block, beside an honest pool of 2,000',
  on: 'engine',
  wanted: { atMost: 3 },
  async play(stage) {
    await settle(stage, 600, {
      honest: { depth: 2_000 },
      here: { price: 1.4, depth: 10, factory: 'b', isNew: true },
      there: { price: 1.4, depth: 10, family: 'v3', isNew: true },
    })
    for (let n = 0; n < 30; n++) {
      const position = stage.add(n % 2 === 0 ? 'here' : 'there', 100_000)
      await stage.block()
      await stage.look('T')
      stage.remove(position)
    }
  },
}
