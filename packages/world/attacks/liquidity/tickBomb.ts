/**
 * Hundreds of dust positions around the price: every tick is initialised, and the published price must still be the
 * pool's.
 */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const tickBomb: Attack = {
  name: 'bomb of dust ticks',
  about: '400 positions of a cent around the price of a lone pool',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.01, atLeast: 3 },
  async play(stage) {
    await settle(stage, 600, { one: { depth: 20_000, family: 'v3', feePpm: 500 } })
    for (let n = 0; n < 400; n++) {
      const low = 0.97 + (n % 200) * 0.0002
      stage.add('one', 0.01, [low, low + 0.002 + (n % 7) * 0.001])
      if (n % 40 === 39) await stage.block()
    }
    await stage.block()
    await stage.look('T')
  },
}
