/** A quiet market with slight noise: the score must not change. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const flicker: Attack = {
  name: 'flicker under noise',
  about: 'two pools drift by 10 bps for 150 blocks: at most two changes of the score',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.01, changes: 2 },
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 20_000 }, two: { depth: 20_000, factory: 'b' } })
    stage.watch('T')
    for (let n = 0; n < 150; n++) {
      // Two deterministic walks whose steps do not repeat within the run.
      stage.push('one', 1 + 0.001 * Math.sin(n * 2.399))
      stage.push('two', 1 + 0.001 * Math.cos(n * 1.618))
      await stage.block()
      await stage.look('T')
    }
  },
}
