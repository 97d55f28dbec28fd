/** Liquidity that is removed within every second block only, and stays through the others. */
import type { Attack } from '../attack.ts'
import { settleShallow } from './shallowPools.ts'

export const everySecondVisit: Attack = {
  name: 'out in every second block',
  about:
    '2 pools of 60, and 120,000 in each that is burned first and minted last in every second block, untouched in the others',
  on: 'engine',
  against: 'seller',
  wanted: {},
  open: 'not covered: liquidity that stays through every second block counts by half',
  async play(stage) {
    const addToBoth = await settleShallow(stage)
    let late = addToBoth()
    await stage.block()
    for (let n = 0; n < 75; n++) {
      for (const each of late) stage.remove(each)
      stage.seller('T')
      late = addToBoth()
      await stage.block()
      await stage.look('T')
      await stage.block()
    }
  },
}
