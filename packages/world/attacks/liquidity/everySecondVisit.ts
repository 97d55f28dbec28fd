/** Liquidity that is removed within every second block only, and stays through the others. */
import type { Attack } from '../attack.ts'

export const everySecondVisit: Attack = {
  name: 'out in every second block',
  about:
    '2 pools of 60, and 120,000 in each that is burned first and minted last in every second block, untouched in the others',
  on: 'engine',
  against: 'seller',
  wanted: {},
  open: 'not covered: liquidity that stays through every second block counts by half',
  async play(stage) {
    stage.token('T')
    const pools = ['one', 'two'] as const
    await stage.pool('one', { of: 'T', depth: 60, family: 'v3', factory: 'a', band: [0.96, 1.04] })
    await stage.pool('two', { of: 'T', depth: 60, family: 'v3', factory: 'b', band: [0.96, 1.04] })
    await stage.ask('T')
    await stage.quiet(360)
    let late = pools.map(pool => stage.add(pool, 120_000, [0.5, 2]))
    await stage.block()
    for (let n = 0; n < 75; n++) {
      for (const each of late) stage.remove(each)
      stage.seller('T')
      late = pools.map(pool => stage.add(pool, 120_000, [0.5, 2]))
      await stage.block()
      await stage.look('T')
      await stage.block()
    }
  },
}
