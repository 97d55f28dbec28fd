/** A feed that stops updating while the market moves away from it. */
import type { Attack } from '../attack.ts'

export const staleFeed: Attack = {
  name: 'stale feed',
  about: 'the feed of USDC is not updated for three days, and USDC is worth 0.8 by then',
  on: 'engine',
  wanted: { atMost: 4 },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 50_000 })
    await stage.pool('two', { of: 'T', depth: 50_000, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(3 * 86_400, 1800)
    stage.worth('USDC', 0.8)
    for (const pool of ['one', 'two']) stage.push(pool, 1.25)
    await stage.block()
    await stage.quiet(360)
    await stage.look('T')
  },
}
