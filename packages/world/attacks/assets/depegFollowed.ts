/** A depeg that the feed reports, so no reader may be misled. */
import type { Attack } from '../attack.ts'

export const depegFollowed: Attack = {
  name: 'depeg with its feed',
  about: 'USDC falls to 0.97, then 0.90, and its feed says so; T is only in USDC',
  on: 'engine',
  wanted: {},
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 50_000 })
    await stage.pool('two', { of: 'T', depth: 50_000, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(3900)
    for (const usd of [0.97, 0.9]) {
      stage.worth('USDC', usd)
      for (const pool of ['one', 'two']) stage.push(pool, 1 / usd)
      await stage.block()
      await stage.feed('USDC', usd)
      await stage.look('T')
      await stage.quiet(360)
      await stage.look('T')
    }
  },
}
