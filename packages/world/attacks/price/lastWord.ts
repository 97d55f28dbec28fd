/** The last swap of a block is the evidence if it is a plausible sale: an attacker makes it every time. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const lastWord: Attack = {
  name: 'the last swap is mine',
  about: 'after a push of 0.4% every block ends with a sale that just qualifies as evidence',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.015 },
  async play(stage) {
    await settle(stage, 600, { one: { depth: 10_000 } })
    for (let n = 0; n < 20; n++) {
      stage.push('one', 1.004)
      stage.sell('one', 1_990)
      await stage.block()
      await stage.look('T')
    }
  },
}
