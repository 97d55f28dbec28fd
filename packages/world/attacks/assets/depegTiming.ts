/** The minutes between a depeg in the market and the feed that follows. */
import type { Attack } from '../attack.ts'

export const depegTiming: Attack = {
  name: 'depeg before its feed',
  about: 'USDC falls to 0.93 in two pools of 600,000; its feed follows ten minutes later; T is only in USDC',
  on: 'engine',
  wanted: {},
  async play(stage) {
    stage.token('T')
    await stage.pool('stables', { of: 'USDC', with: 'USDT', depth: 600_000 })
    await stage.pool('stables 2', { of: 'USDC', with: 'USDT', depth: 600_000, factory: 'b' })
    await stage.pool('one', { of: 'T', depth: 50_000 })
    await stage.pool('two', { of: 'T', depth: 50_000, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(3900)
    stage.worth('USDC', 0.93)
    for (const pool of ['stables', 'stables 2']) stage.push(pool, 0.93)
    for (const pool of ['one', 'two']) stage.push(pool, 1 / 0.93)
    await stage.block()
    // The medians need five minutes: the market itself may need one block.
    await stage.quiet(300)
    await stage.look('T')
    await stage.quiet(300)
    await stage.look('T')
    await stage.feed('USDC', 0.93)
    await stage.quiet(60)
    await stage.look('T')
  },
}
