/** A sandwich: up before a victim buys, down after. The evidence of the block must not be the victim's price. */
import type { Attack } from '../attack.ts'
import { settleTwoAlike } from '../settle.ts'

export const sandwich: Attack = {
  name: 'sandwich',
  about: 'the price goes to 1.1, a victim sells 500 there, and the price goes back, in every block',
  on: 'both',
  wanted: { state: 'PRICED', within: 0.02 },
  async play(stage) {
    await settleTwoAlike(stage)
    await stage.rounds(20, async () => {
      stage.push('one', 1.1)
      stage.sell('one', 500)
      stage.push('one', 1)
      // The last sale of the block is too small to be evidence.
      stage.sell('one', 0.01)
      await stage.block()
      await stage.look('T')
    })
  },
}
