/** Liquidity that exists only where blocks end: minted last and burned first in every block. */
import type { Attack } from '../attack.ts'
import { settleShallow } from './shallowPools.ts'

export const lateLiquidity: Attack = {
  name: 'T4 liquidity at block ends',
  about:
    '2 pools of 60, and 120,000 in each that is minted last and burned first in every block for 40 minutes',
  on: 'both',
  against: 'seller',
  wanted: { atMost: 2 },
  async play(stage) {
    const addToBoth = await settleShallow(stage)
    let late = addToBoth()
    await stage.block()
    await stage.rounds(150, async () => {
      for (const each of late) stage.remove(each)
      stage.seller('T')
      late = addToBoth()
      await stage.block()
    })
    await stage.look('T')
  },
}
