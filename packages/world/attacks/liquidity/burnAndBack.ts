/** The other way round: all liquidity leaves at the beginning of a block and is back at its end, once. */
import type { Attack } from '../attack.ts'

export const burnAndBack: Attack = {
  name: 'burned and back',
  about: 'an owner takes everything out and puts it back within each block: nobody inside can sell',
  on: 'both',
  against: 'seller',
  wanted: { atMost: 3 },
  open: 'not covered: what was held until now leaves the average at its own pace, 50,000 in 90 minutes',
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 20, family: 'v3', factory: 'a' })
    const mine = stage.add('one', 50_000)
    await stage.block()
    await stage.ask('T')
    await stage.quiet(360)
    let held = mine
    await stage.rounds(100, async () => {
      stage.remove(held)
      stage.seller('T')
      held = stage.add('one', 50_000)
      await stage.block()
    })
    await stage.look('T')
  },
}
