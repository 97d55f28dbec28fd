/**
 * An honest move that an attacker opposes: the old price is visited in every block, so that the new one is not
 * accepted.
 */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const heldBack: Attack = {
  name: 'old price visited',
  about: 'the market went to 1.5; in every block someone takes the pool to 1 and back for 20 minutes',
  on: 'both',
  wanted: { state: 'PRICED', within: 0.02 },
  async play(stage) {
    await settle(stage, 600, { one: { depth: 3_000, family: 'v3' } })
    stage.push('one', 1.5)
    await stage.block()
    await stage.rounds(100, async () => {
      stage.push('one', 1)
      stage.push('one', 1.5)
      await stage.block()
    })
    await stage.look('T', { usd: 1.5 })
  },
}
