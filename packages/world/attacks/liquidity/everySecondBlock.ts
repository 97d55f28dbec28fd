/** Liquidity that is present in every second block. */
import type { Attack } from '../attack.ts'

export const everySecondBlock: Attack = {
  name: 'T5 every second block',
  about: '2 pools of 60, and 120,000 in each in every second block: the score must be steady and low',
  on: 'engine',
  against: 'seller',
  wanted: { atMost: 3, changes: 4 },
  async play(stage) {
    stage.token('T')
    const pools = ['one', 'two'] as const
    await stage.pool('one', { of: 'T', depth: 60, factory: 'a' })
    await stage.pool('two', { of: 'T', depth: 60, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(1800)
    stage.watch('T')
    for (let n = 0; n < 60; n++) {
      const late = pools.map(pool => stage.add(pool, 120_000))
      await stage.block()
      await stage.look('T')
      for (const each of late) stage.remove(each)
      stage.seller('T')
      await stage.block()
      await stage.look('T')
    }
  },
}
