/** Liquidity that exists only where blocks end: minted last and burned first in every block. */
import type { Attack } from '../attack.ts'

export const lateLiquidity: Attack = {
  name: 'T4 liquidity at block ends',
  about:
    '2 pools of 60, and 120,000 in each that is minted last and burned first in every block for 40 minutes',
  on: 'both',
  against: 'seller',
  wanted: { atMost: 2 },
  async play(stage) {
    stage.token('T')
    const pools = ['one', 'two'] as const
    await stage.pool('one', { of: 'T', depth: 60, family: 'v3', factory: 'a', band: [0.96, 1.04] })
    await stage.pool('two', { of: 'T', depth: 60, family: 'v3', factory: 'b', band: [0.96, 1.04] })
    await stage.ask('T')
    await stage.quiet(360)
    let late = pools.map(pool => stage.add(pool, 120_000, [0.5, 2]))
    await stage.block()
    await stage.rounds(150, async () => {
      for (const each of late) stage.remove(each)
      stage.seller('T')
      late = pools.map(pool => stage.add(pool, 120_000, [0.5, 2]))
      await stage.block()
    })
    await stage.look('T')
  },
}
