/** A price driven away and back inside one block: the typical use of flash loans. */
import type { Attack } from '../attack.ts'
import { settleTwoAlike } from '../settle.ts'

export const flash: Attack = {
  name: 'flash swap',
  about: 'to 2 and back, and to a half and back, inside one block',
  on: 'both',
  wanted: { state: 'PRICED', within: 0.02 },
  async play(stage) {
    await settleTwoAlike(stage)
    await stage.rounds(5, async () => {
      for (const usd of [2, 1, 0.5, 1]) for (const pool of ['one', 'two']) stage.push(pool, usd)
      await stage.block()
      await stage.look('T')
    })
  },
}
