/**
 * Liquidity that was honest: from now on its owner removes it at the beginning of every block and adds it again at
 * the end.
 */
import type { Attack } from '../attack.ts'

export const burnAndBack: Attack = {
  name: 'burned and back',
  about:
    'the owner of 50,000 removes everything and puts it back within each block, so nobody can sell in between',
  on: 'engine',
  against: 'seller',
  wanted: {},
  open: 'not covered: liquidity held until now takes its time to decay out of the average, 50,000 in 90 minutes',
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 20, family: 'v3', factory: 'a' })
    let held = stage.add('one', 50_000)
    await stage.block()
    await stage.ask('T')
    await stage.quiet(360)
    for (let n = 1; n <= 100; n++) {
      stage.remove(held)
      stage.seller('T')
      held = stage.add('one', 50_000)
      await stage.block()
      if (n % 10 === 0) await stage.look('T')
    }
  },
}
